/**
 * What each command that changes something asks of the owner of the home, and what it says then:
 * every option of every such command, each kind of thing that it can name, and each way in which
 * the words are refused before anybody is asked.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exits } from '../src/cli/command/failure.ts'
import type { CliPorts } from '../src/cli/command/ports.ts'
import { build } from '../src/cli/program.ts'
import type { OwnedHome } from '../src/cli/command/run-ports.ts'
import { ports as real } from '../src/main/commands/ports.ts'
import type { OperatorCommand, OperatorReply } from '../src/protocol/acts/operator.ts'
import { earlierHome, homeApart, later } from '../src/testing/host/home-apart.ts'
import { plain, printed } from './support/typed-command.ts'

/** `{work_items 3}` is the id of the third row of the table in the home, `{home}` its folder. */
const rows: Readonly<Record<string, readonly string[]>> = {
  demo: [
    // Messages: to an agent, an item, a wait; in each manner; to what is not there.
    'send "Go on"',
    'send "Go on" --agent docs',
    'send "Go on" --work-item {work_items 3}',
    'send "Go on" --wait {waits 1}',
    'send "Go on" --agent docs --work-item {work_items 3} --now --start',
    'send "Go on" --agent ops --work-item {work_items 3}',
    'send "Go on" --wait {waits 1} --work-item {work_items 3}',
    'send "Go on" --agent nobody',
    'send " "',
    'take-back {messages 1}',
    'take-back {work_items 1}',
    'answer {waits 1} "Yes, do"',
    'answer {work_items 2} "Yes, do"',
    'answer {work_items 3} "Yes, do"',
    'answer {waits 1} ""',
    'answer {tasks 1} yes --mark abcdef',
    'waits cancel {waits 3}',
    'waits cancel wait_ffff',
    'waits cancel zzz',
    'trigger {waits 4}',
    'trigger {waits 4} --body "{}"',
    // Items.
    'work create "Port the fixtures"',
    'work create "Port the fixtures" --agent docs --check tests="npm test" --check lint=x=y',
    'work create A --max-tokens 500 --max-usd 2.5 --max-rounds 7 --deadline 2026-12-25T10:00Z',
    'work create A --max-tokens many',
    'work create A --max-usd -1',
    'work create A --max-rounds 0',
    'work create A --deadline someday',
    'work create A --check nothing',
    'work create A --check =nothing',
    'work create A --check name=',
    'work create " "',
    'work create A --agent nobody',
    'work update {work_items 4} --objective "Another end"',
    'work update {work_items 4} --plan-status draft --question "Which one?"',
    'work update {work_items 4} --plan-status ready',
    'work update {work_items 4} --plan-status needs_input',
    'work update {work_items 4} --plan-status done',
    'work update {work_items 4} --todo "[x] read" "[>] write" "[ ] test" "look again"',
    'work update {work_items 4} --todo none',
    'work update {work_items 4} --todo "[x] "',
    'work update {work_items 4} --max-tokens 900 --max-usd 3 --max-rounds 2',
    'work update {work_items 4} --deadline 2h',
    'work update {work_items 4}',
    'work pick {work_items 8}',
    'work pick {work_items 8} --reason "It is urgent"',
    'work complete {work_items 8}',
    'work complete {work_items 8} --report "It is done"',
    'send "Look at this" --image none.png',
    'work revert {work_items 4}',
    'work revert {work_items 4} src/a.ts --undo',
    'work unblock {work_items 4}',
    'work unblock {waits 4}',
    // Checks: each kind of them, and what fits none.
    'work check add {work_items 4} tests --cmd "npm test" --in web --timeout 2m',
    'work check add {work_items 4} built --file dist/a.js --contains holon',
    'work check add {work_items 4} built --file dist/a.js --sha256 {sha}',
    'work check add {work_items 4} gone --file dist/a.js --absent',
    'work check add {work_items 4} up --url https://example.org/ --status 204',
    'work check add {work_items 4} eyes --ask "Does it look right?"',
    'work check add {work_items 4} both --cmd x --file y',
    'work check add {work_items 4} none',
    'work check add {work_items 4} odd --cmd x --status 200',
    'work check add {work_items 4} odd --url https://example.org/ --status never',
    'work check add {work_items 4} odd --cmd x --timeout soon',
    'work check add {work_items 4} odd --ask "Well?" --in web',
    'work check add {work_items 4} odd --url https://example.org/ --contains ok',
    'work check add {work_items 4} odd --file a --sha256 {sha} --absent',
    'work check add {work_items 4} up --url https://example.org/',
    'work check add {work_items 6} more --cmd x',
    'work check rm {work_items 6} tests',
    'work check rm {work_items 6} unknown',
    'work check rm {work_items 4} unknown',
    'work check run {work_items 6}',
    'work check run {work_items 6} tests notes',
    'work check answer {work_items 6} tests pass',
    'work check answer {work_items 6} notes fail "It is too dark"',
    'work check answer {work_items 4} unknown fail',
    'work check answer {work_items 6} tests perhaps',
    // What needs a person.
    'inbox snooze {waits 1} --for 2h',
    'inbox snooze {waits 1} --until 2026-12-25T09:00:00Z',
    'inbox snooze {waits 1} --for 2h --until 2026-12-25T09:00:00Z',
    'inbox snooze {waits 1}',
    'inbox snooze {waits 1} --for ever',
    'inbox snooze {waits 1} --until ever',
    'inbox snooze wait_ --for 2h',
    'inbox dismiss {waits 2}',
    'inbox dismiss {waits 5}',
    // Tasks: a command gets a line, a child a message.
    'tasks input {tasks 1} "y"',
    'tasks input {tasks 1} "y" --no-line',
    'tasks input {tasks 1} "y" --end',
    'tasks input {tasks 1} --end',
    'tasks input {tasks 1} ""',
    'tasks input {tasks 1}',
    'tasks input {tasks 10} "Go on"',
    'tasks stop {tasks 1}',
    'tasks stop task_ffff',
    // Agents.
    'agents create fresh',
    'agents create fresh --model a/b --fallback-model c/d --workspace {home} --template t',
    'agents create fresh --workspace {home}/nowhere',
    'agents configure docs --model a/b --fallback-model c/d --workspace {home}',
    'agents configure docs --no-fallback',
    'agents configure docs --preset alone',
    'agents configure docs --preset home',
    'agents configure docs --preset open',
    'agents configure docs --preset open --dangerously',
    'agents configure docs --preset work --dangerously',
    'agents configure docs --preset bypass',
    'agents create wary --model a/b --preset watch',
    'agents create bold --model a/b --preset open --dangerously',
    'agents configure docs --max-usd 5 --max-tokens 100 --max-rounds 9 --per day',
    'agents configure docs --max-usd 5',
    'agents configure docs --max-usd 5 --per year',
    'agents configure docs --max-rounds none',
    'agents configure docs',
    'agents configure nobody --model a/b',
    'agents start docs',
    'agents stop docs',
    'agents delete docs',
    'agents delete nobody',
    'agents abort docs',
    // Triggers and schedules.
    'trigger create gate',
    'trigger create gate --agent ops --source github --resource holon/ci --mode wake_hint',
    'trigger create gate --mode enqueue_message',
    'trigger create gate --mode loud',
    'trigger create {label 4} --agent ops',
    'trigger reset {triggers 4}',
    'grants revoke grant_ffff',
    'trigger revoke {triggers 4}',
    'trigger revoke trig_ffff',
    'schedule add "Look again" --in 30m',
    'schedule add "Look again" --at 2026-12-25T09:00:00+01:00 --agent docs --label Look',
    'schedule add "Look again" --cron "0 9 * * 1-5" --zone Europe/Rome --missed all --overlap queue',
    'schedule add "Look again" --cron "0 9 * * 1-5" --zone UTC --missed skip --overlap coalesce',
    'schedule add "Look again" --in 1h30m --work-item {work_items 4} --missed once --overlap skip',
    'schedule add "Look again" --in 1h --zone UTC',
    'schedule add "Look again" --in 1h --at 2026-12-25T09:00:00Z',
    'schedule add "Look again" --in soon',
    'schedule add "Look again" --at soon',
    'schedule add "Look again" --in 1h --missed never',
    'schedule add "Look again" --in 1h --overlap never',
    'schedule add " " --in 1h',
    'schedule add "A line that is longer than a label may be, which is cut, and then some" --in 1h',
    'schedule pause {schedules 1}',
    'schedule resume {schedules 1}',
    'schedule remove {schedules 1}',
    'schedule remove sched_ffff',
    'work pick {work_items 8} --json',
    'work pick {work_items 8} --quiet',
    'send "Go on" --now --json',
    'send "Go on" --now --quiet',
    'trigger create gate --quiet',
    'trigger reset {triggers 4} --json',
  ],
  'run-18': [
    'worktree snapshot {worktrees 1}',
    'worktree restore {worktrees 2}',
    'worktree discard {worktrees 3}',
    'worktree remove {worktrees 1}',
    'worktree remove task_ffff',
    'webhook redeliver {deliveries 2}',
    'webhook redeliver dlv_ffff',
    'schedule resume {schedules 3}',
    'schedule resume task_ffff',
    'send "Go on" --agent live-20',
    'agents start live-20',
    'answer {work_items 5} "Yes"',
    'tasks input {tasks 2} "Go on"',
  ],
}

/** Commands that ask the owner for something by another way, with the tests that look at it. */
const otherWays: readonly string[] = [
  ...['run', 'init', 'import', 'serve', 'start', 'stop', 'tui', 'webhook test', 'agents abort'],
  ...['backup', 'restore', 'retention', 'token rotate'],
  ...['config set', 'config unset'],
]

/** Those that only read: test/prints.test.ts has what they print. */
const reading: readonly string[] = [
  ...['work list', 'work show', 'work check list', 'why', 'replay', 'export', 'doctor'],
  ...['inbox', 'tasks', 'tasks show', 'tasks output', 'tasks follow', 'waits', 'worktree list'],
  ...['agents list', 'agents show', 'briefs', 'events', 'search', 'status', 'logs', 'completion'],
  ...['context show', 'work diff', 'trigger list', 'webhook list'],
  ...['webhook deliveries', 'schedule list', 'schedule slots', 'service show', 'config show'],
  ...['config path', 'config get', 'policy check', 'policy explain', 'policy test', 'policy show'],
]

type Options = Map<string, string[]>

/** Each command with its long options, as the program has them. */
function optionsOfAll(): Options {
  const found: Options = new Map()
  const visit = (command: ReturnType<typeof build>, path: string): void => {
    const acts = command.registeredArguments.length > 0 || command.commands.length === 0
    if (acts || ['inbox', 'tasks', 'waits'].includes(path)) {
      found.set(
        path,
        command.options.flatMap(({ long }) => long ?? []),
      )
    }
    for (const one of command.commands) visit(one, `${path} ${one.name()}`.trim())
  }
  visit(
    build(real, () => async () => undefined),
    '',
  )
  found.delete('')
  return found
}

const wordsOf = (line: string): string[] =>
  [...line.matchAll(/(?:"[^"]*"|[^\s"{]|\{[^}]*\})+/g)].map(([word]) => word.replaceAll('"', ''))

test('every option of every command that changes something is among the rows', () => {
  const lines = Object.values(rows).flat()
  const of = (path: string) => lines.filter((line) => `${line} `.startsWith(`${path} `))
  const lacking = [...optionsOfAll()]
    .filter(([path]) => !reading.includes(path) && !otherWays.includes(path))
    .flatMap(([path, options]) => {
      const own = of(path).map((line) => wordsOf(line))
      if (own.length === 0) return [path]
      return options
        .filter((option) => !own.some((words) => words.includes(option)))
        .map((option) => `${path} ${option}`)
    })
  assert.deepEqual(lacking, [])
})

test('no command is named here that the program does not have', () => {
  const known = optionsOfAll()
  const named = [...otherWays, ...reading]
  assert.deepEqual(
    named.filter((path) => !known.has(path)),
    [],
  )
})

/** They change what has no owner, or ask one that takes it in any case. */
const withoutOwner: readonly string[] = [
  ...['init', 'stop', 'tui', 'backup', 'restore', 'token rotate', 'config set', 'config unset'],
]

test('each command that asks the owner says the exit of one that takes none, and no other does', () => {
  const said: string[] = []
  let help = ''
  const visit = (command: ReturnType<typeof build>, path: string): void => {
    help = ''
    command.outputHelp()
    if (help.includes(`\n    ${exits.owned}  home owned by another process`)) said.push(path)
    for (const one of command.commands) visit(one, `${path} ${one.name()}`.trim())
  }
  const program = build({ ...real, out: (text) => (help += text) }, () => async () => undefined)
  for (const one of program.commands) visit(one, one.name())
  const asking = [...optionsOfAll().keys()].filter(
    (path) => !reading.includes(path) && !withoutOwner.includes(path),
  )
  assert.deepEqual(said, asking)
})

/** What the owner answers: with marks of a terminal in each of its words. */
const accepted = (command: OperatorCommand): OperatorReply => ({
  ok: true,
  message_id: null,
  resolved: [],
  triggered: [],
  id: null,
  said: `${command.do} is \u001b[31mdone at 2026-12-24T09:30:00.000Z.`,
  warnings: [{ kind: 'unseen', message: 'It was \u001b]0;seen of \u0007nobody.' }],
})
const refused = (): OperatorReply => ({
  ok: false,
  code: 'agent_stopped',
  message: 'main is \u001b[31mstopped since 2026-12-24T09:30:00.000Z',
  hint: 'start <agent>',
})

type Asked = { commands: OperatorCommand[]; ports: Partial<CliPorts> }

/** An owner who writes down what it is asked; nothing is carried out. */
function owner(answer: (command: OperatorCommand) => OperatorReply): Asked {
  const commands: OperatorCommand[] = []
  const host = {
    act: (command: OperatorCommand) => {
      commands.push(command)
      return Promise.resolve(answer(command))
    },
  }
  const own = () =>
    Promise.resolve({ host, close: () => Promise.resolve() } as unknown as OwnedHome)
  return { commands, ports: { own, owner: () => Promise.resolve(null) } }
}

/** Ids in place of what names rows. */
function filled(line: string, name: string, home: string): string {
  const { tables } = earlierHome(name)
  const row = (table: string, at: string) => {
    const found = tables[table]?.[Number(at) - 1]
    assert.ok(found !== undefined, `${name} has no ${table} ${at}`)
    return found
  }
  return line.replaceAll(/\{(\w+)(?: (\d+))?\}/g, (_, what: string, at: string) => {
    switch (what) {
      case 'home':
        return home
      case 'sha':
        return 'a'.repeat(64)
      case 'label': {
        const { label } = JSON.parse(String(row('triggers', at)['data'])) as { label: string }
        return label
      }
      default:
        return String(row(what, at)['id'])
    }
  })
}

for (const [name, lines] of Object.entries(rows)) {
  test(`what commands ask of the owner of the home ${name}`, async (t) => {
    t.mock.method(Date, 'now', () => later)
    const home = await homeApart(t, earlierHome(name))
    const all: string[] = []
    for (const line of lines) {
      const { commands, ports } = owner(accepted)
      const words = wordsOf(filled(line, name, home))
      const text = await printed(home, words, plain, ports)
      const asked = commands.map((command) => JSON.stringify(command).replaceAll(home, '<home>'))
      assert.doesNotMatch(text, /(?!\n)\p{Cc}/u, `${line} prints a mark`)
      all.push(...text.trimEnd().split('\n'), ...asked.map((one) => `asks ${one}`))
    }
    t.assert.snapshot(all)
  })
}

test('a refusal of the owner is said, and what it hints at is a command', async (t) => {
  t.mock.method(Date, 'now', () => later)
  const home = await homeApart(t, earlierHome('demo'))
  const all: string[] = []
  for (const line of rows['demo'] ?? []) {
    if (line.includes('--json') || line.includes('--quiet')) continue
    const { commands, ports } = owner(refused)
    const text = await printed(home, wordsOf(filled(line, 'demo', home)), plain, ports)
    if (commands.length === 0) continue
    assert.match(text, /exit 1\n$/, line)
    all.push(text.replace(/^.*\n/, ''))
  }
  assert.ok(all.length > 50)
  t.assert.snapshot([...new Set(all)])
})
