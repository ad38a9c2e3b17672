/**
 * Invariants 30 to 34 of a family, whatever happens in it and in whichever order
 * (docs/spec/invariants.md): random spawns, turns of parents and children, questions, answers,
 * stops, deletions, restarts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { somePlan, task, waitCommand, type World } from '../../testing/world/agent-world.ts'
import { act, answer, ask, begin, end, taskEnds } from '../../testing/world/turns.ts'
import { FamilyWorld } from '../../testing/world/family-world.ts'
import { completeItem } from '../work/complete.ts'
import { agentOf, openItems, openTurn, roundsOf } from '../facts/facts.ts'
import { pickItem } from '../waits/focus.ts'
import { createItem, updateItem } from '../work/create-and-update.ts'
import { limits } from '../limits.ts'
import { holdAgent } from '../scheduler/park.ts'
import { isTerminal } from '../state/task.ts'
import { plus } from '../time.ts'
import type { Outcome } from '../state/turn.ts'
import { abandonTurn } from '../turns/start.ts'
import type { Wake } from '../state/wait.ts'
import { fireDue } from '../waits/wait-end.ts'
import { waitFor } from '../waits/wait-for.ts'

const minute = 60_000

/** One thing that happens to one of the agents; the numbers choose among what there is. */
type Happening = { kind: keyof typeof happenings; who: number; a: number; b: number }
type Happens = (family: FamilyWorld, w: World, n: Happening) => void

const choose = <T>(list: readonly T[], n: number): T | undefined => list[n % (list.length || 1)]

/** A turn that works: with a request that was answered, and no call under way. */
function working(w: World): boolean {
  const turn = openTurn(w.facts)
  return turn !== null && roundsOf(w.facts, turn).length > 0
}

const living = (family: FamilyWorld): World[] =>
  family.all().filter((w) => family.agent(w).state !== 'deleted')
const isPublic = (w: World): boolean => agentOf(w.facts).visibility === 'public'

const happenings = {
  lap: (_, w) => {
    w.do(fireDue)
    const turn = openTurn(w.facts)
    if (turn && roundsOf(w.facts, turn).length === 0) {
      ask(w)
      answer(w)
    } else if (!turn && w.next().do === 'start_turn') {
      begin(w)
      ask(w)
      answer(w)
    }
  },
  /** Laps and steps in the order in which they lead somewhere. */
  works: (family, w, { who, a, b }) => {
    const then = ([[], ['end'], ['wait', 'end'], ['complete', 'end'], ['block', 'end']] as const)[
      b % 5
    ]
    for (const kind of ['lap', 'create', 'pick', ...(then ?? [])] as const) {
      const happens: Happens = happenings[kind]
      happens(family, w, { kind, who, a: kind === 'end' ? 0 : a, b: a })
    }
  },
  create: (_, w, { a }) => {
    if (!working(w) || [...openItems(w.facts)].length > 3) return
    const id = w.mint('work')
    act(w, { tool: 'CreateWorkItem' }, (d) =>
      createItem(d, {
        id,
        by: 'agent',
        objective: `Objective ${a}`,
        plan_status: a === 0 ? 'needs_input' : 'draft',
        todo_list: [],
        plan: somePlan(id),
        budget: null,
      }),
    )
  },
  pick: (_, w, { a }) => {
    const id = choose([...openItems(w.facts)], a)?.id
    if (!working(w) || id === undefined) return
    act(w, { tool: 'PickWorkItem', input: { work_item_id: id } }, (d) =>
      pickItem(d, { work_item_id: id, by: 'agent', reason: 'x' }),
    )
  },
  complete: (_, w, { a, b }) => {
    const id = choose([...openItems(w.facts)], a)?.id
    if (!working(w) || id === undefined) return
    act(w, { tool: 'CompleteWorkItem', input: { work_item_id: id } }, (d) =>
      completeItem(d, {
        work_item_id: id,
        by: 'agent',
        report: b % 3 === 0 ? null : `Report of ${id}.`,
        turn: openTurn(d),
      }),
    )
  },
  block: (_, w, { a, b }) => {
    const id = choose([...openItems(w.facts)], a)?.id
    if (!working(w) || id === undefined) return
    const blocked_by = b % 3 === 0 ? null : `blocker ${b}`
    act(w, { tool: 'UpdateWorkItem', input: { work_item_id: id, blocked_by } }, (d) =>
      updateItem(d, { work_item_id: id, by: 'agent', blocked_by }),
    )
  },
  wait: (_, w, { a, b }) => {
    if (!working(w)) return
    const wake = choose<Wake>(['operator_input', 'timer', 'task_result', 'external'], a) ?? 'timer'
    const named = choose(w.all('tasks'), b)
    const item = choose([...openItems(w.facts)], b)?.id ?? null
    act(w, { tool: 'WaitFor', input: { work_item_id: item } }, (d) =>
      waitFor(
        d,
        waitCommand({
          wake,
          work_item_id: a > 6 ? null : item,
          reason: `question ${b}`,
          source: wake === 'operator_input' ? null : 'ci',
          resource: wake === 'task_result' ? (named?.id ?? null) : null,
          task: named ?? null,
          wake_at: wake === 'timer' ? plus(w.now, b * minute) : null,
        }),
      ),
    )
  },
  end: (_, w, { a, b }) => {
    if (!working(w)) return
    const outcomes: Outcome[] = ['completed', 'completed', 'waiting', 'failed', 'aborted']
    const outcome = choose(outcomes, a) ?? 'completed'
    end(w, { outcome, reason: outcome === 'failed' ? 'policy' : null, text: b < 6 ? 'Words.' : '' })
  },
  spawn: (family, w, { a, b }) => {
    const isNamed = a === 0
    const wish = isNamed
      ? ({ preset: 'public_named', agent_id: `named${b}` } as const)
      : ({ context: b === 0 ? 'fork' : 'fresh' } as const)
    if (isNamed && family.all().some((one) => one.facts.agent_id === wish.agent_id)) return
    const by = isPublic(w) || b % 3 === 0 ? w : family.parentOf(w)
    if (agentOf(by.facts).state !== 'deleted') family.trySpawn(by, wish)
  },
  tell: (family, w, { a, b }) => {
    const child = choose(family.children(w), a)
    if (child) family.tell(child, `Word ${b}.`, `key ${b}`)
  },
  beginStop: (family, w, { a, b }) => {
    const child = choose(family.children(w), a)
    if (child && b < 5) family.beginStop(child)
  },
  finishStops: (family) => family.finishStops(),
  command: (_, w) => {
    if (working(w)) task(w, { work_item_id: openTurn(w.facts)?.work_item_id ?? null })
  },
  commandEnds: (_, w, { a }) => {
    const running = w.all('tasks').filter((one) => one.kind === 'command' && !isTerminal(one))
    const ending = choose(running, a)
    if (ending) taskEnds(w, ending)
  },
  posture: (_, w, { a }) => {
    if (!isPublic(w)) return
    const type = agentOf(w.facts).state === 'stopped' ? 'agent_started' : 'agent_stopped'
    if (type === 'agent_started' || a === 0) {
      w.do((d) => d.emit({ type, id: d.agent_id, by: 'operator' }))
    }
  },
  hold: (_, w, { a }) => {
    const cause = a === 0 ? 'provider_setup' : 'provider_world'
    if (a < 2) w.do((d) => holdAgent(d, { cause, message: '503', until: null }))
  },
  remove: (family, w, { a }) => {
    if (isPublic(w) && w.facts.agent_id !== 'main' && a < 4) family.delete(w)
  },
  pass: (family, _, { a }) => {
    const spans = [1, 1, minute, minute, minute, 20 * minute, 20 * minute, 60 * minute]
    if (a === 9) spans.splice(0, spans.length, limits.child_hold.value)
    family.pass(choose(spans, a) ?? 1)
    for (const w of living(family)) w.do(fireDue)
  },
  relay: (family, w) => {
    if (!isPublic(w)) family.relay(w)
  },
  restart: (family) => {
    family.restart()
    for (const w of living(family)) {
      const turn = openTurn(w.facts)
      if (turn && roundsOf(w.facts, turn).length === 0) w.do(abandonTurn)
    }
  },
} satisfies Record<string, Happens>

const kinds = Object.keys(happenings) as Happening['kind'][]
const weighted = [
  ...kinds,
  ...(['lap', 'lap', 'lap', 'lap', 'lap', 'lap', 'end', 'end', 'wait', 'create', 'spawn'] as const),
  ...([
    'spawn',
    'spawn',
    'spawn',
    'works',
    'works',
    'works',
    'works',
    'works',
    'works',
    'end',
    'lap',
    'lap',
  ] as const),
  ...(['spawn', 'relay', 'relay', 'relay', 'tell', 'complete', 'complete'] as const),
]
const happening = fc.record<Happening>({
  kind: fc.constantFrom(...weighted),
  who: fc.nat(30),
  a: fc.nat(9),
  b: fc.nat(9),
})
const happened = fc.array(happening, { minLength: 40, maxLength: 200, size: 'max' })

function happen(family: FamilyWorld, one: Happening): void {
  const happens: Happens = happenings[one.kind]
  // Children come more often than their parents: it is about them.
  const some = one.who % 3 === 0 ? living(family) : family.children()
  const w = choose(some, one.who) ?? family.of('main')
  happens(family, w, one)
}

/** Task states by how far they have come: a task only moves forward. */
const order = { queued: 0, running: 1, cancelling: 2 } as const
const rank = (status: string): number => order[status as keyof typeof order] ?? 3

type Seen = Map<string, string>
/** 30, seen from outside: no task goes back, and none leaves its end. */
function onlyForward(family: FamilyWorld, seen: Seen): void {
  for (const { id, status } of family.all().flatMap((w) => w.all('tasks'))) {
    const before = seen.get(id) ?? 'queued'
    assert.ok(rank(status) >= rank(before), `30: ${id} went from ${before} to ${status}`)
    if (before === 'cancelling' && rank(status) === 3) assert.equal(status, 'cancelled', id)
    if (rank(before) === 3) assert.equal(status, before, `30: ${id} ended twice`)
    seen.set(id, status)
  }
}

/** A relay that was made leaves nothing to relay; 32: and no child without a task. */
function atRest(family: FamilyWorld): void {
  family.finishStops().relayAll()
  assert.equal(
    family.children().reduce((sum, child) => sum + family.relay(child), 0),
    0,
  )
  for (const child of family.children()) {
    assert.equal(isTerminal(family.taskOf(child)), false, `32: ${child.facts.agent_id}`)
    assert.notEqual(family.agent(family.parentOf(child)).state, 'deleted')
  }
}

const runs = 150

test('whatever happens in a family, 30 to 34 hold', () => {
  fc.assert(
    fc.property(happened, (list) => {
      const family = new FamilyWorld()
      const seen: Seen = new Map()
      for (const one of list) {
        happen(family, one)
        onlyForward(family, seen)
        assert.deepEqual(family.violations(), [], one.kind)
      }
      atRest(family)
      onlyForward(family, seen)
      assert.deepEqual(family.violations(true), [])
    }),
    { numRuns: runs },
  )
})

/** A relay after each thing that happens, as the runtime does it; `keeps` says to read anew. */
function followed(list: readonly Happening[], rereads: boolean): FamilyWorld {
  const family = new FamilyWorld()
  for (const one of list) {
    happen(family, one)
    if (rereads) family.restart()
    for (const child of family.children()) {
      family.relay(child)
      if (rereads) family.restart()
      assert.equal(family.relay(child), 0, `a second relay after ${one.kind}`)
    }
    assert.deepEqual(family.violations(), [], one.kind)
  }
  return family
}

test('a relay leaves nothing to relay, and a restart between makes no difference', () => {
  fc.assert(
    fc.property(happened, (list) => {
      const [kept, reread] = [followed(list, false), followed(list, true)]
      for (const w of kept.all()) {
        const other = reread.of(w.facts.agent_id)
        assert.deepEqual(
          other.events.map(({ event }) => event),
          w.events.map(({ event }) => event),
        )
      }
    }),
    { numRuns: Math.ceil(runs / 4) },
  )
})

/** What relays may decide, without what only says when: ids of messages and their order. */
function outcome(family: FamilyWorld): unknown[] {
  return family.all().map((w) => [
    family.agent(w).state,
    w.all('tasks').map(({ id, status, reason, asking }) => [id, status, reason, asking]),
    w
      .all('delegations')
      .map(({ id, state, child_work_item_id, result_summary }) => [
        id,
        state,
        child_work_item_id,
        result_summary,
      ]),
    w
      .all('messages')
      .map(({ kind, status, task_id, body }) => [kind, status, task_id, body].join())
      .toSorted(),
    w.all('waits').map(({ id, status }) => [id, status]),
  ])
}

test('children are relayed in any order: what comes of it is the same', () => {
  fc.assert(
    fc.property(happened, fc.infiniteStream(fc.nat(7)), (list, picks) => {
      const [forwards, shuffled] = [new FamilyWorld(), new FamilyWorld()]
      for (const family of [forwards, shuffled]) {
        for (const one of list.filter(({ kind }) => kind !== 'relay')) happen(family, one)
      }
      forwards.relayAll()
      const left = shuffled.children()
      while (left.length > 0) {
        const [child] = left.splice((picks.next().value ?? 0) % left.length, 1)
        if (child) shuffled.relay(child)
      }
      assert.deepEqual(outcome(shuffled), outcome(forwards))
    }),
    { numRuns: Math.ceil(runs / 2) },
  )
})
