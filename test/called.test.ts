/**
 * Hints name the command as it was called, as a class: whatever the help and the commands that read
 * say of homes that hold the nouns in their states, no hint names another than the one that was
 * called. What is JSON, and what a command, a file or a request holds, names nothing.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { CliPorts } from '../src/cli/command/ports.ts'
import { build, main } from '../src/cli/program.ts'
import { ports as real } from '../src/main/commands/ports.ts'
import { commandWords } from '../src/present/text/called.ts'
import { earlierHome, homeApart, later } from '../src/testing/host/home-apart.ts'
import { plain, printed } from './support/typed-command.ts'

const patience = { timeout: 300_000 }
const called = 'npx holon'
/** A command of ours by its usual name. Behind an article or a word it is prose. */
const other = new RegExp(
  `(?<!npx )(?<!\\b(?:an?|the|that) )\\bholon (?=(?:${commandWords.join('|')})(?![\\w-]))`,
)
const hintsOfOthers = (text: string): string[] =>
  text.split('\n').filter((line, n) => !(n === 0 && line.startsWith('$ ')) && other.test(line))

/** None begins a daemon: in a test, the program that would be started again is the test. */
const reads: readonly string[] = [
  ...['work list', 'work list --all', 'inbox', 'tasks', 'tasks --all', 'waits', 'agents'],
  ...['worktree list --all', 'briefs', 'trigger list --all', 'webhook list', 'webhook deliveries'],
  ...['schedule list --all', 'status', 'work show nothing', 'tasks output task_ffff', 'why'],
  ...['work lsit', 'webhook test any', 'schedule slots', 'doctor', 'config set'],
]

const commandsOf = (command: ReturnType<typeof build>, path = ''): string[] => [
  path,
  ...command.commands.flatMap((one) => commandsOf(one, `${path} ${one.name()}`)),
]
const program = build(real, () => async () => undefined)

test('the words of hints are the commands of the program', () => {
  const names = program.commands.map((one) => one.name())
  assert.deepEqual([...commandWords].toSorted(), [...new Set(['help', ...names])].toSorted())
})

test('no help names another command than the one that was called', patience, async () => {
  for (const path of commandsOf(program)) {
    let text = ''
    const ports: CliPorts = { ...real, called, out: (more) => void (text += more) }
    assert.equal(await main([...path.split(' ').filter(Boolean), '--help'], ports), 0)
    assert.match(text, /npx holon/, path)
    assert.deepEqual(hintsOfOthers(text), [], path)
  }
})

const still = (t: TestContext) => t.mock.timers.enable({ apis: ['Date'], now: later })

test('no command that reads hints at another than the one that was called', patience, async (t) => {
  still(t)
  let hints = 0
  for (const name of ['demo', 'run-18']) {
    const home = await homeApart(t, earlierHome(name))
    const others = { called }
    const items = JSON.parse(await bodyOf(home, 'work list --all --json')) as {
      work_items: { id: string }[]
    }
    const each = items.work_items.flatMap(({ id }) => [`work show ${id}`, `why ${id}`])
    for (const words of [...reads, ...each]) {
      const text = await printed(home, words.split(' '), plain, others)
      hints += text.split('npx holon ').length - 1
      assert.deepEqual(hintsOfOthers(text), [], `${name}: ${words}`)
    }
  }
  assert.ok(hints > 40, `there are ${hints} hints`)
})

test(
  'JSON and what a request held are the same however the command was called',
  patience,
  async (t) => {
    still(t)
    const home = await homeApart(t, earlierHome('demo'))
    for (const words of ['work list --json', 'webhook test any --json', 'context show']) {
      const usual = await printed(home, words.split(' '))
      const byNpx = await printed(home, words.split(' '), plain, { called })
      assert.equal(byNpx, usual)
    }
  },
)

test('no source but the one that names it says npx', () => {
  const root = join(import.meta.dirname, '..')
  const found = globSync('src/**/*.{ts,md}', { cwd: root, exclude: ['**/*.test.ts'] }).filter(
    (path) => readFileSync(join(root, path), 'utf8').includes('npx holon'),
  )
  assert.deepEqual(found.toSorted(), ['src/cli/command/ports.ts', 'src/main/machine/called.ts'])
})

async function bodyOf(home: string, words: string): Promise<string> {
  const text = await printed(home, words.split(' '), plain)
  return text.slice(text.indexOf('\n') + 1)
}

test('a program that is not Holon is not started again as a daemon', async (t) => {
  const home = await homeApart(t, earlierHome('demo'))
  await assert.rejects(real.daemon.launch(home, ['serve']), /called\.test\.ts is not Holon/)
})
