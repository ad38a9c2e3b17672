/**
 * How many bytes a model reads: `node bench/studies/model-bytes.ts [--json]`. A fixed set of
 * scenarios runs with scripted models; of every request the opening is measured by its sections,
 * and every tool result by its tool. Beside it stands what the same set took before results and
 * openings were shortened (`model-bytes-before.json`). Ends with 1 where a section or tool is over
 * 60 % of that.
 */
import { readFileSync } from 'node:fs'
import { argv } from 'node:process'
import type { Json } from '../../src/ports/json.ts'
import type { ModelRequest } from '../../src/models/model.ts'
import { openBox, type HostFixture } from '../../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel, type Scripted } from '../../src/testing/scripted-model.ts'

/** Of the bytes before, what each section and the results of each tool may take now. */
const goal = 0.6

/** Its only result of the set is an error, which says what it said before. */
const asBefore = new Set(['result: TaskOutput'])

type Step = (box: HostFixture, request: ModelRequest) => Scripted
type Scene = {
  name: string
  main: Step[]
  child?: Step[]
  play: (box: HostFixture) => Promise<void>
}

const call = (name: string, input: Json) => ({ name, input })

const rows = <T extends 'work_items' | 'tasks' | 'waits'>(
  box: HostFixture,
  table: T,
  agent = 'main',
) => [...(box.host.facts(agent)?.rows(table) ?? [])]
const item = (box: HostFixture, objective: string, agent = 'main'): string =>
  rows(box, 'work_items', agent).find((one) => one.objective === objective)?.id ?? 'none'
const task = (box: HostFixture, nth = 0): string =>
  rows(box, 'tasks').toSorted((a, b) => (a.id < b.id ? -1 : 1))[nth]?.id ?? 'none'

const tell = async (box: HostFixture, text: string): Promise<void> => {
  await box.host.act({ do: 'send', agent_id: 'main', text })
  await box.rests('main')
}

/** Until `count` of its turns have ended. */
async function turns(box: HostFixture, count: number): Promise<void> {
  const ended = new Set<string>()
  await box.until((notice) => {
    if (notice.kind !== 'committed' || notice.agent_id !== 'main') return false
    for (const { event } of notice.events) if (event.type === 'turn_ended') ended.add(event.id)
    return ended.size >= count
  }, `${count} turns`)
}

const plan =
  '# Plan\n\nRead the tests, find the clock reads, pass the clock in.\n\n1. Look.\n2. Do.\n'
const [first, second] = ['Make the tests deterministic', 'Write the page about time']
const todos = (now: number) => [
  ...['Find the clock reads', 'Pass the clock in', 'Run the suite ten times'].map((text, i) => ({
    text,
    state: i < now ? 'completed' : i === now ? 'in_progress' : 'pending',
  })),
]

/** An objective with a plan and todos, commands, files, and a command in the background. */
const work: Scene = {
  name: 'work',
  main: [
    () => calls(call('CreateWorkItem', { objective: first, plan, plan_status: 'ready' })),
    (box) => calls(call('PickWorkItem', { work_item_id: item(box, first) })),
    (box) => calls(call('UpdateWorkItem', { work_item_id: item(box, first), todo_list: todos(0) })),
    () =>
      calls(
        call('EditFile', { path: 'a.ts', new_text: 'export const now = Date.now()\n' }),
        call('ReadFile', { path: 'a.ts' }),
        call('ExecCommand', { cmd: 'ls; cat a.ts' }),
        call('EditFile', { path: 'a.ts', old_text: 'Date.now()', new_text: 'clock.now()' }),
      ),
    (box) => calls(call('UpdateWorkItem', { work_item_id: item(box, first), todo_list: todos(1) })),
    () => calls(call('ExecCommand', { cmd: 'sleep 0.3; echo ran', yield_ms: 1 })),
    (box) => calls(call('TaskStatus', { task_id: task(box, 1) }), call('ListTasks', {})),
    (box) =>
      calls(
        call('WaitFor', { wake: 'task_result', resource: task(box, 1), reason: 'the suite ends' }),
      ),
    (box) =>
      calls(
        call('TaskOutput', { task_id: task(box, 1) }),
        call('GetWorkItem', { work_item_id: item(box, first) }),
      ),
    (box) =>
      calls('The tests are deterministic: the clock is passed in, and the suite ran ten times.', {
        ...call('CompleteWorkItem', { work_item_id: item(box, first) }),
      }),
  ],
  async play(box) {
    await tell(box, 'The tests fail now and then. Make them deterministic.')
    await turns(box, 2)
  },
}

/** Two items, a question to the operator, a choice, an answer. */
const asking: Scene = {
  name: 'asking',
  main: [
    () =>
      calls(
        call('CreateWorkItem', { objective: first, plan }),
        call('CreateWorkItem', { objective: second }),
      ),
    (box) =>
      calls(call('ListWorkItems', {}), call('PickWorkItem', { work_item_id: item(box, second) })),
    () =>
      calls('Shall the page be long or short? I would make it short.', {
        ...call('WaitFor', { wake: 'operator_input', reason: 'the length of the page' }),
      }),
    (box) => calls(call('PickWorkItem', { work_item_id: item(box, first) })),
    (box) =>
      calls(
        call('WaitFor', { wake: 'timer', wait_ms: 3_600_000, reason: 'the mirror comes back' }),
        call('GetWorkItem', { work_item_id: item(box, second) }),
      ),
    (box) => calls(call('GetWorkItem', { work_item_id: item(box, second) })),
    (box) =>
      calls(
        call('UpdateWorkItem', { work_item_id: item(box, second), blocked_by: null }),
        call('PickWorkItem', { work_item_id: item(box, second) }),
      ),
    () => calls(call('ExecCommand', { cmd: 'echo "# Time" > time.md; cat time.md' })),
    (box) =>
      calls('The page about time is written, short as you wanted it: time.md.', {
        ...call('CompleteWorkItem', { work_item_id: item(box, second) }),
      }),
  ],
  async play(box) {
    await tell(box, 'Make the tests deterministic, and write a page about time.')
    await tell(box, 'Short, please.')
    await tell(box, 'And what is left?')
  },
}

const part = 'Count the words of the handbook'

/** Two children, their reports, and a look at both. */
const handing: Scene = {
  name: 'handing',
  main: [
    () => calls(call('CreateWorkItem', { objective: first, plan, plan_status: 'ready' })),
    (box) => calls(call('PickWorkItem', { work_item_id: item(box, first) })),
    () =>
      calls(...['one', 'two'].map((n) => call('SpawnAgent', { initial_message: `Count ${n}.` }))),
    (box) =>
      calls(
        call('AgentGet', { agent_id: 'main.1' }),
        call('TaskStatus', { task_id: task(box) }),
        call('WaitFor', { wake: 'task_result', resource: task(box), reason: 'its report' }),
      ),
    (box) =>
      calls(
        call('TaskOutput', { task_id: task(box) }),
        call('WaitFor', { wake: 'timer', wait_ms: 3_600_000, reason: 'the other one' }),
      ),
  ],
  child: [
    () => calls(call('CreateWorkItem', { objective: part })),
    (box, { system }) => {
      const me = /^agent: (\S+)/m.exec(system)?.[1] ?? 'main.1'
      return calls(call('PickWorkItem', { work_item_id: item(box, part, me) }))
    },
    () => calls(call('ExecCommand', { cmd: 'echo 1204' })),
    (box, { system }) => {
      const me = /^agent: (\S+)/m.exec(system)?.[1] ?? 'main.1'
      return calls('The handbook has 1,204 words, counted with wc.', {
        ...call('CompleteWorkItem', { work_item_id: item(box, part, me) }),
      })
    },
  ],
  async play(box) {
    await tell(box, 'Have the words counted by two.')
    await turns(box, 3)
  },
}

export type Figures = { [what: string]: number }

/** Where a section begins; plans and messages have headings of their own. */
const titles = new RegExp(
  `^(?=# (?:${[
    ...['Work item', 'Current work item', "This turn's work item", 'Queued work item'],
    ...['Other work items', 'Other running tasks', 'Process notes', 'Earlier rounds'],
    ...['Lately said', 'Your handoff', 'Why this turn runs', 'Input', 'Budget'],
  ].join('|')})\\b)`,
  'm',
)

const sizeOf = (text: string): number => Buffer.byteLength(text)

/** Openings by section title, results by tool; a request says again what the one before said. */
function measured(requests: readonly ModelRequest[], into: Figures): void {
  const add = (what: string, text: string) => (into[what] = (into[what] ?? 0) + sizeOf(text))
  const seen = new Set<string>()
  for (const request of requests) {
    const [opening] = request.messages
    if (opening?.role !== 'user') continue
    if (!seen.has(opening.content)) {
      seen.add(opening.content)
      for (const section of opening.content.split(titles)) {
        const title = (/^# ([^\n(]*)/.exec(section)?.[1] ?? 'other').trim()
        add(
          `opening: ${/(?<!this) work item$|^Work item$/i.test(title) ? 'Work item' : title}`,
          section,
        )
      }
    }
    for (const message of request.messages) {
      if (message.role !== 'tool') continue
      for (const { call_id, tool_name, text } of message.results) {
        if (seen.has(call_id)) continue
        seen.add(call_id)
        add(`result: ${tool_name}`, text)
      }
    }
  }
}

async function run(scene: Scene, into: Figures): Promise<void> {
  const closing: (() => void | Promise<void>)[] = []
  const scope = { after: (close: () => void | Promise<void>) => void closing.unshift(close) }
  const box: HostFixture[] = []
  const taken = new Map<string, number>()
  const model = scriptedModel((request) => {
    const me = /^agent: (\S+)/m.exec(request.system)?.[1] ?? ''
    const n = taken.get(me) ?? 0
    taken.set(me, n + 1)
    const steps = me === 'main' ? scene.main : (scene.child ?? [])
    return steps[n]?.(box[0] as HostFixture, request) ?? says('There is nothing more to do now.')
  })
  const opened = await openBox(scope, { models: { default: model } })
  box.push(opened)
  try {
    const workspace = { mode: 'explicit_root', root: opened.workspace } as const
    await opened.host.open()
    await opened.host.ensureAgent({ id: 'main', model: 'test/scripted', workspace })
    await scene.play(opened)
    measured(model.requests, into)
  } finally {
    for (const close of closing) await close()
  }
}

const now: Figures = {}
for (const scene of [work, asking, handing]) await run(scene, now)

if (argv.includes('--json')) {
  console.log(JSON.stringify(now, null, 2))
} else {
  const file = new URL('./model-bytes-before.json', import.meta.url)
  const before = JSON.parse(readFileSync(file, 'utf8')) as Figures
  const line = (what: string, a: number, b: number) =>
    console.log(
      `${what.padEnd(34)}${String(a).padStart(8)}${String(b).padStart(8)}` +
        (a === 0 ? '' : `${Math.round((b / a) * 100)} %`.padStart(8)),
    )
  const sum = (of: Figures, kind: string) =>
    Object.entries(of).reduce((total, [what, n]) => total + (what.startsWith(kind) ? n : 0), 0)
  for (const what of [...new Set([...Object.keys(before), ...Object.keys(now)])].toSorted()) {
    line(what, before[what] ?? 0, now[what] ?? 0)
  }
  line('all openings', sum(before, 'opening'), sum(now, 'opening'))
  line('all results', sum(before, 'result'), sum(now, 'result'))
  line('all', sum(before, ''), sum(now, ''))
  const over = Object.keys(before).filter(
    (what) => !asBefore.has(what) && (now[what] ?? 0) > (before[what] ?? 0) * goal,
  )
  if (over.length > 0) {
    console.log(`over ${goal * 100} %: ${over.join(', ')}`)
    process.exitCode = 1
  }
}
