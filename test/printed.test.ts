/**
 * What a terminal would obey or hide, in words that others brought in, on its way to a person's
 * terminal: no command that reads prints it raw there, and a file that is not one gets the bytes.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { spawn } from '@lydell/node-pty'
import { main as run } from '../src/cli/program.ts'
import type { Api } from '../src/client/api.ts'
import type { CliPorts, HomeReader } from '../src/cli/command/ports.ts'
import { ports } from '../src/main/commands/ports.ts'
import { earlierHome, homeApart, later } from '../src/testing/host/home-apart.ts'
import { plainQuestion } from '../src/domain/state/question.ts'
import { makeContext } from '../src/cli/command/context.ts'
import type { RunHost } from '../src/cli/command/run-ports.ts'
import { endLines } from '../src/cli/run/end.ts'
import { taskQueued, waitRegistered } from '../src/testing/events.ts'
import { World } from '../src/testing/world/agent-world.ts'
import { plain, printed as typed } from './support/typed-command.ts'

const main = join(import.meta.dirname, '..', 'src', 'main.ts')
const env = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', TERM: 'xterm' }
/** Clears the screen by C1, turns the line round, hides a word, rings, sets the title. */
const hostile = 'Deploy \u009b2J\u202e\u200bit\u0007\u001b]0;owned\u0007 now'
const obeyed = ['\u009b', '\u202e', '\u200b', '\u0007', '\u001b]']

/** What the command prints on a terminal. */
async function onTerminal(words: readonly string[], home: string): Promise<string> {
  const over = Promise.withResolvers<number>()
  const args = [main, ...words, '--home', home]
  const terminal = spawn(process.execPath, args, { env: { ...env, HOME: home }, cols: 100 })
  let text = ''
  terminal.onData((more) => (text += more))
  terminal.onExit(({ exitCode }) => over.resolve(exitCode))
  assert.equal(await over.promise, 0, text)
  return text
}

test('no command that reads prints what a terminal would obey or hide', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'holon-printed-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const inPipe = (...words: string[]) => {
    const options = { env: { ...env, HOME: home }, encoding: 'utf8' } as const
    const done = spawnSync(process.execPath, [main, ...words, '--home', home], options)
    assert.equal(done.status, 0, done.stderr)
    return done.stdout
  }
  inPipe('agents', 'create', 'main')
  const made = JSON.parse(inPipe('work', 'create', hostile, '--json')) as Record<string, unknown>
  const id = /work_[0-9a-f-]+/.exec(JSON.stringify(made))?.[0] ?? assert.fail()
  for (const words of [
    ['export', id],
    ['work', 'list'],
    ['work', 'show', id],
    ['why', id],
    ['events', '--after', '0'],
    ['agents'],
    ['search', 'Deploy'],
    ['work', 'list', '--json'],
  ]) {
    await t.test(words.join(' ').replace(id, 'an item'), async () => {
      const text = await onTerminal(words, home)
      assert.match(text, /Deploy|main/)
      const raw = obeyed.filter((some) => text.includes(some))
      assert.deepEqual(raw, [], JSON.stringify(text))
    })
  }
  // A file has the words as they are: what comes of it is the same item.
  const lines = inPipe('export', id).trimEnd().split('\n')
  assert.ok(
    lines.some((line) =>
      JSON.stringify(JSON.parse(line)).includes(JSON.stringify(hostile).slice(1, -1)),
    ),
  )
})

test('no command that changes something prints back what a terminal would obey or hide', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'holon-printed-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const printed = async (words: readonly string[]) => {
    let text = ''
    const write = (more: string) => void (text += more)
    const terminal = { stdin: false, stdout: true, stderr: true, columns: () => 100 }
    const own = { ...ports, out: write, err: write, terminal, default_home: home, user_home: home }
    await run([...words, '--home', home], own)
    return text
  }
  const idIn = (text: string, noun: string) =>
    new RegExp(`${noun}_[0-9a-f-]+`).exec(text)?.[0] ?? ''
  await printed(['agents', 'create', 'main'])
  const made = await printed(['work', 'create', 'one', '--check', `named=${hostile}`])
  const item = idIn(made, 'work')
  assert.notEqual(item, '', made)
  const sent = idIn(await printed(['send', 'a word']), 'msg')
  const commands: readonly (readonly string[])[] = [
    ['work', 'create', hostile],
    ['work', 'update', item, '--objective', hostile, '--todo', hostile],
    ['work', 'update', item, '--plan-status', 'needs_input', '--question', hostile],
    ['work', 'check', 'add', item, 'other', '--cmd', hostile],
    ['work', 'check', 'add', item, 'asked', '--ask', hostile],
    ['work', 'check', 'add', item, hostile, '--ask', hostile],
    ['work', 'check', 'list', item],
    ['work', 'check', 'answer', item, 'asked', 'pass', hostile],
    ['work', 'check', 'rm', item, hostile],
    ['work', 'unblock', item],
    ['work', 'pick', item, '--reason', hostile],
    ['answer', item, hostile],
    ['send', hostile, '--work-item', item],
    ['take-back', sent],
    ['trigger', 'create', hostile, '--source', hostile, '--resource', hostile],
    ['trigger', 'list'],
    ['schedule', 'add', hostile, '--label', hostile, '--in', '2h'],
    ['schedule', 'list'],
    ['inbox', 'snooze', item, '--for', hostile],
    ['config', 'set', 'model', hostile],
    ['config', 'set', hostile, 'one'],
    ['config', 'show'],
    ['agents', 'create', hostile],
    ['agents', 'configure', 'main', '--model', hostile, '--workspace', hostile],
    ['agents', 'show', 'main'],
    ['work', 'complete', item, '--report', hostile],
    ['work', 'show', item, '--trace'],
    ['search', hostile],
    ['why', hostile],
    ['run', hostile, '--agent', hostile, '--no-input'],
    ['import', hostile],
    [hostile],
  ]
  for (const words of commands) {
    const text = await printed(words)
    const raw = obeyed.filter((some) => text.includes(some))
    assert.deepEqual(raw, [], `${words.join(' ')}: ${JSON.stringify(text)}`)
    assert.notEqual(text, '')
  }
})

/** Marked as a terminal would obey it: sentences and paths; ids, times and kinds are none. */
function marked(value: unknown): unknown {
  if (typeof value === 'string') {
    if (value.startsWith('/')) return `${value}${hostile}`
    return / [a-z]/.test(value) ? `\u0007\u202e${value}${hostile}` : value
  }
  if (Array.isArray(value)) return value.map(marked)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, marked(one)]))
}

/** Of every item: its path and what it begins with are words of others as well. */
const plan = {
  ...{ path: `/plans/${hostile}`, sha256: 'ab'.repeat(32), bytes: 9 },
  ...{ preview: hostile, preview_complete: false },
}

/** A home as a stranger wrote it: whatever is read of it, or by its API, has the marks. */
const strange = <T extends HomeReader | Api>(reads: T): T =>
  new Proxy(reads, {
    get: (of, name) => {
      const read: unknown = Reflect.get(of, name)
      if (typeof read !== 'function') return read
      if (name === 'plan') return () => Promise.resolve(plan)
      return async (...given: unknown[]) => marked(await Reflect.apply(read, of, given))
    },
  })

const ofOne = {
  work_items: ['work show', 'work show --trace', 'work check list', 'why', 'why --history'],
  tasks: ['tasks show'],
  agents: ['agents show'],
  turns: ['context show', 'replay'],
  schedules: ['schedule slots'],
} as const
const ofAll = [
  ...['work list --all', 'inbox', 'tasks --all', 'waits', 'agents', 'worktree list --all'],
  ...['briefs', 'events --after 0 --limit 500', 'trigger list --all', 'webhook deliveries'],
  ...['schedule list --all', 'status', 'search work'],
]

for (const name of ['demo', 'run-18']) {
  test(`whatever the home ${name} holds, nothing of it is obeyed by a terminal`, async (t) => {
    t.mock.method(Date, 'now', () => later)
    const earlier = earlierHome(name)
    const home = await homeApart(t, earlier)
    const open_reader: CliPorts['open_reader'] = async (at) => {
      const reader = await ports.open_reader(at)
      return reader === null ? null : strange(reader)
    }
    const reading_api: CliPorts['daemon']['reading_api'] = async (at) => {
      const found = await ports.daemon.reading_api(at)
      return found === null ? null : { ...found, api: strange(found.api) }
    }
    const others = { open_reader, daemon: { ...ports.daemon, reading_api } }
    const commands = Object.entries(ofOne).flatMap(([table, words]) =>
      (earlier.tables[table as keyof typeof ofOne] ?? [])
        .slice(0, 13)
        .flatMap(({ id }) => words.map((command) => [...command.split(' '), String(id)])),
    )
    commands.push(...ofAll.map((command) => command.split(' ')))
    let marks = 0
    const wrong: string[] = []
    for (const words of commands) {
      const text = await typed(home, words, plain, others)
      if (text.includes('\\x07')) marks += 1
      for (const line of text.split('\n')) {
        if (/[^\P{Cc}]|[\u202e\u200b]/u.test(line)) wrong.push(`${words.join(' ')}: ${line}`)
      }
    }
    assert.deepEqual(wrong, [])
    assert.ok(marks > commands.length / 3, `${marks} of ${commands.length} show a mark`)
  })
}

test('what a replay found different is not obeyed by a terminal', async (t) => {
  const earlier = earlierHome('demo')
  const home = await homeApart(t, earlier)
  const found = { seq: 7, what: hostile, stored: hostile, again: hostile }
  const replay = () =>
    Promise.resolve({ ok: true, decisions: 1, requests: 1, divergence: found } as const)
  const open_reader: CliPorts['open_reader'] = async (at) => {
    const reader = await ports.open_reader(at)
    if (reader === null) return null
    return new Proxy(reader, {
      get: (of, name) => (name === 'replay' ? replay : (Reflect.get(of, name) as unknown)),
    })
  }
  const id = String(earlier.tables['turns']?.[0]?.['id'])
  const text = await typed(home, ['replay', id], plain, { open_reader })
  assert.deepEqual(text.match(/Deploy \S+/g)?.length, 3, text)
  assert.doesNotMatch(text, /(?!\n)\p{Cc}|[\u202e\u200b]/u)
})

test('the last lines of a run have nothing that a terminal would obey or hide', () => {
  const w = new World()
  const choices = [
    { key: '1', label: hostile },
    { key: hostile, label: hostile },
  ]
  const asked = waitRegistered({ wake: 'operator_input', reason: hostile })
  const held = { wake: 'system', by: 'runtime', runtime_cause: 'provider_setup' } as const
  w.do((d) => {
    d.emit({ ...asked, question: { ...plainQuestion(hostile), choices } })
    d.emit(waitRegistered({ ...held, reason: hostile }))
    d.emit(taskQueued({ label: hostile }))
  })
  const terminal = { stdin: true, stdout: true, stderr: true, columns: () => 100 }
  const run = {
    context: makeContext({ ...ports, terminal }, { utc: true }),
    host: { facts: () => w.facts } as unknown as RunHost,
    outlives: false,
    agents: w.all('agents'),
    mine: new Map(),
    failed_commands: [{ cmd: hostile, exit_status: 1 }],
  }
  const counts = { turns: 1, calls: 0, usage: null }
  const lines = endLines(run, { exit: 3, because: 'it waits', fault: null, counts, ms: 1 })
  const marks = lines.filter((line) => line.includes('Deploy'))
  assert.equal(marks.length, 6, lines.join('\n'))
  for (const line of lines) assert.doesNotMatch(line, /\p{Cc}|[\u202e\u200b]/u)
})
