/**
 * The screen on a real terminal: `holon tui` in tmux, beside a real daemon on a scratch home. An
 * operator answers, writes, opens an item, follows a task, stops it, leaves and comes back.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { without } from '../src/testing/programs.ts'
import { ServedHome } from './support/served-home.ts'

const main = join(dirname(import.meta.dirname), 'src', 'main.ts')
const skip = without('tmux')

const asking = '# Release 2.4.0\n\n## Fine\n\nask: Approve the changelog?\n'
const slow =
  '# Port the fixtures\n\n## Run\n\n```sh\nfor i in $(seq 300); do echo ok $i; sleep 1; done\n```\n'

/** A turn that is open for long: each of its steps is short. */
const step = (n: number): string => `\n## Step ${n}\n\n\`\`\`sh\nsleep 2\n\`\`\`\n`
const numbers = Array.from({ length: 40 }, (_, n) => n + 1)
const steps = `# Port the fixtures\n${numbers.map(step).join('')}`

/** A terminal of its own server, which is ended with the test. */
class Terminal {
  static count = 0
  readonly #socket: string
  constructor(
    t: TestContext,
    at: Pick<ServedHome, 'folder' | 'env'>,
    columns: number,
    rows: number,
    words = 'tui',
  ) {
    // Named, not a file of the home: the home goes first.
    this.#socket = `holon-test-${process.pid}-${Terminal.count++}`
    const env = Object.entries(at.env).map(([name, value]) => `${name}='${value}'`)
    const command = `env ${env.join(' ')} '${process.execPath}' '${main}' ${words}; exec cat`
    t.after(() => void spawnSync('tmux', ['-L', this.#socket, 'kill-server']))
    this.#tmux('new-session', '-d', '-s', 'h', '-x', String(columns), '-y', String(rows), command)
  }
  #tmux(...args: string[]): string {
    return execFileSync('tmux', ['-L', this.#socket, ...args], { encoding: 'utf8' })
  }
  type(...keys: string[]): void {
    for (const key of keys) this.#tmux('send-keys', '-t', 'h', key)
  }
  text(): string {
    return this.#tmux('capture-pane', '-p', '-t', 'h')
  }
  /** The first screen that has it. tmux tells no events, so it is looked at again and again. */
  async shows(pattern: RegExp): Promise<string> {
    for (let tries = 0; tries < 600; tries += 1) {
      const text = this.text()
      if (pattern.test(text)) return text
      spawnSync('tmux', ['-L', this.#socket, 'wait-for', '-S', 'turn'])
      await new Promise((next) => setImmediate(next))
      execFileSync('sleep', ['0.1'])
    }
    assert.fail(`it never showed ${pattern}:\n${this.text()}`)
  }
}

test('a journey through the screen', { skip, timeout: 300_000 }, async (t) => {
  const at = new ServedHome(t)
  await at.serve()
  assert.equal((await at.holon('run', '--agent', 'release', at.write('ask.md', asking))).exit, 3)
  await at.holon('agents', 'create', 'build', '--model', 'runbook')
  at.write('slow.md', slow)
  const run = at.start(['run', '--agent', 'build', 'slow.md'])

  const screen = new Terminal(t, at, 80, 24)
  await screen.shows(/1 needs you, 1 working/)
  screen.type('a')
  await screen.shows(/nothing is chosen yet/)
  await screen.shows(/2 {2}no/)
  execFileSync('sleep', ['0.5'])
  screen.type('1')
  await screen.shows(/› 1 {2}yes/)
  screen.type('Enter')
  await screen.shows(/NEEDS YOU 0/)
  await screen.shows(/✓ release {2}Release 2\.4\.0/)

  screen.type('Enter')
  await screen.shows(/\[thread\]/)
  screen.type('c')
  await screen.shows(/to build: Port the fixtures ─/)
  // What comes at once is a paste, and a paste never sends.
  screen.type('are you there')
  await screen.shows(/> are you there/)
  screen.type('Enter')
  await screen.shows(/you {5}are you there/)
  screen.type('Escape')
  await screen.shows(/c to write to/)
  screen.type('4')
  await screen.shows(/build .*task_[0-9a-f]+/)
  screen.type('Enter')
  await screen.shows(/ok 3\b/)
  screen.type('x')
  await screen.shows(/STOP task_/)
  execFileSync('sleep', ['0.5'])
  screen.type('1', 'Enter')
  await screen.shows(/cancelled|being stopped|exit/)
  screen.type('q')
  await screen.shows(/agents go on; holon tui comes back/)
  run.child.kill('SIGKILL')

  const again = new Terminal(t, at, 200, 50)
  await again.shows(/holon {2}.*live \d\d:\d\d/)
})

test(
  'holon alone follows the run that owns the home, and a daemon goes on when it has ended',
  { skip, timeout: 300_000 },
  async (t) => {
    const at = new ServedHome(t)
    mkdirSync(at.home, { mode: 0o700 })
    writeFileSync(join(at.home, 'config.json'), '{"http":{"port":0}}', { mode: 0o600 })
    at.write('slow.md', slow.replace('300', '20'))
    const run = at.start(['run', 'slow.md'])
    // Its door opens once it works.
    while (at.file('door.json') === null) execFileSync('sleep', ['0.1'])
    const screen = new Terminal(t, at, 80, 24, '')
    await screen.shows(/WORKING 1 ─[\s\S]*runbooks +Port the fixtures/)
    assert.equal(at.file('daemon.pid'), null)
    run.child.kill('SIGINT')
    await run.ended
    await screen.shows(/the run has ended; a daemon serves this home now/)
    assert.notEqual(at.file('daemon.pid'), null)
    screen.type('q')
    await screen.shows(/agents go on; holon tui comes back/)
    assert.equal((await at.holon('stop')).exit, 0)
  },
)

/** An agent in a long turn, and a screen that shows it. */
async function atWork(t: TestContext) {
  const at = new ServedHome(t)
  await at.serve()
  await at.holon('agents', 'create', 'build', '--model', 'runbook')
  at.write('steps.md', steps)
  const run = at.start(['run', '--agent', 'build', 'steps.md'])
  const screen = new Terminal(t, at, 200, 50)
  await screen.shows(/1 working/)
  await screen.shows(/› . build +Port the fixtures/)
  const leave = async () => {
    run.child.kill('SIGKILL')
    screen.type('q')
    await screen.shows(/agents go on; holon tui comes back/)
  }
  return { screen, leave }
}

test(
  'words go into the turn that runs, and say where they are',
  { skip, timeout: 300_000 },
  async (t) => {
    const { screen, leave } = await atWork(t)
    screen.type('Enter')
    await screen.shows(/\[thread\]/)
    screen.type('c')
    await screen.shows(/to build: Port the fixtures ─+ enter: into turn 1, at its next safe point/)
    screen.type('leave the last one')
    await screen.shows(/> leave the last one/)
    screen.type('Enter')
    await screen.shows(/you {5}leave the last one .*in turn 1, seen in request/)
    screen.type('Escape')
    await screen.shows(/c to write to/)
    await leave()
  },
)

test('the turn that runs is stopped by what x asks for', { skip, timeout: 300_000 }, async (t) => {
  const { screen, leave } = await atWork(t)
  screen.type('Enter')
  await screen.shows(/\[thread\][\s\S]*turn 1 .*running/)
  screen.type('x')
  await screen.shows(/STOP turn 1 [\s\S]*Its commands run on\./)
  // What is typed as the dialog opens is not meant for it.
  execFileSync('sleep', ['0.6'])
  screen.type('1')
  await screen.shows(/› +1 /)
  screen.type('Enter')
  await screen.shows(/turn 1 of build is stopped/)
  await screen.shows(/turn 1 .*was stopped/)
  await leave()
})
