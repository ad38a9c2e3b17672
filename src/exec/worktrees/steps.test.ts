// Each step of a worktree is told ahead of what it does: whoever dies there leaves what the steps
// before have done, and nothing of this one. And a step that has to be refused is not told at all.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type Bench, worktreeBench } from '../../testing/host/repository.ts'

const bench = (t: TestContext): Bench => {
  const made = worktreeBench()
  t.after(made.end)
  return made
}

/** Moments are in the names of what was removed. */
const named = (path: string): string => path.replace(/([.-])\d{10,}/, '$1<at>')

const namesIn = (folder: string): string[] =>
  statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(folder) : []

/** The worktrees there are, and git's private folders of them, with what marks them. */
function thereIs(b: Bench): Set<string> {
  const folders = [
    dirname(b.path),
    join(b.repository, 'worktrees'),
    `${b.repository}/holon-removed`,
  ]
  const all = folders.flatMap((folder) =>
    namesIn(folder).flatMap((one) => {
      const path = join(folder, one)
      const inside = namesIn(path).flatMap((name) => {
        if (name === '.git' || name === 'holon') return [`${one}/${name}`]
        if (name !== 'locked') return []
        return [`${one}/locked: ${readFileSync(join(path, name), 'utf8').trim()}`]
      })
      const where = folder === dirname(b.path) ? '' : `${basename(folder)}/`
      return [one, ...inside].map((name) => named(`${where}${name}`))
    }),
  )
  return new Set(all)
}

/** The steps of its own, not those of git, with what came and went behind each. */
async function stepsOf(b: Bench, act: () => Promise<unknown>): Promise<string[][]> {
  const told: string[][] = []
  let before = thereIs(b)
  const look = () => {
    const now = thereIs(b)
    const went = [...before.difference(now)].map((one) => `- ${one}`)
    const came = [...now.difference(before)].map((one) => `+ ${one}`)
    told.at(-1)?.push(...went.toSorted(), ...came.toSorted())
    before = now
  }
  b.watch.step = (step) => {
    look()
    if (!step.startsWith('git ') && step !== 'scratch folder') told.push([step])
  }
  try {
    await act()
  } finally {
    look()
    b.watch.step = () => undefined
  }
  return told
}

const making = [
  ['making', '+ task_1.making'],
  ['private folder', '+ worktrees/task_1', '+ worktrees/task_1/locked: initializing'],
  ['folder', '+ task_1', '+ task_1/.git'],
]
const ending = [
  ['mark', '- worktrees/task_1/locked: initializing', '+ worktrees/task_1/holon'],
  ['end of making', '- task_1.making'],
]
const parting = [
  ['lock', '+ worktrees/task_1/locked: holon removes it'],
  ['move worktrees', '- task_1', '- task_1/.git', '+ task_1.removing', '+ task_1.removing/.git'],
]

test('each step of making, removing and restoring a worktree is told ahead of what it does', async (t) => {
  const b = bench(t)
  assert.deepEqual(await stepsOf(b, () => b.trees.add(b.add)), [...making, ...ending])
  b.put(join(b.path, 'new'), 'new\n')
  const { ref } = await b.trees.snapshot({ repository: b.repository, path: b.path, key: 'task_1' })
  assert.deepEqual(await stepsOf(b, () => b.trees.remove(b.remove)), [])
  const discard = { ...b.remove, discard: { snapshot: ref } }

  const leases = () => (existsSync(`${b.path}.removing`) ? ['task_9'] : [])
  assert.deepEqual(await stepsOf(b, () => b.trees.remove({ ...discard, leases })), [
    ...parting,
    ['move worktrees', '- task_1.removing', '- task_1.removing/.git', '+ task_1', '+ task_1/.git'],
    ['unlock', '- worktrees/task_1/locked: holon removes it'],
  ])

  const inside = ['', '/holon', '/locked: holon removes it']
  const away = inside.map((one) => `holon-removed/task_1-<at>${one}`)
  assert.deepEqual(await stepsOf(b, () => b.trees.remove(discard)), [
    ...parting,
    [
      'move holon-removed',
      ...inside.map((one) => `- worktrees/task_1${one}`),
      ...away.map((one) => `+ ${one}`),
    ],
    [
      'move worktrees',
      '- task_1.removing',
      '- task_1.removing/.git',
      '+ task_1.removed-<at>',
      '+ task_1.removed-<at>/.git',
    ],
    ['delete files', '- task_1.removed-<at>/.git'],
    ['delete folder', '- task_1.removed-<at>'],
    ['delete private folder', ...away.map((one) => `- ${one}`)],
  ])

  const again = { repository: b.root, ref, path: b.path }
  assert.deepEqual(await stepsOf(b, () => b.trees.restore(again)), [
    ...making,
    ['write worktree/'],
    ['write admin/'],
    ['write index'],
    ['HEAD'],
    ...ending,
  ])
})

/** A program that works in a folder, until it is told to end. */
async function worksIn(t: TestContext, cwd: string) {
  const child = spawn('sh', ['-c', 'read line'], { cwd, stdio: ['pipe', 'ignore', 'ignore'] })
  t.after(() => child.kill())
  await once(child, 'spawn')
  return async () => {
    child.stdin.end()
    await once(child, 'exit')
  }
}

test('where somebody still makes a worktree no step of it is begun', async (t) => {
  const b = bench(t)
  const busy = { code: 'worktree_busy', retry: 'later' }
  const refused = () => assert.rejects(b.trees.add(b.add), busy)
  mkdirSync(b.path, { recursive: true })
  const end = await worksIn(t, b.path)
  assert.deepEqual(await stepsOf(b, refused), [])
  await end()

  // Its branch and where that began are there already.
  await b.interrupt(4, (trees) => trees.add(b.add))
  const endAgain = await worksIn(t, b.path)
  assert.deepEqual(await stepsOf(b, refused), [])
  await endAgain()
  assert.deepEqual(await stepsOf(b, () => b.trees.add(b.add)), [
    ['clear half-made files', '- task_1', '- task_1/.git'],
    ['clear half-made worktree', '- worktrees/task_1', '- worktrees/task_1/locked: initializing'],
    ['making'],
    ...making.slice(1),
    ...ending,
  ])
})

test('a private folder names its worktree before all else, and is locked before it is whole', async (t) => {
  const b = bench(t)
  const written: string[] = []
  const { writeFile } = fs.promises
  t.after(() => {
    fs.promises.writeFile = writeFile
    syncBuiltinESMExports()
  })
  fs.promises.writeFile = (...args) => {
    const file = String(args[0])
    if (dirname(file) === join(b.repository, 'worktrees/task_1')) written.push(basename(file))
    return writeFile(...args)
  }
  syncBuiltinESMExports()
  await b.trees.add(b.add)
  assert.deepEqual(written, ['gitdir', 'locked', 'commondir', 'HEAD', 'holon.new'])
})
