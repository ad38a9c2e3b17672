/**
 * Stories that pass what the runtime waits for: work with plans and commands, children with
 * worktrees, waits of each kind, checks, faults of providers, budgets, held commands. Each tells
 * what its models say, by the agent and how often it was asked, and what comes from outside when
 * all is quiet.
 */
import { heldTasks } from '../../src/domain/approvals/held-command.ts'
import { heldHash } from '../../src/domain/approvals/held-text.ts'
import { boundHash } from '../../src/domain/work/answer-question.ts'
import { openTurn, type Facts } from '../../src/domain/facts/facts.ts'
import type { OperatorAct } from '../../src/domain/operator/act.ts'
import type { Json } from '../../src/ports/json.ts'
import { calls, fails, says, type Scripted } from '../../src/testing/scripted-model.ts'
import { diligent, type Seen } from '../sim/adversary.ts'
import type { World } from '../sim/world.ts'

type Step = (seen: Seen) => Scripted
type Happens = (world: World) => void

export type Story = {
  name: string
  /** A word: a policy asks about each call that has it. */
  asked?: string
  /** What is said to agents in turn: `main`, and whoever else there is. */
  says: { main: readonly Step[]; others: readonly Step[] }
  outside: readonly Happens[]
}

/** The model of one telling: it counts. */
export function answersOf({ says: { main, others } }: Story): (seen: Seen) => Scripted {
  const asked = new Map<string, number>()
  return (seen) => {
    const { agent_id } = seen.facts
    if (seen.isReport) return diligent(seen)
    const n = asked.get(agent_id) ?? 0
    asked.set(agent_id, n + 1)
    return ((agent_id === 'main' ? main : others)[n] ?? diligent)(seen)
  }
}

const acts =
  (act: (world: World) => Partial<OperatorAct> & Pick<OperatorAct, 'do'>): Happens =>
  (world) =>
    world.act({ agent_id: 'main', ...act(world) } as OperatorAct)

const call = (name: string, input: { [field: string]: Json }) => ({ name, input })

const named = (facts: Facts, objective: string) =>
  [...facts.rows('work_items')].find((item) => item.objective === objective)
const idOf = ({ facts }: Seen, objective: string): string =>
  named(facts, objective)?.id ?? openTurn(facts)?.work_item_id ?? 'work_none'
const newest = ({ facts }: Seen): string =>
  [...facts.rows('tasks')].map(({ id }) => id).at(-1) ?? 'task_none'

export const question = (facts: Facts | null | undefined) =>
  [...(facts?.rows('waits') ?? [])].find(
    ({ wake, status }) => wake === 'operator_input' && status === 'active',
  )

const words: Happens = acts(() => ({ do: 'send', text: 'Do alpha, then beta.' }))
const answered: Happens = (world) => {
  const wait = question(world.host?.facts('main'))
  if (!wait) return
  const bound_hash = boundHash(wait)
  world.act({ do: 'answer', agent_id: 'main', wait_id: wait.id, bound_hash, text: 'Yes.' })
}
const passes =
  (ms: number): Happens =>
  ({ agenda }) =>
    agenda.pass(ms)

const creates: Step = () =>
  calls(
    call('CreateWorkItem', { objective: 'alpha', plan: 'Write alpha.\n', plan_status: 'ready' }),
    call('CreateWorkItem', { objective: 'beta' }),
  )
const picks =
  (objective: string): Step =>
  (seen) =>
    calls(call('PickWorkItem', { work_item_id: idOf(seen, objective), reason: 'it is next' }))
const completes =
  (objective: string): Step =>
  (seen) => {
    const input = { work_item_id: idOf(seen, objective), leave_running: true }
    return calls(`${objective} is done.`, call('CompleteWorkItem', input))
  }
const waits =
  (input: { [field: string]: Json }): Step =>
  (seen) =>
    calls(call('WaitFor', { reason: `it is not there yet ${seen.nth}`, ...input }))

const work: Story = {
  name: 'work',
  says: {
    main: [
      creates,
      picks('alpha'),
      (seen) => {
        const path = named(seen.facts, 'alpha')?.plan_artifact.path ?? ''
        const edit = { path, old_text: 'Write alpha.', new_text: 'Write alpha, then wait.' }
        const patch = `--- /dev/null\n+++ made.txt\n@@ -0,0 +1,1 @@\n+made\n`
        return calls(
          call('ReadFile', { path }),
          call('EditFile', edit),
          call('ApplyPatch', { patch }),
        )
      },
      (seen) =>
        calls(
          call('ExecCommand', { cmd: `quick ${seen.nth}`, yield_ms: 1_000 }),
          call('ExecCommand', { cmd: `endless ${seen.nth}`, yield_ms: 0, accepts_input: true }),
        ),
      (seen) =>
        calls(
          call('TaskInput', { task_id: newest(seen), text: `line ${seen.nth}\n` }),
          call('TaskOutput', { task_id: newest(seen) }),
        ),
      (seen) => waits({ wake: 'task_result', resource: newest(seen) })(seen),
      (seen) => calls(call('TaskOutput', { task_id: newest(seen) })),
      completes('alpha'),
      picks('beta'),
      (seen) => calls(call('ExecCommand', { cmd: `endless ${seen.nth}`, yield_ms: 0 })),
      (seen) => calls(call('TaskStop', { task_id: newest(seen) })),
      waits({ wake: 'operator_input', question: 'Is it so?' }),
      completes('beta'),
    ],
    others: [],
  },
  outside: [words, passes(400), ({ commands }) => commands.endAll(), passes(1_000), answered],
}

const waiting: Story = {
  name: 'waits',
  says: {
    main: [
      creates,
      picks('alpha'),
      waits({ wake: 'external', source: 'ci', recheck_after_ms: 60_000 }),
      picks('beta'),
      waits({ wake: 'timer', wait_ms: 5_000 }),
      (seen) =>
        calls(call('UpdateWorkItem', { work_item_id: idOf(seen, 'beta'), blocked_by: 'X' })),
      completes('alpha'),
      completes('beta'),
    ],
    others: [],
  },
  outside: [
    words,
    acts(() => ({
      do: 'deliver',
      via: { kind: 'webhook', webhook: 'g' },
      body: 'a',
      source: 'ci',
    })),
    passes(6_000),
    acts(() => ({ do: 'create_trigger', label: 'a door', source: 'ci' })),
    acts(() => ({
      do: 'create_schedule',
      label: 'often',
      text: 'It is time.',
      spec: { kind: 'cron', expression: '*/5 * * * *', time_zone: 'UTC' },
    })),
    passes(301_000),
    acts(() => ({ do: 'send', text: 'And?', priority: 'interject' })),
  ],
}

const family: Story = {
  name: 'family',
  says: {
    main: [
      creates,
      picks('alpha'),
      () => {
        const input = { initial_message: 'Do a part.', workspace_mode: 'worktree' }
        return calls(call('SpawnAgent', input))
      },
      (seen) => waits({ wake: 'task_result', resource: newest(seen) })(seen),
      (seen) => calls(call('TaskInput', { task_id: newest(seen), text: 'Yes, do.' })),
      (seen) => waits({ wake: 'task_result', resource: newest(seen) })(seen),
      (seen) => calls(call('TaskOutput', { task_id: newest(seen) })),
      () => calls(call('SpawnAgent', { initial_message: 'Another.', context: 'fork' })),
      (seen) => calls(call('TaskStop', { task_id: newest(seen) })),
      completes('alpha'),
    ],
    others: [
      () => calls(call('ApplyPatch', { patch: '--- /dev/null\n+++ a.txt\n@@ -0,0 +1,1 @@\n+a\n' })),
      (seen) => calls(call('ExecCommand', { cmd: `quick ${seen.nth}`, yield_ms: 1_000 })),
      waits({ wake: 'operator_input', question: 'Is it so?' }),
    ],
  },
  outside: [words, passes(300), passes(300)],
}

const childTree = (world: World): string | undefined =>
  [...(world.host?.facts('main')?.rows('worktrees') ?? [])].at(-1)?.id
/** An act on the newest worktree, if there is one. */
const onTree =
  (made: 'snapshot_worktree' | 'discard_worktree' | 'restore_worktree' | 'remove_worktree') =>
  (world: World): void => {
    const worktree_id = childTree(world)
    if (worktree_id !== undefined) world.act({ do: made, agent_id: 'main', worktree_id })
  }
const makesFile: Step = () =>
  calls(call('ApplyPatch', { patch: '--- /dev/null\n+++ a.txt\n@@ -0,0 +1,1 @@\n+a\n' }))

const trees: Story = {
  name: 'trees',
  says: {
    main: [
      creates,
      picks('alpha'),
      () => calls(call('ExecCommand', { cmd: 'endless', yield_ms: 0, accepts_input: true })),
      () => {
        const input = { initial_message: 'Do a part.', workspace_mode: 'worktree' }
        return calls(call('SpawnAgent', input))
      },
      (seen) => waits({ wake: 'task_result', resource: newest(seen) })(seen),
      (seen) => calls(call('TaskStop', { task_id: newest(seen) })),
      completes('alpha'),
    ],
    others: [makesFile, waits({ wake: 'operator_input', question: 'Is it so?' })],
  },
  outside: [
    words,
    onTree('snapshot_worktree'),
    onTree('remove_worktree'),
    acts(() => ({ do: 'start_task', cmd: 'endless by-hand' })),
    (world) => {
      const [id] = world.commands.running()
      const given = { do: 'task_input', agent_id: 'main', text: 'by hand\n' } as const
      if (id !== undefined) world.act({ ...given, task_id: id })
    },
    (world) => {
      const id = [...(world.host?.facts('main')?.rows('tasks') ?? [])][0]?.id
      if (id !== undefined) world.act({ do: 'stop_task', agent_id: 'main', task_id: id })
    },
    onTree('discard_worktree'),
    onTree('restore_worktree'),
    onTree('remove_worktree'),
    acts(() => ({ do: 'delete_agent' })),
  ],
}

const checked: Story = {
  name: 'checks',
  says: { main: [picks('alpha'), completes('alpha')], others: [] },
  outside: [
    acts(() => ({
      do: 'create_item',
      objective: 'alpha',
      checks: [
        { kind: 'command', name: 'tests', cmd: 'quick check', timeout_ms: 60_000 },
        { kind: 'file', name: 'report', path: 'report.md', expect: { exists: false } },
        { kind: 'http', name: 'page', url: 'http://127.0.0.1:8080/', status: 200 },
        { kind: 'person', name: 'look', question: 'Is it right?' },
      ],
    })),
    passes(400),
    (world) => {
      const item = [...(world.host?.facts('main')?.rows('work_items') ?? [])][0]
      const run = item?.checks.find(({ kind }) => kind === 'person')?.run
      if (!item || run?.state !== 'owed') return
      const { n } = run
      const about = { agent_id: 'main', work_item_id: item.id, name: 'look' }
      world.act({ do: 'answer_check', ...about, run: n, passed: true })
    },
  ],
}

const held: Story = {
  name: 'holds',
  says: {
    main: [
      creates,
      picks('alpha'),
      () => fails({ kind: 'setup', code: 'unauthorized', status: 401 }),
      () => fails({ kind: 'world', code: 'rate_limited', status: 429, retry_after_ms: 900_000 }),
      () => fails({ kind: 'refused', code: 'bad_request', status: 400 }),
      completes('alpha'),
    ],
    others: [],
  },
  outside: [
    words,
    acts(() => ({ do: 'start_agent' })),
    passes(901_000),
    acts(() => ({ do: 'configure_agent', budget: { all: { max_tokens: 300 } } })),
    words,
    acts(() => ({ do: 'configure_agent', budget: null })),
  ],
}

const answersHeld =
  (choice: 'yes' | 'no' | 'like_for_item' | 'like_for_agent'): Happens =>
  (world) => {
    const facts = world.host?.facts('main')
    const [task] = facts ? heldTasks(facts) : []
    if (!task) return
    const given = { do: 'answer_held', agent_id: 'main', task_id: task.id, choice } as const
    world.act({ ...given, bound_hash: heldHash(task), text: 'Since I say so.' })
  }
const runs =
  (cmd: string): Step =>
  (seen) =>
    calls(call('ExecCommand', { cmd: `${cmd} ${seen.nth}`, yield_ms: 0 }))

/** Commands that a policy asks about: a yes, a no, another rule before the yes and behind it. */
const asked: Story = {
  name: 'asked',
  asked: 'push',
  says: {
    main: [
      creates,
      picks('alpha'),
      (seen) =>
        calls(
          call('UpdateWorkItem', { work_item_id: idOf(seen, 'alpha'), plan_status: 'ready' }),
          call('ExecCommand', { cmd: `quick push ${seen.nth}`, yield_ms: 0 }),
        ),
      () => calls(call('WriteFile', { path: 'push.txt', text: 'Not so.' })),
      runs('quick push'),
      runs('endless push'),
      completes('alpha'),
    ],
    others: [],
  },
  outside: [
    words,
    answersHeld('yes'),
    passes(400),
    words,
    answersHeld('no'),
    words,
    (world) => {
      world.changeRules()
      answersHeld('yes')(world)
    },
    (world) => {
      answersHeld('yes')(world)
      world.changeRules()
    },
    passes(400),
  ],
}

const revokesGrant: Happens = (world) => {
  const [grant] = world.host?.facts('main')?.rows('grants') ?? []
  if (grant) world.act({ do: 'revoke_grant', agent_id: 'main', grant_id: grant.id })
}

/** A yes for longer than once, what begins by it, and its end while one more is on its way. */
const granted: Story = {
  name: 'granted',
  asked: 'push',
  says: {
    main: [
      creates,
      picks('alpha'),
      runs('quick push'),
      () => says('Asked.'),
      runs('quick push'),
      runs('quick push'),
      () => says('Pushed.'),
      runs('quick push'),
      completes('alpha'),
    ],
    others: [],
  },
  outside: [
    words,
    answersHeld('like_for_item'),
    passes(400),
    words,
    revokesGrant,
    words,
    answersHeld('like_for_agent'),
    passes(400),
    words,
  ],
}

export const stories: readonly Story[] = [
  work,
  waiting,
  family,
  trees,
  checked,
  held,
  asked,
  granted,
]
