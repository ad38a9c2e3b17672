/**
 * A budget and models that try everything their tools have to go on past it, in any order:
 * children, forks, public agents, timers, waits, their own trigger, completing, making and picking
 * items, answering, notes, answers that break off. With no word from outside all of it together
 * takes the budget and at most one request more of each agent at work
 * (docs/spec/budget.md#what-is-made-on-the-way).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Facts } from '../src/domain/facts/facts.ts'
import { violations } from '../src/domain/invariants/of-an-agent.ts'
import { unpaid } from '../src/domain/scheduler/survey.ts'
import { deliver } from '../src/testing/host/outside-events.ts'
import {
  calls,
  cutAfter,
  fails,
  says,
  scriptedModel,
  type Scripted,
  type ScriptedCall,
} from '../src/testing/scripted-model.ts'
import { settle } from '../src/testing/virtual-clock.ts'
import { call, waitsFor } from './support/scripts.ts'
import { agent, hour, minute, openStage, type Stage } from './support/stage.ts'

type Limits = { max_rounds: number } | { max_tokens: number }
type Move = { way: Way; a: number; also: boolean }

const names = ['one', 'two', 'three']
const report = 'Everything that was asked for is done now.'

class Escape {
  s: Stage | null = null
  #n = 0
  #at = 0
  readonly #moves: readonly Move[]

  constructor(moves: readonly Move[]) {
    this.#moves = moves
  }

  /** The next move, of whichever agent asks; some answers make two at once. */
  async next(): Promise<Scripted> {
    const move = this.#moves[(this.#at += 1) % this.#moves.length]
    const { s } = this
    if (s === null || move === undefined) return says('Nothing yet.')
    const answer = await ways[move.way](s, move.a, (this.#n += 1))
    if (!Array.isArray(answer)) return answer
    const more = move.also ? ways.look(s, move.a, this.#n) : []
    return calls(report, ...answer, ...more)
  }
}

type Answer = readonly ScriptedCall[] | Exclude<Scripted, readonly ScriptedCall[]>

const facts = (s: Stage): Facts[] =>
  [agent, ...names, ...[1, 2, 3, 4, 5, 6, 7, 8].map((i) => `${agent}.${i}`)].flatMap(
    (id) => s.box.host.facts(id) ?? [],
  )

const some = <T>(all: readonly T[], a: number): T | null => all[a % Math.max(1, all.length)] ?? null

function openItem(s: Stage, a: number): string {
  const items = facts(s).flatMap((of) => [...of.rows('work_items')])
  return (
    some(
      items.filter(({ state }) => state === 'open'),
      a,
    )?.id ?? 'work_none'
  )
}

function runningTask(s: Stage, a: number): string {
  const tasks = facts(s).flatMap((of) => [...of.rows('tasks')])
  return some(tasks, a)?.id ?? 'task_none'
}

const spawn = (a: number, context: 'fresh' | 'fork') =>
  call('SpawnAgent', { initial_message: `Look around, ${a}.`, context, model: 'a/child' })

/** A command of the agent posts to the trigger whose URL it has. */
async function post(s: Stage, a: number): Promise<void> {
  const trigger = some(
    facts(s).flatMap((of) => [...of.rows('triggers')]),
    a,
  )
  if (trigger === null) return
  const about = { sender_id: null, source: null, resource: null, summary: null }
  const via = { kind: 'trigger', trigger_id: trigger.id } as const
  const body = { body: `again ${a}`, content_type: null }
  await deliver(s.box.host, { agent_id: trigger.agent_id, via, ...about, ...body })
}

const ways = {
  look: (_, __, n) => [call('FindInFiles', { query: `word-${n}` })],
  says: () => says('Here is what there is.'),
  silent: () => says(''),
  breaks_off: () => fails({ kind: 'world', code: 'stream_broken', cut: cutAfter(400) }),
  child: (_, a) => [spawn(a, 'fresh')],
  fork: (_, a) => [spawn(a, 'fork')],
  public: (_, a) => [
    call('SpawnAgent', {
      preset: 'public_named',
      agent_id: names[a % names.length] ?? '',
      initial_message: 'Look around, and let others look.',
      model: 'a/child',
    }),
  ],
  timer: (_, a) => [waitsFor('timer', { wait_ms: (1 + a) * minute })],
  waits_for_event: (_, a) => [
    waitsFor('external', { source: 'x', recheck_after_ms: (1 + a) * minute }),
  ],
  waits_for_task: (s, a) => [waitsFor('task_result', { resource: runningTask(s, a) })],
  asks: () => [waitsFor('operator_input', { question: 'Which one?' })],
  answers: (s, a) => [call('TaskInput', { task_id: runningTask(s, a), text: 'Go on.' })],
  completes: (s, a) => [
    call('CompleteWorkItem', { work_item_id: openItem(s, a), leave_running: true }),
  ],
  completes_and_waits: (s, a) => [
    call('CompleteWorkItem', { work_item_id: openItem(s, a), leave_running: true }),
    waitsFor('timer', { wait_ms: (1 + a) * minute }),
  ],
  creates: (_, a) => [call('CreateWorkItem', { objective: `More, ${a}.` })],
  picks: (s, a) => [call('PickWorkItem', { work_item_id: openItem(s, a), reason: 'It is next.' })],
  notes: (_, __, n) => [call('WriteFile', { path: `note-${n}.md`, content: `Remember ${n}.` })],
  async posts(s, a, n) {
    await post(s, a)
    return n % 2 === 0 ? says('Posted.') : [call('FindInFiles', { query: `post-${n}` })]
  },
} satisfies Readonly<Record<string, (s: Stage, a: number, n: number) => Answer | Promise<Answer>>>
type Way = keyof typeof ways

/** Resolves when no agent has anything to do; pauses before a request is sent again pass. */
async function quiet(s: Stage): Promise<void> {
  const { host, notices } = s.box
  const isBusy = (of: Facts) => ['start_turn', 'noop'].includes(host.next(of.agent_id)?.do ?? '')
  let seen = 0
  for (;;) {
    await settle()
    const retry = notices.findIndex(({ kind }, at) => at >= seen && kind === 'retry')
    const one = notices[retry]
    if (one?.kind === 'retry') {
      seen = retry + 1
      await s.clock.advance(one.delay_ms)
      continue
    }
    if (!facts(s).some(isBusy)) return
    const from = notices.length
    await s.box.until((notice) => notices.indexOf(notice) >= from, 'something to happen')
  }
}

/** All that was spent in the home, and the most that one answer took. */
async function spent(s: Stage) {
  const [all] = await s.box.ledger.spend({ by: [] })
  const paid = (await s.events()).flatMap(({ event }) =>
    event.type === 'answer_cut' || event.type === 'round_recorded' ? [event.usage] : [],
  )
  const sizes = paid.map(
    ({ input_tokens, output_tokens }) => (input_tokens ?? 0) + (output_tokens ?? 0),
  )
  const tokens = (all?.input_tokens ?? 0) + (all?.output_tokens ?? 0)
  assert.equal(
    tokens,
    sizes.reduce((sum, size) => sum + size, 0),
    'the ledger counts every answer',
  )
  return { rounds: all?.requests ?? 0, tokens, most: Math.max(0, ...sizes) }
}

async function escapes(budget: Limits, moves: readonly Move[], focus: boolean): Promise<void> {
  const closing: (() => void | Promise<void>)[] = []
  try {
    const escape = new Escape(moves)
    const model = scriptedModel(() => escape.next())
    const scope = { after: (close: () => void | Promise<void>) => void closing.push(close) }
    const s = await openStage(scope, { models: { default: model } })
    escape.s = s
    await s.act({ do: 'create_item', objective: 'A', budget })
    if (focus) await s.try({ do: 'pick', work_item_id: s.id('A') })
    for (let n = 0; n < 6; n += 1) {
      await quiet(s)
      await s.clock.advance(n < 3 ? 10 * minute : 4 * hour)
    }
    await quiet(s)
    const { rounds, tokens, most } = await spent(s)
    const agents = (await s.rows('agents')).length
    if ('max_rounds' in budget) {
      const limit = budget.max_rounds + agents - 1
      assert.ok(rounds <= limit, `${rounds} requests of ${limit}, ${agents} agents`)
    } else {
      const limit = budget.max_tokens + agents * most
      assert.ok(tokens <= limit, `${tokens} tokens of ${limit}, ${agents} agents`)
    }
    const all = facts(s)
    assert.deepEqual(
      all.flatMap((of) => violations(of)),
      [],
    )
    for (const of of all) assert.ok(isAsked(of), `${of.agent_id} keeps back what nobody asks about`)
    assert.deepEqual((await s.box.ledger.verify()).problems, [])
  } finally {
    for (const close of closing.toReversed()) await close()
  }
}

/** What is kept back for want of a budget stands before the operator. */
function isAsked(of: Facts): boolean {
  const held = unpaid(of, of.last_at)
  if (held === null || of.row('work_items', held.payer)?.state === 'open') return true
  return [...of.rows('waits')].some(
    ({ status, runtime_cause }) => status === 'active' && runtime_cause === 'budget_left',
  )
}

const move = fc.record<Move>({
  way: fc.constantFrom(...(Object.keys(ways) as Way[])),
  a: fc.nat(7),
  also: fc.boolean(),
})
const limits = fc.oneof(
  fc.record({ max_rounds: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ max_tokens: fc.integer({ min: 100, max: 4_000 }) }),
)

const runs = 12

test('no script of a model spends more than the budget and one request of each agent at work', async () => {
  const moves = fc.array(move, { minLength: 3, maxLength: 30 })
  await fc.assert(fc.asyncProperty(limits, moves, fc.boolean(), escapes), { numRuns: runs })
})

test('an offered item that is completed in the turn that offered it leaves its payer to pay', async () => {
  const m = (way: Way, a = 0): Move => ({ way, a, also: false })
  const looks = [m('look'), m('look'), m('look')]
  const moves = [m('look'), m('creates'), m('completes_and_waits', 2), m('completes'), ...looks]
  await escapes({ max_tokens: 241 }, moves, false)
})
