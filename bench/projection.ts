/**
 * What it takes to project an item's context, by the length of its history: the opening of a turn,
 * and the compaction of one. Nothing else runs; the reads are those of a real ledger.
 */
import { charTokens } from '../src/context/estimate.ts'
import { compact } from '../src/context/compaction/compact.ts'
import { renderOpening } from '../src/context/opening/render.ts'
import type { Event } from '../src/domain/state/event.ts'
import { mustTurn, roundViews } from '../src/domain/facts/facts.ts'
import { systemClock, systemIds } from '../src/exec/clock.ts'
import { systemFiles } from '../src/exec/files/files.ts'
import { openLedger } from '../src/ledger/store/open.ts'
import type { Ledger } from '../src/ledger/port.ts'
import { AgentPorts } from '../src/runtime/agent-ports.ts'
import { gatherText } from '../src/runtime/gather/situation.ts'
import { Store } from '../src/runtime/store.ts'
import { toolTokens } from '../src/runtime/turn/tool-specs.ts'
import { load, nowUs, quantile, spread, type Bench } from './fixtures/machine.ts'
import type { Line } from './report.ts'
import {
  agentCreated,
  callFinished,
  callRecorded,
  itemCreated,
  messageAdmitted,
  requestSent,
  roundRecorded,
  turnEnded,
  turnStarted,
} from '../src/testing/events.ts'

const roundsPerTurn = 200
const window = 32_000
const words = 'the quick brown fox jumps over the lazy dog and looks for what it has lost '

export async function projection(
  bench: Bench,
  { rounds, times }: { rounds: number; times: number },
): Promise<Line[]> {
  const home = bench.folder('projection-home')
  const clock = systemClock()
  const ids = systemIds()
  const ledger = await openLedger(home, {
    clock_now: () => clock.now(),
    mint: (prefix) => ids.mint(prefix),
  })
  try {
    const store = new Store(ledger, clock, ids)
    await writeRounds(store, rounds)
    const env = envOf(home, store, ledger)
    const [opened, compacted] = [await timed(times, opening(env)), await timed(times, again(env))]
    const line = (what: string, ms: number[]): Line => ({
      what: `${what}, ${rounds.toLocaleString('en')} rounds of history`,
      ours: `${spread(ms)} ms, p95 ${quantile(ms, 0.95).toFixed(1)}`,
      floor: '',
      ratio: null,
      target: '≤ 5 ms, flat',
      load: load(),
    })
    return [line('the opening of a turn', opened), line('a compaction in a turn', compacted)]
  } finally {
    await ledger.close()
  }
}

async function timed(times: number, run: () => Promise<unknown>): Promise<number[]> {
  for (let i = 0; i < 20; i++) await run()
  const found: number[] = []
  for (let i = 0; i < times; i++) {
    const from = nowUs()
    await run()
    found.push((nowUs() - from) / 1_000)
  }
  return found
}

const view = { tokens: charTokens, window, random_fence: 'abcdefgh' }

const opening = (env: AgentPorts) => async () => {
  const { user } = renderOpening(await gatherText(env), view)
  if (user === '') throw new Error('nothing was projected')
}

const again = (env: AgentPorts) => async () => {
  const facts = env.facts()
  const rounds = roundViews(facts, mustTurn(facts)).filter((v) => v.round.state === 'recorded')
  const sizes = rounds.map(() => 200)
  const made = compact(await gatherText(env), rounds, {
    ...view,
    system: { text: words.repeat(70), lines: [] },
    tool_tokens: toolTokens(),
    sizes,
    before: window,
    notes: 0,
    to: 0.5,
    summary_tokens: 0,
  })
  if (made === null) throw new Error('nothing was compacted')
}

/** An item with so many rounds behind it in ended turns, and an open turn of two hundred. */
async function writeRounds(store: Store, rounds: number): Promise<void> {
  const item = itemCreated({ id: 'work_1', objective: 'the long one' })
  await emit(store, [agentCreated('main'), item])
  for (let done = 0; done <= rounds; done += roundsPerTurn) {
    await emit(store, oneTurn(store, done / roundsPerTurn, done + roundsPerTurn > rounds))
  }
}

const emit = (store: Store, events: readonly Event[]): Promise<void> =>
  store.transact('main', 'bench', (d) => {
    for (const event of events) d.emit(event)
  })

function oneTurn(store: Store, n: number, open: boolean): Event[] {
  const about = { work_item_id: 'work_1' } as const
  const message = messageAdmitted({ id: store.mint('msg'), body: `Look at part ${n}.`, ...about })
  const turn = turnStarted({
    id: store.mint('turn'),
    cause: { kind: 'message', message_id: message.id },
    ...about,
  })
  const events: Event[] = [
    message,
    turn,
    { type: 'message_claimed', id: message.id, turn_id: turn.id, to_coalesce: false },
  ]
  for (let round = 1; round <= roundsPerTurn; round++) {
    const call = { ...callRecorded(turn.id, round, 0), id: store.mint('call'), ...about }
    const result = { tool_name: 'ReadFile', summary: 'read', result: { text: words.repeat(10) } }
    const part = { type: 'tool_call', provider_call_id: 'p0', tool_name: 'ReadFile' } as const
    events.push(
      requestSent(turn.id, round, about),
      {
        ...roundRecorded(`${turn.id}:${round}`),
        parts: [
          { type: 'text', text: words },
          { ...part, input_json: '{}' },
        ],
      },
      call,
      { type: 'call_started', id: call.id, intent: {}, task_id: null, ...about },
      { ...callFinished(call.id), result: { ...result, status: 'success' } },
    )
  }
  if (open) return events
  return [
    ...events,
    { type: 'message_consumed', id: message.id, turn_id: turn.id, because: 'answered' },
    turnEnded(turn.id),
  ]
}

/** Of an agent nobody runs: what a projection reads, and nothing that acts. */
function envOf(home: string, store: Store, ledger: Ledger): AgentPorts {
  const nothing = () => {
    throw new Error('nothing acts here')
  }
  const facts = () => ({ context_window: window, max_output: null })
  const models = { open: nothing, facts, price: () => null }
  const processes = { confinement: async () => ({ state: 'off' }) }
  const files = systemFiles()
  const ports = { home, ledger, files, processes, models, environment: {}, user_home: home }
  const given = [ports, store, nothing, { ofAgent: () => null }] as unknown as [
    AgentPorts['ports'],
    Store,
    AgentPorts['notify'],
    AgentPorts['urls'],
  ]
  return new AgentPorts('main', ...given)
}
