/**
 * What each command that reads says where the reads fail: the API answers with a problem, gives no
 * answer, there is no home yet, or the id means nothing or two. As text and as JSON, under snapshot:
 * look that each says what is the matter and what to do, and ends with another exit than 0.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CliPorts } from '../src/cli/command/ports.ts'
import type { ApiFailure } from '../src/client/api.ts'
import { ports as real } from '../src/main/commands/ports.ts'
import { earlierHome, homeApart, later } from '../src/testing/host/home-apart.ts'
import { emptyHome } from './support/machine.ts'
import { plain, printed } from './support/typed-command.ts'

const demo = earlierHome('demo')
const idOf = (table: 'turns' | 'work_items' | 'tasks' | 'schedules', at: number): string =>
  String(demo.tables[table]?.[at]?.['id'])
const [item, turn, task] = [idOf('work_items', 2), idOf('turns', 0), idOf('tasks', 0)]

/** Those that ask the API, whoever serves it. */
const byApi: readonly string[] = [
  'agents show main',
  `context show ${turn}`,
  `context show ${turn}:1`,
  `context show ${turn}:1 --text`,
  `context show ${turn}:1 --diff ${idOf('turns', 1)}:1`,
  'search work',
  'trigger list',
  `export ${item}`,
  `work show ${item} --trace`,
  `work diff ${item}`,
  `tasks follow ${task}`,
  'webhook deliveries',
  'status',
]
const others: readonly string[] = [
  ...['work list', `work show ${item}`, `why ${item}`, 'inbox', 'tasks', `tasks show ${task}`],
  ...[`tasks output ${task}`, 'waits', 'agents', 'worktree list', 'briefs', 'events'],
  ...[`replay ${turn}`, 'schedule list', `schedule slots ${idOf('schedules', 0)}`, 'webhook list'],
]
/** Ids that are none, or of another noun, and what only an item of a kind has. */
const misnamed: readonly string[] = [
  ...['context show', 'replay', 'tasks show', 'work show', 'why', 'schedule slots'].flatMap(
    (command) => [`${command} ${item}x`, `${command} ${task}`, `${command} 0000`, `${command} ""`],
  ),
  ...['inbox snooze 0 --for 1h', 'inbox dismiss 0', 'inbox dismiss wait', 'inbox dismiss ""'],
]

const failures: readonly ApiFailure[] = [
  {
    kind: 'problem',
    status: 503,
    problem: {
      ...{ type: 'about:blank', title: 'Not ready', status: 503, code: 'not_ready' },
      ...{ detail: 'The home is still \u001b[31mbeing recovered.', hint: 'try again' },
    },
  } as ApiFailure,
  {
    kind: 'problem',
    status: 404,
    problem: {
      ...{ type: 'about:blank', title: 'None', status: 404, code: 'not_found' },
      ...{ detail: 'There is none.', hint: null },
    },
  } as ApiFailure,
  { kind: 'timeout', after_ms: 10_000 } as ApiFailure,
]

/** Every read of the API ends so. */
function failing(failure: ApiFailure): Partial<CliPorts> {
  const reading_api: CliPorts['daemon']['reading_api'] = async (home) => {
    const found = await real.daemon.reading_api(home)
    if (found === null) return null
    const none = () => Promise.resolve({ ok: false, failure })
    const api = new Proxy(found.api, {
      get: (of, name) =>
        name === 'get' || name === 'call' ? none : (Reflect.get(of, name) as unknown),
    })
    return { ...found, api }
  }
  return { daemon: { ...real.daemon, reading_api } }
}

const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|[^\s"]+/g)].map(([word, inside]) => inside ?? word)

async function both(home: string, line: string, ports: Partial<CliPorts> = {}): Promise<string[]> {
  const text = await printed(home, wordsOf(line), plain, ports)
  const json = await printed(home, [...wordsOf(line), '--json'], plain, ports)
  assert.doesNotMatch(text, /(?!\n)\p{Cc}/u, line)
  return [text, json].flatMap((one) => one.trimEnd().split('\n'))
}

for (const failure of failures) {
  const name = failure.kind === 'problem' ? failure.problem.code : failure.kind
  test(`what commands say whose reads fail: ${name}`, async (t) => {
    t.mock.method(Date, 'now', () => later)
    const home = await homeApart(t, demo)
    const all: string[] = []
    for (const line of byApi) all.push(...(await both(home, line, failing(failure))))
    t.assert.snapshot(all)
  })
}

test('what commands say that are asked about a home in which nothing ever was', async (t) => {
  const all: string[] = []
  for (const line of [...byApi, ...others]) all.push(...(await both(emptyHome(t), line)))
  t.assert.snapshot(all)
})

test('what commands say of ids that mean nothing to them', async (t) => {
  t.mock.method(Date, 'now', () => later)
  const home = await homeApart(t, demo)
  const all: string[] = []
  for (const line of misnamed) all.push(...(await both(home, line)))
  t.assert.snapshot(all)
})
