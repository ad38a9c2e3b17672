/**
 * What each command that reads prints, over homes that hold the nouns in their states: the text for
 * a terminal under snapshot, and of the JSON a digest for each command, so that nothing of either
 * changes unseen. `HOLON_PRINTS=<folder>` writes all of it there, to be compared.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { CliPorts, HomeReader } from '../src/cli/command/ports.ts'
import { build, main } from '../src/cli/program.ts'
import type { Table } from '../src/domain/state/event.ts'
import { ports as real } from '../src/main/commands/ports.ts'
import { earlierHome, homeApart, later } from '../src/testing/host/home-apart.ts'
import { plain, printed } from './support/typed-command.ts'

/** Commands with what they are asked about: nothing, or rows of a table. */
const reads: readonly (readonly [string, Table | null])[] = [
  ['work list', null],
  ['work list --all', null],
  ['work show', 'work_items'],
  ['work show --trace', 'work_items'],
  ['work check list', 'work_items'],
  ['why', 'work_items'],
  ['why --history', 'work_items'],
  ['export', 'work_items'],
  ['inbox', null],
  ['tasks', null],
  ['tasks --all', null],
  ['tasks show', 'tasks'],
  ['tasks output', 'tasks'],
  ['waits', null],
  ['agents', null],
  ['agents list', null],
  ['agents show', 'agents'],
  ['worktree list', null],
  ['worktree list --all', null],
  ['briefs', null],
  ['events --after 0 --limit 60', null],
  ['search work', null],
  ['search work --limit 3', null],
  ['context show', 'turns'],
  ['replay', 'turns'],
  ['trigger list', null],
  ['trigger list --all', null],
  ['webhook list', null],
  ['webhook deliveries', null],
  ['webhook deliveries --dead', null],
  ['schedule list', null],
  ['schedule list --all', null],
  ['schedule slots', 'schedules'],
  ['status', null],
  ['config show', null],
  ['config path', null],
  ['completion bash', null],
  ['completion zsh', null],
  ['completion fish', null],
]

/** Those that change something or go on for a while, those that look at the machine, and a rest. */
const others: readonly string[] = [
  ...['run', 'init', 'send', 'take-back', 'answer', 'import', 'serve', 'start', 'stop', 'tui'],
  ...['work create', 'work update', 'work revert', 'work unblock', 'work pick'],
  'work complete',
  ...['work check add', 'work check rm', 'work check run', 'work check answer'],
  ...['inbox snooze', 'inbox dismiss', 'tasks input', 'tasks stop', 'waits cancel'],
  'grants revoke',
  ...['agents create', 'agents configure', 'agents abort', 'agents delete', 'agents start'],
  ...['agents stop', 'worktree snapshot', 'worktree restore', 'worktree discard'],
  ...['worktree remove', 'trigger create', 'trigger reset', 'trigger revoke', 'webhook test'],
  ...['webhook redeliver', 'schedule add', 'schedule pause', 'schedule resume'],
  ...['schedule remove', 'backup', 'restore'],
  ...['retention', 'token rotate', 'config set', 'config unset', 'tasks follow', 'logs', 'doctor'],
  ...['service show', 'config get', 'work diff'],
  ...['policy check', 'policy explain', 'policy test', 'policy show'],
]

/** Commands whose answer names the home, or a folder that they are given. */
const ofHomes: readonly (readonly [string, null])[] = [
  ['backup {home}-backups', null],
  ['backup {home}', null],
  ['restore {home}', null],
  ['retention --before 0d --dry-run', null],
  ['service show --manager systemd', null],
  ['service show --manager launchd', null],
  ['doctor', null],
  ['logs', null],
  ['stop', null],
  ['policy show', null],
  ['policy check', null],
  ['run {home}', null],
  ['import {home}', null],
]

/** What a terminal takes for a colour, and does not show. */
// oxlint-disable-next-line no-control-regex
const colours = /\u001b\[\d+m/g

/** How many rows of a table are asked about in each home. */
const homes: Readonly<Record<string, number>> = {
  demo: 13,
  'run-18': 3,
  'sim-10': 1,
  'sim-27': 1,
  'sim-39': 1,
  'sim-80': 1,
}

/** The whole names of the commands that do something, as the help has them. */
function commands(): string[] {
  const found: string[] = []
  const visit = (command: ReturnType<typeof build>, path: string): void => {
    if (command.commands.length === 0) found.push(path)
    for (const one of command.commands) visit(one, `${path} ${one.name()}`.trim())
  }
  visit(
    build(real, () => async () => undefined),
    '',
  )
  return found
}

const digest = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16)

/** Whether what was printed is one JSON document, or one a line. */
function isJson(text: string): boolean {
  const lines = text.split('\n').filter((line, n) => n > 0 && !/^(?:exit \d+)?$/.test(line))
  const parses = (one: string) => {
    try {
      JSON.parse(one)
      return true
    } catch {
      return false
    }
  }
  return lines.length > 0 && (parses(lines.join('\n')) || lines.every(parses))
}

function keep(name: string, text: string): void {
  const folder = process.env['HOLON_PRINTS']
  if (folder !== undefined) writeFileSync(join(folder, `${name}.txt`), text)
}

test('every command is among those that read or among the others', () => {
  const named = reads.map(([command]) => command.replace(/ (?:bash|zsh|fish|work|--.*)( .*)?$/, ''))
  const known = new Set([...named, ...others])
  assert.deepEqual(
    commands().filter((one) => !known.has(one)),
    [],
  )
})

test('what the help of each command says', async (t) => {
  const all: string[] = []
  for (const path of ['', ...commands()]) {
    let text = ''
    const ports: CliPorts = { ...real, out: (more) => void (text += more) }
    assert.equal(await main([...path.split(' '), '--help'].filter(Boolean), ports), 0, path)
    all.push(`$ holon ${path} --help`, ...text.split('\n').map((line) => line.trimEnd()))
  }
  t.assert.snapshot(all)
})

for (const earlier of Object.keys(homes).map(earlierHome)) {
  test(`what commands print of the home ${earlier.name}`, async (t) => {
    t.mock.method(Date, 'now', () => later)
    // A search waits for its index for so long: on a busy machine that would be another answer.
    t.mock.method(performance, 'now', () => 0)
    const home = await homeApart(t, earlier)
    const texts: string[] = []
    const records: string[] = []
    const whole: string[] = []
    for (const [command, table] of reads) {
      const rows = table === null ? [] : (earlier.tables[table] ?? [])
      const subjects =
        table === null ? [[]] : rows.slice(0, homes[earlier.name]).map(({ id }) => [String(id)])
      for (const subject of subjects) {
        const words = [...command.split(' '), ...subject]
        const json = await printed(home, [...words, '--json'], plain)
        if (!command.startsWith('completion')) assert.ok(isJson(json), json)
        records.push(`${words.join(' ')}: ${json.length} characters, ${digest(json)}`)
        whole.push(json)
        // An item goes out as JSON anyhow, and a completion script is the help once more.
        if (command === 'export' || command.startsWith('completion')) continue
        texts.push(await printed(home, words, plain))
        if (subject !== subjects[0]) continue
        const coloured = await printed(home, words, { terminal: true, colour: true })
        assert.equal(coloured.replaceAll(colours, ''), texts.at(-1), 'a colour is no text')
      }
    }
    keep(earlier.name, [...texts, ...whole].join('\n'))
    t.assert.snapshot(texts.flatMap((text) => text.split('\n').map((line) => line.trimEnd())))
    t.assert.snapshot(records)
  })
}

/**
 * Every option of a command that reads which the table above does not try, and words it refuses.
 */
const options: readonly string[] = [
  'work list --agent main',
  'work list --agent nobody',
  'worktree list --agent review',
  'worktree list --agent nobody',
  'briefs --agent night',
  'briefs --work-item {work_items 6}',
  'briefs --limit 1',
  'briefs --limit 0',
  'briefs --limit many',
  'briefs --agent nobody',
  'events --limit 5',
  'events --after 600',
  'events --agent ops --limit 4',
  'events --work-item {work_items 3} --limit 4',
  'events --agent nobody',
  'events --limit none',
  'events --after first',
  'search work --agent main',
  'search work --kind brief --limit 2',
  'search work --kind message,plan',
  'search work --kind odd',
  'search work --limit none',
  'search zebra',
  'context show --agent deploy',
  'context show --text --agent deploy',
  'context show --agent nobody',
  'context show {turns 1}:1',
  'context show {turns 1}:1 --text',
  'context show {turns 1}:9999',
  'context show turn_ffff',
  'context show {turns 2}:1 --diff {turns 1}:1',
  'context show {turns 1}:1 --diff {turns 1}:1',
  'context show {turns 1} --diff {turns 1}:1',
  'context show {turns 1} --diff turn_ffff',
  'context show {turns 1} --text --diff {turns 1}:1',
  'tasks --agent main',
  'tasks --all --agent night',
  'waits --agent ops',
  'waits --agent nobody',
  'trigger list --agent ops',
  'trigger list --agent nobody',
  'webhook deliveries --agent main',
  'webhook deliveries --limit 1',
  'webhook deliveries --limit none',
  'webhook deliveries --agent nobody',
  'schedule list --agent main',
  'schedule list --agent ops',
  'schedule list --agent nobody',
  'schedule slots {schedules 1} --limit 1',
  'schedule slots {schedules 1} --limit none',
  'tasks output {tasks 2} --tail 1',
  'tasks output {tasks 2} --tail none',
  'tasks output {tasks 2} --stream stderr',
  'tasks output {tasks 2} --stream odd',
  'export {work_items 6} --to {home}/item.json',
  'export {work_items 6} --to {home}/item.json',
  'why',
  'config get runtime',
  'config get nothing.of.this',
  'config show --agent x',
  'completion tcsh',
  'work',
  'work shwo',
  'wrok list',
  'tasks show work_00',
  'tasks show task_',
  'tasks show task_0000',
  'agents show nobody',
  'replay turn_ffff',
  'context show --diff',
]
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  // It goes on until it is ended: test/operator-cli.test.ts and those of the daemon follow.
  events: ['--follow'],
  logs: ['--follow', '--lines'],
  doctor: ['--verify'],
  'service show': ['--manager'],
}

/** The options of each command that reads, with the whole name of the command. */
function optionsOfReads(): [path: string, option: string][] {
  const found: [string, string][] = []
  const visit = (command: ReturnType<typeof build>, path: string): void => {
    const isRead = path !== 'trigger' && reads.some(([one]) => `${one} `.startsWith(`${path} `))
    if (isRead || path in elsewhere) {
      for (const { long } of command.options) if (long !== undefined) found.push([path, long ?? ''])
    }
    for (const one of command.commands) visit(one, `${path} ${one.name()}`.trim())
  }
  visit(
    build(real, () => async () => undefined),
    '',
  )
  return found.filter(([path]) => path !== '')
}

test('every option of a command that reads is tried', () => {
  const lines = [...reads.map(([command]) => command), ...options]
  const lacking = optionsOfReads().filter(([path, option]) => {
    const tried = lines.some((one) => one.startsWith(`${path} `) && one.split(' ').includes(option))
    return !tried && elsewhere[path]?.includes(option) !== true
  })
  assert.deepEqual(lacking, [])
})

test('what options of commands that read do, and words that they refuse', async (t) => {
  t.mock.method(Date, 'now', () => later)
  const demo = earlierHome('demo')
  const home = await homeApart(t, demo)
  const all: string[] = []
  for (const line of options) {
    const words = line
      .replaceAll('{home}', home)
      .replaceAll(/\{(\w+) (\d+)\}/g, (_, table: string, at: string) =>
        String(demo.tables[table]?.[Number(at) - 1]?.['id']),
      )
      .split(' ')
    all.push(await printed(home, words))
    const json = await printed(home, [...words, '--json'])
    all.push(json.includes('\nexit') ? json : `as JSON: ${json.length} characters, ${digest(json)}`)
  }
  t.assert.snapshot(all.flatMap((text) => text.split('\n').map((line) => line.trimEnd())))
})

test('in colours, in ASCII, and where no terminal is', async (t) => {
  t.mock.method(Date, 'now', () => later)
  const home = await homeApart(t, earlierHome('demo'))
  const all: string[] = []
  for (const command of ['work list --all', 'agents', 'inbox', 'tasks --all', 'waits', 'briefs']) {
    for (const more of [[], ['--ascii'], ['--quiet'], ['--wide']]) {
      const words = [...command.split(' '), ...more]
      all.push(await printed(home, words, { terminal: true, colour: true }))
    }
    all.push(await printed(home, command.split(' '), { terminal: false, colour: false }))
  }
  t.assert.snapshot(all.map((text) => text.replaceAll('\u001b', '␛').split('\n')).flat())
})

test('nothing of a folder name that a terminal would obey or hide is printed as it is', async (t) => {
  t.mock.method(Date, 'now', () => later)
  const demo = earlierHome('demo')
  const made = await homeApart(t, demo)
  const named = `${made}\u001b[2J\u202e\n\r-`
  renameSync(made, named)
  const cut = [...reads, ...ofHomes].flatMap(([command, table]) => {
    const subject = table === null ? [] : [String(demo.tables[table]?.[0]?.['id'])]
    // A completion script is for a shell, and is the help once more.
    return command.startsWith('completion') ? [] : [[...command.split(' '), ...subject]]
  })
  const lines = cut.flatMap((words) => [words, [...words, '--json']])
  const foreign = /(?!\n)\p{Cc}|\u202e/u
  const obeyed: string[] = []
  let naming = 0
  for (const home of [named, `${named}/none`]) {
    for (const words of lines) {
      let raw = ''
      const write = (more: string) => void (raw += more)
      const at = words.map((word) => word.replace('{home}', home))
      await printed(home, at, plain, { out: write, err: write })
      if (/\\x1b\[2J|\\u001b\[2J/.test(raw)) naming += 1
      const [line] = raw.split('\n').filter((one) => foreign.test(one))
      if (line !== undefined) obeyed.push(`${words.join(' ')}: ${JSON.stringify(line)}`)
    }
  }
  assert.deepEqual(obeyed, [])
  assert.ok(naming > 10, `${naming} answers name the home`)
})

test('the output of a task is JSON where that is asked for, raw in a pipe, visible on a terminal', async (t) => {
  t.mock.method(Date, 'now', () => later)
  const demo = earlierHome('demo')
  const home = await homeApart(t, demo)
  const id = String(demo.tables['tasks']?.[1]?.['id'])
  const streams = { stdout: 'one\n\u001b[31mtwo\n', stderr: 'three\n' }
  const read_text: CliPorts['read_text'] = (path) => {
    const name = path.endsWith('/stdout') ? 'stdout' : 'stderr'
    return Promise.resolve({ ok: true, text: streams[name] })
  }
  const ofTask = async (more: readonly string[], look = plain) => {
    const text = await printed(home, ['tasks', 'output', id, ...more], look, { read_text })
    return text.slice(text.indexOf('\n') + 1)
  }
  const json = async (...more: string[]): Promise<unknown> =>
    JSON.parse(await ofTask(['--json', ...more]))
  assert.deepEqual(await json(), { task_id: id, ...streams })
  assert.deepEqual(await json('--stream', 'stderr'), { task_id: id, stderr: 'three\n' })
  assert.deepEqual(await json('--tail', '1'), {
    task_id: id,
    stdout: '\u001b[31mtwo\n',
    stderr: 'three\n',
  })
  assert.equal(await ofTask([], { terminal: false, colour: false }), 'one\n\u001b[31mtwo\nthree\n')
  assert.equal(await ofTask([]), 'one\n\\x1b[31mtwo\nthree\n')
})

test('a warning stands in the text of its report, or below it where an earlier version left it out', async (t) => {
  t.mock.method(Date, 'now', () => later)
  const home = await homeApart(t, earlierHome('demo'))
  const warnings = [{ kind: 'unseen', message: 'A command still runs.' }]
  const open_reader: CliPorts['open_reader'] = async (at) => {
    const reader = await real.open_reader(at)
    if (reader === null) return null
    const list: HomeReader['list'] = async (table, filter) => {
      const rows = await reader.list(table, filter)
      const texts = ['It is done. A command still runs.', 'It is done.']
      return table !== 'briefs'
        ? rows
        : rows.slice(0, texts.length).map((row, n) => ({ ...row, text: texts[n], warnings }))
    }
    return new Proxy(reader, {
      get: (of, name) => (name === 'list' ? list : (Reflect.get(of, name) as unknown)),
    })
  }
  const text = await printed(home, ['briefs', '--agent', 'main'], plain, { open_reader })
  const said = text.split('\n').filter((line) => line.startsWith('  '))
  assert.deepEqual(said.toSorted(), [
    '  ! A command still runs.',
    '  It is done.',
    '  It is done. A command still runs.',
  ])
})
