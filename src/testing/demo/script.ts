/**
 * What the models of the demonstration say. Each agent has a model of its own, `demo/<name>`, that
 * follows its list answer by answer; when the list is over it says what it would say to anybody who
 * writes to it. A function of the request and of how many came before it, so nothing is timed.
 */
import type { Json, JsonObject } from '../../ports/json.ts'
import type { ServerAnswer, ServerScript, ServerView } from '../model-server/server.ts'

type Step = (view: ServerView) => ServerAnswer

type Input = JsonObject
const call = (name: string, input: Input) => ({ name, input })
export const does =
  (text: string, ...calls: readonly { name: string; input: Input }[]): Step =>
  () => ({ text, calls })

const newest = (text: string, pattern: RegExp): string | undefined =>
  [...text.matchAll(pattern)].at(-1)?.[1]
/** Made in this turn, or what the turn is about. */
const newItem = ({ messages_text }: ServerView): string =>
  newest(messages_text, /Created (work_[0-9a-f-]{4,36})/g) ??
  newest(messages_text, /^id: (work_[0-9a-f-]{4,36})/gm) ??
  newest(messages_text, /(work_[0-9a-f-]{4,36})/g) ??
  'not_seen'
export const newTask = ({ messages_text }: ServerView): string =>
  newest(messages_text, /(task_[0-9a-f-]{4,36})/g) ?? 'not_seen'

/** Makes the item and takes it up: two answers, since its id is known after the first. */
export const begins = (objective: string, plan: string): Step[] => [
  does('I make an item for this.', call('CreateWorkItem', { objective, plan })),
  (view) => ({ calls: [call('PickWorkItem', { work_item_id: newItem(view) })] }),
]

export const completes =
  (report: string): Step =>
  (view) => ({ text: report, calls: [call('CompleteWorkItem', { work_item_id: newItem(view) })] })

const todos = (done: number, ...texts: readonly string[]): Json =>
  texts.map((text, at) => ({
    text,
    state: at < done ? 'completed' : at === done ? 'in_progress' : 'pending',
  }))

const work = [
  'Read the grammar',
  'Write the decorator rule',
  'Keep the old entry point',
  'Port the two old fixtures',
  'Run the whole suite',
] as const

const rule = [
  'export function decorators(tokens: readonly string[]): string[] {',
  "  return tokens.filter((token) => token.startsWith('@'))",
  '}',
  '',
].join('\n')

const main: readonly Step[] = [
  ...begins('Remove the dead feature flags', '# Flags\n\nFind flags nobody reads. Remove them.\n'),
  does('', call('ExecCommand', { cmd: 'grep -rn flag src | head -20' })),
  completes(
    'Two flags were dead, `old_parser` and `slow_path`. Both are gone, with their branches.',
  ),

  ...begins(
    'Port the fixtures',
    '# Fixtures\n\n1. Run the port.\n2. Look at what it could not do.\n',
  ),
  does(
    'It takes long, so it runs beside me.',
    call('ExecCommand', { cmd: './port.sh', yield_ms: 0 }),
  ),
  (view) => ({
    text: 'The port runs. I look at it when it ends.',
    calls: [
      call('WaitFor', {
        wake: 'task_result',
        resource: newTask(view),
        reason: 'the port must end',
      }),
    ],
  }),

  ...begins(
    'Watch CI for flaky tests',
    '# CI\n\nLook every half hour. Report what failed twice.\n',
  ),
  does(
    'Nothing flaky in the last run. I look again in half an hour.',
    call('WaitFor', { wake: 'timer', wait_ms: 1_800_000, reason: 'the next look at CI' }),
  ),

  ...begins(
    'Upgrade the parser to ES2027 syntax',
    '# Parser\n\nThe new grammar, with `parse()` as it is for callers.\n\n' +
      '- decorators keep their metadata order\n- the old entry point stays\n',
  ),
  (view) => ({
    calls: [
      call('UpdateWorkItem', { work_item_id: newItem(view), todo_list: todos(0, ...work) }),
      call('ReadFile', { path: 'src/parse.ts' }),
      call('ReadFile', { path: 'src/flags.ts' }),
      call('ReadFile', { path: 'package.json' }),
    ],
  }),
  does('', call('EditFile', { path: 'src/decorators.ts', new_text: rule })),
  does('', call('ExecCommand', { cmd: './test.sh decorators' })),
  does(
    'Two fixtures still use the old decorator order. I port them next and keep the wrapper in ' +
      'parse() as you asked.',
    call('EditFile', {
      path: 'src/decorators.ts',
      old_text: 'tokens.filter',
      new_text: 'tokens.slice().filter',
    }),
  ),
  (view) => ({
    text: 'Now the whole suite.',
    calls: [
      call('UpdateWorkItem', { work_item_id: newItem(view), todo_list: todos(4, ...work) }),
      call('ExecCommand', { cmd: './test.sh all', yield_ms: 500 }),
    ],
  }),
]

const choices =
  'Approve the changelog for 2.4.0?\n\n14 changes, 2 breaking:\n' +
  '- parse() returns a result instead of throwing\n- Node 20 is no longer supported\n\n' +
  '1 yes, 2 no, 3 tell me in words. I would say yes.'

const release: readonly Step[] = [
  ...begins('Release 2.4.0', '# Release\n\nChangelog, approval, tag, publish.\n'),
  does('', call('ExecCommand', { cmd: 'cat CHANGELOG.md' })),
  does(
    choices,
    call('WaitFor', { wake: 'operator_input', reason: 'Approve the changelog for 2.4.0?' }),
  ),
  completes('2.4.0 is released as you decided. The changelog has 14 entries.'),
]

const ops: readonly Step[] = [
  ...begins('Rotate the staging password', '# Rotation\n\nAfter the checks on GitHub are green.\n'),
  does(
    'I wait for the checks.',
    call('WaitFor', {
      wake: 'external',
      source: 'github',
      resource: 'check_suite',
      reason: 'the checks must be green',
    }),
  ),
  completes('The password is rotated, after the checks were green.'),
]

const deploy: readonly Step[] = [
  ...begins('Publish the nightly build', '# Nightly\n\nPublish once, never twice.\n'),
  does('', call('ExecCommand', { cmd: './publish.sh --tag next', yield_ms: 600_000 })),
  does(
    'Did "npm publish --tag next" happen? Nobody can say: the machine went down in the middle. ' +
      'I do not repeat it by myself.',
    call('WaitFor', { wake: 'operator_input', reason: 'Did "npm publish --tag next" happen?' }),
  ),
  completes('It is settled as you said.'),
]

const writer: readonly Step[] = [
  (view) => ({ calls: [call('PickWorkItem', { work_item_id: newItem(view) })] }),
  does('I read what is there.', call('ExecCommand', { cmd: 'wc -l CHANGELOG.md' })),
  does('And the code it is about.', call('ExecCommand', { cmd: 'ls src' })),
  does('And once more.', call('ExecCommand', { cmd: 'ls' })),
]

const site: readonly Step[] = [
  (view) => ({ calls: [call('PickWorkItem', { work_item_id: newItem(view) })] }),
  does(
    'I write them from the changelog.',
    call('EditFile', {
      path: 'NOTES.md',
      new_text: '# Notes of 2.4.0\n\n14 changes, 2 breaking.\n',
    }),
  ),
  completes('The notes of 2.4.0 are in NOTES.md: 14 changes, 2 of them breaking.'),
]

const review: readonly Step[] = [
  ...begins('Review the open changes', '# Review\n\nOne reader reads, I judge.\n'),
  does(
    'A reader goes through them.',
    call('SpawnAgent', {
      initial_message: 'Read the open changes.\nReport what could break a caller.',
      model: 'demo/reader',
    }),
  ),
  (view) => ({
    text: 'The reader is at work.',
    calls: [
      call('WaitFor', { wake: 'task_result', resource: newTask(view), reason: 'the reader reads' }),
    ],
  }),
]

const reader: readonly Step[] = [does('', call('ExecCommand', { cmd: './port.sh', yield_ms: 500 }))]

const lists: Readonly<Record<string, readonly Step[]>> = {
  main,
  release,
  ops,
  deploy,
  writer,
  site,
  review,
  reader,
}

/** What a request costs in tokens: it grows with the conversation, so that spend looks like it. */
const usageOf = ({ messages_text }: ServerView) => {
  const input_tokens = 900 + Math.ceil(messages_text.length / 4)
  return { input_tokens, output_tokens: 180, cached_input_tokens: Math.floor(input_tokens * 0.6) }
}

/** Behind the list: a command that still runs is watched on; else a word to whoever wrote. */
function after(view: ServerView): ServerAnswer {
  const task_id = /(?:goes on in the background|timeout|interjected)/.test(
    view.last_tool_results.map(({ text }) => text).join('\n'),
  )
    ? newTask(view)
    : 'not_seen'
  if (task_id === 'not_seen') return { text: 'Noted. I keep to it from here on.' }
  return {
    text: 'It runs; I stay with it.',
    calls: [call('TaskOutput', { task_id, block: true, timeout_ms: 600_000 })],
  }
}

/** One script for all models of the demonstration. */
export function demoScript(): ServerScript {
  const counts = new Map<string, number>()
  return (view) => {
    const name = String(view.body['model'])
    const n = counts.get(name) ?? 0
    counts.set(name, n + 1)
    const answer = (lists[name]?.[n] ?? after)(view)
    return { usage: usageOf(view), ...answer }
  }
}

/** The models with a price, so that spend is a number. US dollars per million tokens. */
export const demoModels = Object.fromEntries(
  Object.keys(lists).map((name) => [
    `demo/${name}`,
    { context_window: 200_000, price: { input: 3, output: 15, cached_input: 0.3 } },
  ]),
)
