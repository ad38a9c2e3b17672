import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { contextLimits } from '../../context/limits.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import { systemFiles } from '../../exec/files/files.ts'
import { readInstructions, type InstructionFiles } from './instructions.ts'
import { readSkills } from './skills.ts'

const files = systemFiles()

/**
 * A home with an agent, a repository with a folder `a/b` that it works in, and writers into both.
 */
function ground(t: TestContext) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'holon-told-')))
  t.after(() => rmSync(top, { recursive: true, force: true }))
  const at = (...parts: string[]) => join(top, ...parts)
  const put = (path: string, text: string | Uint8Array) => {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), text)
  }
  mkdirSync(at('user/.ssh'), { recursive: true })
  mkdirSync(at('repo/a/b'), { recursive: true })
  mkdirSync(at('repo/.git'))
  writeFileSync(at('repo/.git/HEAD'), 'ref: refs/heads/main\n')
  mkdirSync(at('home/agents/main'), { recursive: true })
  put('user/.ssh/id', 'key')
  put('outside.md', 'A secret.')
  const place = {
    home: at('home'),
    user_home: at('user'),
    agent_id: 'main',
    workspace: at('repo/a/b'),
  }
  const link = (to: string, path: string) => {
    mkdirSync(dirname(at(path)), { recursive: true })
    symlinkSync(to, at(path))
  }
  return { at, put, link, place, short: (text: string) => text.replaceAll(`${top}/`, '') }
}

type Ground = ReturnType<typeof ground>

async function told(g: Ground, more: { workspace?: string; files?: InstructionFiles } = {}) {
  const { files: port = files, ...place } = more
  const found = await readInstructions(port, { ...g.place, ...place })
  return found.map((one) => {
    const what =
      one.state === 'loaded' ? one.text.trim() : one.state === 'same' ? one.as : one.notice
    return [g.short(one.path), one.state, g.short(what)]
  })
}

test('instructions: own home first, then from the top of the repository down', async (t) => {
  const g = ground(t)
  g.put('AGENTS.md', 'Above the repository.')
  g.put('home/agents/main/AGENTS.md', 'Own.')
  g.put('repo/AGENTS.md', 'Top.')
  g.put('repo/a/CLAUDE.md', 'Middle.')
  g.put('repo/a/b/AGENTS.md', '\uFEFFNearest.')
  g.put('repo/a/b/CLAUDE.md', 'Not looked at.')
  assert.deepEqual(await told(g), [
    ['home/agents/main/AGENTS.md', 'loaded', 'Own.'],
    ['repo/AGENTS.md', 'loaded', 'Top.'],
    ['repo/a/CLAUDE.md', 'loaded', 'Middle.'],
    ['repo/a/b/AGENTS.md', 'loaded', 'Nearest.'],
  ])
})

test('outside of a repository only the workspace itself is looked into', async (t) => {
  const g = ground(t)
  rmSync(g.at('repo/.git'), { recursive: true })
  g.put('repo/AGENTS.md', 'Top.')
  g.put('repo/a/b/AGENTS.md', 'Nearest.')
  assert.deepEqual(await told(g), [['repo/a/b/AGENTS.md', 'loaded', 'Nearest.']])
})

test('an empty folder named .git on the way is no top of a repository', async (t) => {
  const g = ground(t)
  mkdirSync(g.at('repo/a/b/.git'))
  g.put('repo/AGENTS.md', 'Top.')
  assert.deepEqual(await told(g), [['repo/AGENTS.md', 'loaded', 'Top.']])
})

test('inside of the home nothing above is looked into, though it were a repository', async (t) => {
  const g = ground(t)
  g.put('.git/HEAD', 'ref: refs/heads/main\n')
  g.put('AGENTS.md', 'Above the home.')
  g.put('home/agents/main/AGENTS.md', 'Own.')
  assert.deepEqual(await told(g, { workspace: g.at('home/agents/main') }), [
    ['home/agents/main/AGENTS.md', 'loaded', 'Own.'],
  ])
})

test('a child that works in the folder of its parent has the instructions of there', async (t) => {
  const g = ground(t)
  g.put('home/agents/main/AGENTS.md', 'Of the parent.')
  g.put('home/agents/main.1/AGENTS.md', 'Of the child.')
  const place = { agent_id: 'main.1', workspace: g.at('home/agents/main') }
  assert.deepEqual(await told(g, place), [
    ['home/agents/main.1/AGENTS.md', 'loaded', 'Of the child.'],
    ['home/agents/main/AGENTS.md', 'loaded', 'Of the parent.'],
  ])
})

test('a file that is the same, by link or by text, is shown where it is nearest', async (t) => {
  const g = ground(t)
  g.put('repo/docs/how.md', 'Test it.')
  g.link('docs/how.md', 'repo/AGENTS.md')
  g.link('AGENTS.md', 'repo/CLAUDE.md')
  g.link('../CLAUDE.md', 'repo/a/CLAUDE.md')
  g.put('home/agents/main/AGENTS.md', 'Test it.')
  assert.deepEqual(await told(g), [
    ['home/agents/main/AGENTS.md', 'same', 'repo/a/CLAUDE.md'],
    ['repo/AGENTS.md', 'same', 'repo/a/CLAUDE.md'],
    ['repo/a/CLAUDE.md', 'loaded', 'Test it.'],
  ])
})

const max = contextLimits.instruction_file.value

/** What lies under the name, how it is put there, what is said. */
const bad: [string, (g: Ground, path: string) => unknown, string][] = [
  ['a folder', (g, path) => mkdirSync(g.at(path)), 'it is a folder'],
  ['a pipe', (g, path) => spawnSync('mkfifo', [g.at(path)]), 'it is not a regular file'],
  [
    'a link to a device',
    (g, path) => g.link('/dev/zero', path),
    'it leads to /dev/zero, and there: /dev is not a place for files',
  ],
  ['a link to nothing', (g, path) => g.link('nowhere', path), 'it is a link that leads to nothing'],
  [
    'a link to itself',
    (g, path) => g.link('AGENTS.md', path),
    'it is a symbolic link, or links run in a circle',
  ],
  [
    'a link out of the repository',
    (g, path) => g.link(g.at('outside.md'), path),
    'it leads to outside.md, and there: it is outside the folders this agent works in',
  ],
  [
    'a link to a store of credentials',
    (g, path) => g.link(g.at('user/.ssh/id'), path),
    'it leads to user/.ssh/id, and there: it is in a folder kept from file tools',
  ],
  [
    'an enormous file',
    (g, path) => {
      g.put(path, '')
      truncateSync(g.at(path), 5_000_000_000)
    },
    `5000000000 bytes, and at most ${max} are read`,
  ],
  ['a binary file', (g, path) => g.put(path, Uint8Array.of(65, 0, 66)), 'it is not UTF-8 text'],
  ['another encoding', (g, path) => g.put(path, Uint8Array.of(0xe4, 66)), 'it is not UTF-8 text'],
]

test('whatever lies there instead of instructions is one notice, never a fault', async (t) => {
  for (const [what, lay, notice] of bad) {
    const g = ground(t)
    lay(g, 'repo/a/b/AGENTS.md')
    const expected = [['repo/a/b/AGENTS.md', 'unusable', notice]]
    assert.deepEqual(await told(g), expected, what)
    g.link('AGENTS.md', 'repo/a/b/CLAUDE.md')
    assert.deepEqual(await told(g), expected, `${what}, and a link to it`)
  }
})

test('CLAUDE.md stands in for an AGENTS.md that cannot be used, which is told of', async (t) => {
  const g = ground(t)
  mkdirSync(g.at('repo/a/b/AGENTS.md'))
  g.put('repo/a/b/CLAUDE.md', 'Test it.')
  assert.deepEqual(await told(g), [
    ['repo/a/b/CLAUDE.md', 'loaded', 'Test it.'],
    ['repo/a/b/AGENTS.md', 'unusable', 'it is a folder'],
  ])
})

test('what the system keeps from the runtime is said, and nothing fails', async (t) => {
  const g = ground(t)
  g.put('repo/a/b/AGENTS.md', 'Test it.')
  const deny = (path: string) =>
    Promise.reject(new FileFault('denied', path, `${path}: the system denies access`))
  const open_within: InstructionFiles['open_within'] = (_, path) => deny(path)
  const exists = (path: string) => deny(path)
  const expected = [['repo/a/b/AGENTS.md', 'unusable', 'the system denies access']]
  assert.deepEqual(await told(g, { files: { ...files, open_within } }), expected)
  const found = await told(g, { files: { ...files, exists } })
  assert.deepEqual(found.at(-1), expected[0])
  assert.ok(found.every(([, state]) => state === 'unusable'))
})

test('files that a file names are not put in, in a circle or not, and that is said', async (t) => {
  const g = ground(t)
  g.put('repo/a/b/CLAUDE.md', 'Read:\n@./more.md\n@CLAUDE.md\n@Override\nMail a@b.c to me.\n')
  g.put('repo/a/b/more.md', '@CLAUDE.md\n')
  const [one] = await readInstructions(files, g.place)
  assert.ok(one?.state === 'loaded')
  assert.deepEqual(
    [one.notice, one.text.includes('@Override')],
    ['2 lines are a path behind "@": such files are not put in, read them where they matter', true],
  )
})

const skillText = (name: string, description = 'How.') =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\nDo it.\n`

async function offered(g: Ground, place: Partial<Ground['place']> = {}) {
  const found = await readSkills(files, { ...g.place, ...place })
  return found.skills.map((one) => {
    const path = g.short(one.path).replace('/SKILL.md', '')
    return one.state === 'unusable' ? [path, g.short(one.notice)] : [path, one.state, one.name]
  })
}

test('skills: the own ones go before those of the workspace, by name', async (t) => {
  const g = ground(t)
  g.put('repo/.agents/skills/above/SKILL.md', skillText('above'))
  g.put('repo/a/b/.agents/skills/release/SKILL.md', skillText('release'))
  g.put('repo/a/b/.agents/skills/README.md', 'No skill.')
  g.put('repo/a/b/.agents/skills/empty/README.md', 'No skill either.')
  g.put('repo/a/b/.claude/skills/pdf/SKILL.md', skillText('pdf'))
  g.put('home/agents/main/skills/mine/SKILL.md', skillText('release'))
  assert.deepEqual(await offered(g), [
    ['home/agents/main/skills/mine', 'offered', 'release'],
    ['repo/a/b/.agents/skills/release', 'hidden', 'release'],
    ['repo/a/b/.claude/skills/pdf', 'offered', 'pdf'],
  ])
})

test('one place of skills that is a link to another is no second place', async (t) => {
  const g = ground(t)
  g.put('repo/a/b/.agents/skills/pdf/SKILL.md', skillText('pdf'))
  g.put('repo/a/b/.agents/skills/bad/SKILL.md', 'Nothing.')
  g.link('../.agents/skills', 'repo/a/b/.claude/skills')
  const found = await offered(g)
  assert.deepEqual(
    found.map(([path, state]) => [path, state]),
    [
      [
        'repo/a/b/.agents/skills/bad',
        'it does not begin with a line "---" and the keys of a skill below it',
      ],
      ['repo/a/b/.agents/skills/pdf', 'offered'],
      ['repo/a/b/.claude/skills/pdf', 'hidden'],
    ],
  )
})

test('a skill is offered only where ReadFile would open it', async (t) => {
  const g = ground(t)
  g.link(g.at('outside.md'), 'repo/a/b/.agents/skills/out/SKILL.md')
  g.put('repo/shared/SKILL.md', skillText('shared'))
  g.link('../../../../shared', 'repo/a/b/.agents/skills/shared')
  g.put('repo/a/b/own/SKILL.md', skillText('own'))
  g.link('../../own', 'repo/a/b/.agents/skills/own')
  const out = 'and there: it is outside the folders this agent works in'
  assert.deepEqual(await offered(g), [
    ['repo/a/b/.agents/skills/out', `it leads to outside.md, ${out}`],
    ['repo/a/b/.agents/skills/own', 'offered', 'own'],
    ['repo/a/b/.agents/skills/shared', `it leads to repo/shared/SKILL.md, ${out}`],
  ])
  g.put('home/agents/main/skills/mine/SKILL.md', skillText('mine'))
  g.put('home/agents/main/.agents/skills/both/SKILL.md', skillText('both'))
  const child = { agent_id: 'main.1', workspace: g.at('home/agents/main') }
  assert.deepEqual(await offered(g, child), [
    ['home/agents/main/.agents/skills/both', 'offered', 'both'],
  ])
})

test('whatever lies there instead of a SKILL.md is one notice, never a fault', async (t) => {
  for (const [what, lay, notice] of bad) {
    const g = ground(t)
    mkdirSync(g.at('repo/a/b/.agents/skills/x'), { recursive: true })
    const name = 'repo/a/b/.agents/skills/x/SKILL.md'
    if (what === 'a link to itself') g.link('SKILL.md', name)
    else lay(g, name)
    const [found, ...more] = await offered(g)
    assert.deepEqual([found?.[1], more], [notice, []], what)
  }
})

test('places of skills that are no folders, or have too many', async (t) => {
  const g = ground(t)
  g.put('repo/a/b/.agents/skills', 'A file.')
  const most = contextLimits.skill_folders.value
  for (let n = 0; n < most + 5; n++) {
    g.put(`repo/a/b/.claude/skills/${n}/SKILL.md`, skillText(`s${n}`))
  }
  const { skills, not_looked_at } = await readSkills(files, g.place)
  assert.deepEqual([skills.length, not_looked_at], [most, 5])
})

const isRoot = process.getuid?.() === 0
test('a folder of skills that may not be listed', { skip: isRoot && 'root may' }, async (t) => {
  const g = ground(t)
  mkdirSync(g.at('repo/a/b/.agents/skills'), { recursive: true })
  chmodSync(g.at('repo/a/b/.agents/skills'), 0o000)
  assert.deepEqual(await offered(g), [['repo/a/b/.agents/skills', 'the system denies access']])
})
