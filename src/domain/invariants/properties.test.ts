import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  delivery,
  prompt,
  task,
  waitCommand,
  World,
  somePlan,
} from '../../testing/world/agent-world.ts'
import { act, answer, ask, begin, end, taskEnds } from '../../testing/world/turns.ts'
import { partsOf, plainDue, plainParts } from '../../testing/world/plain-survey.ts'
import { keptWaits, plainWaits } from '../../testing/world/plain-waits.ts'
import { does, every, everyFew, once, prepared } from '../../testing/world/operator-inputs.ts'
import { completeItem } from '../work/complete.ts'
import {
  activeWaits,
  activeWaitOf,
  agentOf,
  openItems,
  openTurn,
  roundsOf,
} from '../facts/facts.ts'
import type { Draft, Facts } from '../facts/facts.ts'
import { tables } from '../state/event.ts'
import type { Carried } from '../transfer/export-format.ts'
import { pickItem } from '../waits/focus.ts'
import type { WorkItemId } from '../ids.ts'
import { admitEvent, admitPrompt } from '../inbox/admit.ts'
import { violations } from './of-an-agent.ts'
import { createItem, updateItem, type UpdateItem } from '../work/create-and-update.ts'
import { isLiveRow } from '../facts/live-rows.ts'
import { askOverBudget } from '../budgets/settle.ts'
import { operate } from '../operator/decide.ts'
import { askAboutBucket, holdAgent, releaseHolds } from '../scheduler/park.ts'
import { paceAgent } from '../waits/pacing.ts'
import { isOverBudget, meterOf } from '../facts/payer.ts'
import { rankingOf } from '../facts/ranking.ts'
import { fireSlots } from '../timers/slots.ts'
import { survey } from '../scheduler/survey.ts'
import { isTerminal } from '../state/task.ts'
import { plus, type Timestamp } from '../time.ts'
import { isLiveSchedule, missedPolicies, overlapPolicies } from '../state/schedule.ts'
import { abandonTurn } from '../turns/start.ts'
import { unreviewed, type Wake } from '../state/wait.ts'
import { cancelWait, fireDue, anyDue } from '../waits/wait-end.ts'
import { waitFor } from '../waits/wait-for.ts'
import { isUnadopted } from '../state/work-item.ts'

const minute = 60_000
const brought: Carried = {
  agent_id: 'elsewhere',
  work_item_id: 'work_elsewhere',
  exported_at: '',
  objective: '',
  plan_status: 'ready',
  todo_list: [],
  plan: '',
  not_taken: [],
}
const sources = ['ci', 'mail', null] as const

/** One thing that happens; the numbers choose among what there is. */
type Happening = { kind: keyof typeof happenings; a: number; b: number; c: number }
type Happens = (w: World, n: Happening) => void

const choose = <T>(list: readonly T[], n: number): T | undefined => list[n % (list.length || 1)]
const anyItem = (w: World, n: number): WorkItemId =>
  choose(
    w.all('work_items').filter((one) => !isUnadopted(one)),
    n,
  )?.id ?? ('work_none' as const)

/** Done by the agent in its turn when one is open, else by the operator. */
function either(
  w: World,
  tool: string,
  input: object,
  decide: (d: Draft, by: By) => unknown,
): void {
  const turn = openTurn(w.facts)
  if (turn && roundsOf(w.facts, turn).length > 0) act(w, { tool, input }, (d) => decide(d, 'agent'))
  else w.try((d) => decide(d, 'operator'))
}
type By = 'agent' | 'operator'

/** What closes a round ends the turn, as the runtime has it. */
function closes(w: World, item: WorkItemId | null, outcome: 'waiting' | 'completed'): void {
  const turn = openTurn(w.facts)
  if (!turn || roundsOf(w.facts, turn).length === 0) return
  if (item === null || turn.work_item_id === item) end(w, { outcome })
}

const happenings = {
  import: (w, { a }) => {
    const id = w.mint('work')
    const carried = { ...brought, objective: `Objective ${a}` }
    const given = { new_item: { id, plan: somePlan(id) }, carried, file_sha256: '' }
    if (w.all('work_items').length > 5) return
    w.try((d) => operate(d, prepared(w, { do: 'import_item', file: '' }, given)))
  },
  adopt: (w) => {
    const came = w.all('work_items').find(isUnadopted)
    if (came === undefined) return
    w.try((d) => pickItem(d, { work_item_id: came.id, by: 'operator', reason: null }))
  },
  create: (w, { a, b }) => {
    if (w.all('work_items').length > 5) return
    either(w, 'CreateWorkItem', {}, (d, by) => {
      const id = d.mint('work')
      return createItem(d, {
        id,
        by,
        objective: `Objective ${a}`,
        plan_status: b === 0 ? 'needs_input' : 'draft',
        todo_list: [],
        plan: somePlan(id),
        budget: null,
      })
    })
  },
  update: (w, { a, b, c }) => {
    const work_item_id = anyItem(w, a)
    const fields: Omit<UpdateItem, 'work_item_id' | 'by'>[] = [
      { objective: `Objective ${c}` },
      { plan_status: (['draft', 'ready', 'needs_input'] as const)[c % 3] ?? 'draft' },
      { blocked_by: c % 2 === 0 ? null : `blocked ${c}` },
      { todo_list: [{ text: `todo ${c}`, state: 'pending' }] },
    ]
    const change = { work_item_id, ...choose(fields, b) }
    either(w, 'UpdateWorkItem', change, (d, by) => updateItem(d, { ...change, by }))
  },
  pick: (w, { a, b }) => {
    const work_item_id = anyItem(w, a)
    const reason = b % 2 === 0 ? null : 'because'
    either(w, 'PickWorkItem', { work_item_id }, (d, by) =>
      pickItem(d, { work_item_id, by, reason }),
    )
  },
  complete: (w, { a, b }) => {
    const work_item_id = anyItem(w, a)
    const report = b % 2 === 0 ? null : 'It is done.'
    either(w, 'CompleteWorkItem', { work_item_id }, (d, by) =>
      completeItem(d, { work_item_id, by, report, turn: null }),
    )
    if (w.lastOf('work_item_completed').length > 0) closes(w, work_item_id, 'completed')
  },
  wait: (w, { a, b, c }) => {
    const turn = openTurn(w.facts)
    if (!turn || roundsOf(w.facts, turn).length === 0) return
    const wake = choose<Wake>(['external', 'operator_input', 'timer', 'task_result'], b) ?? 'timer'
    const item = a === 9 ? null : a > 3 ? turn.work_item_id : anyItem(w, a)
    const named = wake === 'task_result' ? choose(w.all('tasks'), c) : undefined
    act(w, { tool: 'WaitFor', input: item === null ? {} : { work_item_id: item } }, (d) =>
      waitFor(
        d,
        waitCommand({
          wake,
          work_item_id: item,
          source: wake === 'external' ? (sources[c % 3] ?? null) : null,
          resource: named?.id ?? null,
          task: named ?? null,
          wake_at: wake === 'timer' ? plus(w.now, c * 20_000) : null,
          recheck_at: c > 6 ? plus(w.now, c * 10_000) : null,
          delivery_mode: c % 2 === 0 ? 'wake_hint' : 'enqueue_message',
          question: wake === 'operator_input' ? 'And now?' : null,
        }),
      ),
    )
    const made = w.lastOf('wait_registered', 'wait_rearmed')
    const answered = w.lastOf('wait_resolved').some((e) => e.by.kind !== 'operator')
    if (made.length > 0 && !answered) closes(w, item, 'waiting')
  },
  say: (w, { a, b, c }) => {
    const question = choose(
      w.all('waits').filter((x) => x.status === 'active' && x.wake === 'operator_input'),
      a,
    )
    w.try((d) =>
      admitPrompt(
        d,
        prompt({
          work_item_id: b % 3 === 0 ? anyItem(w, a) : null,
          wait_id: b % 3 === 1 ? (question?.id ?? null) : null,
          priority: c % 3 === 0 ? 'interject' : 'next',
          start: c % 2 === 0,
        }),
      ),
    )
  },
  deliver: (w, { a, b }) => {
    const target = choose(
      w.all('waits').filter((x) => x.status === 'active' && x.wake === 'external'),
      a,
    )
    const wait_id = b === 0 ? (target?.id ?? null) : null
    w.try((d) => admitEvent(d, delivery({ source: sources[a % 3] ?? null, wait_id })))
  },
  receive: (w, { a, b, c }) => {
    const via = { kind: 'webhook', webhook: 'hook' } as const
    const [source, sender_id] = [sources[a % 3] ?? undefined, `s${b}`]
    const before = w
      .all('deliveries')
      .find((one) => one.sender_id === sender_id && one.source === (source ?? null))
    if (before) w.facts.include('deliveries', before)
    const given = { earlier_delivery: before?.id ?? null }
    const act = { via, body: 'x', source, sender_id }
    if (c === 0) does(w, { do: 'dead_letter', reason: 'not JSON', ...act }, given)
    else does(w, { do: 'deliver', ...act }, given)
  },
  schedule: (w, { a, b, c }) => {
    const kept = choose([...w.facts.rows('schedules')].filter(isLiveSchedule), a)
    if (kept && b < 3) {
      const verb = (['pause', 'resume', 'remove'] as const)[b] ?? 'remove'
      does(w, { do: `${verb}_schedule`, schedule_id: kept.id })
    } else if (w.all('schedules').length < 4) {
      const adopted = [...openItems(w.facts)].filter((one) => !isUnadopted(one))
      const work_item_id = b === 9 ? adopted[0]?.id : undefined
      const [missed, overlap] = [missedPolicies[a % 3], overlapPolicies[c % 3]]
      const spec = c === 9 ? once(plus(w.now, minute)) : every(1 + (c % 4))
      const words = { label: 'x', text: 'x' }
      does(w, { do: 'create_schedule', ...words, spec, missed, overlap, work_item_id })
    }
  },
  budget: (w, { a, b, c }) => {
    const id = anyItem(w, a)
    if (w.facts.row('work_items', id)?.state !== 'open') return
    const limits = [
      { max_rounds: 1 + c },
      { max_tokens: 100 * c + 1 },
      { deadline: plus(w.now, (1 + c) * minute) },
      null,
    ]
    does(w, { do: 'update_item', work_item_id: id, budget: limits[b % 4] ?? null })
  },
  beginTask: (w, { a, b }) => {
    const turn = openTurn(w.facts)
    if (turn) task(w, { work_item_id: turn.work_item_id, promoted: a > 0, child: b === 0 })
  },
  endTask: (w, { a, b }) => {
    const running = choose(
      w.all('tasks').filter((x) => !isTerminal(x)),
      a,
    )
    const status = (['completed', 'failed', 'cancelled', 'interrupted'] as const)[b % 4]
    if (running) taskEnds(w, running, status ?? 'completed')
  },
  pass: (w, { a }) => {
    const ms = choose([1, 1000, minute / 2, minute, 5 * minute, 20 * minute], a) ?? 1
    w.pass(ms).do(fireDue)
    w.do(askOverBudget)
    w.do((d) => fireSlots(d, everyFew))
  },
  lap: (w) => {
    const turn = openTurn(w.facts)
    if (turn && roundsOf(w.facts, turn).length === 0) {
      if (isOverBudget(w.facts, turn.work_item_id, w.now)) {
        end(w, { reason: 'budget_limit' })
        return
      }
      ask(w)
      answer(w)
    } else if (!turn && w.next().do === 'start_turn') begin(w)
  },
  crash: (w) => {
    w.reload()
    const turn = openTurn(w.facts)
    if (turn && roundsOf(w.facts, turn).length === 0) w.do(abandonTurn)
  },
  look: (w, { a }) => {
    const turn = openTurn(w.facts)
    if (!turn || roundsOf(w.facts, turn).length === 0) return
    act(w, { tool: 'ExecCommand' }, () => null, { hash: `h${a}`, changed: a === 0 })
  },
  end: (w, { a, b }) => {
    const turn = openTurn(w.facts)
    if (!turn || (roundsOf(w.facts, turn).length === 0 && a > 0)) return
    const outcome = choose(['completed', 'completed', 'aborted', 'failed'] as const, b)
    const plan = turn.work_item_id === null ? null : somePlan(turn.work_item_id)
    end(w, {
      outcome: outcome ?? 'completed',
      text: a % 2 === 0 ? 'Words.' : '',
      plan: plan && { ...plan, sha256: a > 7 ? `p${b}` : null },
    })
  },
  stop: (w, { a }) => {
    const { state } = agentOf(w.facts)
    if (state === 'active' && a === 0) {
      w.do((d) => d.emit({ type: 'agent_stopped', id: d.agent_id, by: 'operator' }))
    } else if (state === 'stopped') {
      w.do((d) => d.emit({ type: 'agent_started', id: d.agent_id, by: 'operator' }))
    }
  },
  hold: (w, { a, b }) => {
    if (a === 0 && b < 3) {
      w.do((d) => holdAgent(d, { cause: 'provider_world', message: '503', until: null }))
    } else w.do(releaseHolds)
  },
  drain: (w, { a }) => {
    if (a < 2) w.do((d) => paceAgent(d, { bucket: a, bucket_at: d.now }))
  },
  cancel: (w, { a }) => {
    const active = choose(
      w.all('waits').filter((x) => x.status === 'active'),
      a,
    )
    if (active && active.wake !== 'system') w.try((d) => cancelWait(d, active.id))
  },
} satisfies Record<string, Happens>

const kinds = Object.keys(happenings) as Happening['kind'][]
// What moves a turn on comes more often than the rest, or no sequence gets anywhere.
const weighted = [
  ...kinds,
  ...(['lap', 'lap', 'lap', 'lap', 'wait', 'wait', 'wait', 'pick', 'look', 'end'] as const),
  ...(['deliver', 'deliver', 'say', 'endTask', 'pass', 'pass'] as const),
]
const happening = fc.record<Happening>({
  kind: fc.constantFrom(...weighted),
  a: fc.nat(9),
  b: fc.nat(9),
  c: fc.nat(9),
})

function play(w: World, list: readonly Happening[]): void {
  for (const one of list) {
    const happens: Happens = happenings[one.kind]
    happens(w, one)
    assert.deepEqual(violations(w.facts), [], one.kind)
  }
  assert.deepEqual(violations(w.whole(), w.events), [])
}

/** Lets time pass and turns run that achieve nothing, until nothing is due any more. */
function settle(w: World): number {
  if (agentOf(w.facts).state !== 'active') {
    w.do((d) => d.emit({ type: 'agent_started', id: d.agent_id, by: 'operator' }))
  }
  w.do(releaseHolds)
  for (const { id, budget } of [...openItems(w.facts)]) {
    const draws = meterOf(w.facts, id)?.draws_on ?? null
    if (budget !== null || draws !== null)
      does(w, { do: 'update_item', work_item_id: id, budget: null })
  }
  const turn = openTurn(w.facts)
  if (turn && roundsOf(w.facts, turn).length === 0) w.do(abandonTurn)
  else if (turn) end(w)
  for (let laps = 0; laps < 500; laps++) {
    w.do(fireDue)
    const next = w.next()
    if (next.do === 'start_turn') {
      begin(w)
      ask(w)
      answer(w, { text: 'I see.' })
      end(w, { text: 'I see.' })
    } else if ('until' in next && next.until !== null) {
      if (onlyLooks(w)) return laps
      w.do(askAboutBucket)
      w.now = next.until > w.now ? next.until : plus(w.now, 1)
    } else {
      return laps
    }
  }
  return assert.fail('it never comes to rest')
}

/** A look at a wait comes back for as long as it waits: with nothing else ahead, that is rest. */
function onlyLooks(w: World): boolean {
  const looks = new Set([...activeWaits(w.facts)].map(({ recheck_at }) => recheck_at))
  return survey(w.facts, w.now, false).moments.every(({ at }) => looks.has(at))
}

const runs = 60
/** Long enough that turns, waits and questions pile up; fast-check would stay short by itself. */
const happened = fc.array(happening, { minLength: 20, maxLength: 120, size: 'max' })

test('no order of commands violates an invariant', () => {
  fc.assert(
    fc.property(happened, (list) => {
      play(new World(), list)
    }),
    { numRuns: runs },
  )
})

test('left alone, an agent comes to rest with nothing forgotten', () => {
  fc.assert(
    fc.property(happened, (list) => {
      const w = new World()
      play(w, list)
      settle(w)
      w.reload()
      assert.deepEqual(violations(w.whole(), w.events), [])
      for (const one of w.facts.rows('waits')) {
        assert.equal(one.status === 'active' && unreviewed(one), false, `${one.id} was forgotten`)
        assert.equal(one.status === 'resolved', false, `the end of ${one.id} was forgotten`)
      }
      for (const one of w.facts.rows('messages')) {
        assert.equal(one.kind, 'task_result', `${one.id} was forgotten`)
      }
    }),
    { numRuns: runs },
  )
})

test('the end of a turn leaves what is live, and nothing else', () => {
  fc.assert(
    fc.property(happened, (list) => {
      const w = new World()
      for (const one of list) {
        const happens: Happens = happenings[one.kind]
        happens(w, one)
        if (w.lastOf('turn_ended').length === 0) continue
        const whole = w.whole()
        for (const table of tables) {
          const live = w.all(table).filter((row) => isLiveRow(whole, table, row))
          assert.deepEqual(idsOf(w.facts.rows(table)), idsOf(live), `${table}: ${one.kind}`)
        }
      }
    }),
    { numRuns: runs },
  )
})

const idsOf = (rows: Iterable<{ id: string }>) => [...rows].map(({ id }) => id).sort()

test('facts read anew are the facts that were kept, at every point', () => {
  fc.assert(
    fc.property(happened, (list) => {
      const kept = new World()
      const reread = new World()
      for (const one of list) {
        const happens: Happens = happenings[one.kind]
        happens(kept, one)
        happens(reread.reload(), one)
        assert.deepEqual(reread.last, kept.last, one.kind)
      }
    }),
    { numRuns: Math.ceil(runs / 2) },
  )
})

/** What is kept of an agent's items and waits is what all rows say. */
function looksTheSame(facts: Facts, now: Timestamp, why: string): void {
  assert.deepEqual(partsOf(survey(facts, now, false)), plainParts(facts, now), why)
  assert.equal(anyDue(rankingOf(facts), now), plainDue(facts, now), why)
  const waits = [...facts.rows('waits')]
  const ofAgent = waits.filter((wait) => wait.work_item_id === null)
  assert.deepEqual([...rankingOf(facts).agentWaits()], ofAgent, why)
  assert.deepEqual(keptWaits(facts), plainWaits(facts), why)
  for (const { id } of facts.rows('work_items')) {
    const active = waits.find((wait) => wait.work_item_id === id && wait.status === 'active')
    assert.equal(activeWaitOf(facts, id), active ?? null, why)
  }
}

/** Every decision is looked at when its events are folded over the facts, before its commit. */
class Watched extends World {
  override try<T>(decide: (d: Draft) => T): T {
    return super.try((d) => {
      const result = decide(d)
      looksTheSame(d, d.now, 'in the decision')
      return result
    })
  }
}

test('a survey that keeps what did not change says what one over all rows says', () => {
  fc.assert(
    fc.property(
      happened,
      fc.array(fc.integer({ min: -2, max: 30 }), { minLength: 1 }),
      (list, off) => {
        const w = new Watched()
        for (const [i, one] of list.entries()) {
          const happens: Happens = happenings[one.kind]
          happens(w, one)
          looksTheSame(w.facts, w.now, one.kind)
          // The clock of the machine may stand elsewhere, also behind the last look.
          looksTheSame(w.facts, plus(w.now, (off[i % off.length] ?? 0) * 10_000), one.kind)
        }
      },
    ),
    { numRuns: runs },
  )
})
