/**
 * What a search costs over many records, by hand: `node bench/studies/search.ts <folder>
 * [records]`. Makes the home in the folder, or finds it there; builds the index, and prints how
 * long that takes and how large it is, and the time of each kind of query, also right after a
 * commit: on the wall, and of this process alone, which a machine with other work does not change.
 */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AgentFacts } from '../../src/domain/facts/agent-facts.ts'
import { createProcesses } from '../../src/exec/commands/processes.ts'
import { systemClock } from '../../src/exec/clock.ts'
import { Draft } from '../../src/domain/facts/facts.ts'
import type { Event } from '../../src/domain/state/event.ts'
import { fromMs } from '../../src/domain/time.ts'
import { openLedger } from '../../src/ledger/store/open.ts'
import type { Ledger } from '../../src/ledger/port.ts'
import type { Memory } from '../../src/runtime/memory/memory.ts'
import { memoryIn } from '../fixtures/memory.ts'
import {
  agentCreated,
  briefDelivered,
  callFinished,
  callRecorded,
  freshMint,
  itemCompleted,
  itemCreated,
  messageAdmitted,
  requestSent,
  roundRecorded,
  turnEnded,
  turnStarted,
} from '../../src/testing/events.ts'

const [, , folder, asked] = process.argv
if (folder === undefined) throw new Error('usage: node bench/studies/search.ts <folder> [records]')
const records = Number(asked ?? 100_000)
const home = join(folder, `search-${records}`)
const agents = 8
const times = 100

/** The same bytes each time; words are as unevenly common as in a language. */
let seed = 12_345
const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31
const syllables = 'ba co di fu ge ha ki lo mu ne pa ro si ta ve wo xi yu za che str ing er'.split(
  ' ',
)
const vocabulary = Array.from({ length: 20_000 }, (_, i) => {
  const word = [7, 11, 13].map((n) => syllables[(i * n + (i >> 3)) % syllables.length]).join('')
  const name = word + (i % 97)
  if (i % 9 === 5) return `parse${name[0]?.toUpperCase()}${name.slice(1)}File`
  return i % 7 === 3 ? `src/${word}/${name}.ts` : name
})
const word = () => vocabulary[Math.floor(vocabulary.length * random() ** 3)] ?? ''
const text = (most: number) =>
  Array.from({ length: 10 + Math.floor(random() * most) }, word).join(' ')

function turnOf(): Event[] {
  const item = itemCreated({ id: freshMint('work'), objective: text(10) })
  const about = { work_item_id: item.id }
  const message = messageAdmitted({ body: text(60), ...about })
  const turn = turnStarted(about)
  const events: Event[] = [message, turn, item]
  for (let round = 1; round <= 8; round++) {
    const call = { ...callRecorded(turn.id, round, 0), tool_name: 'ExecCommand', ...about }
    const finished = callFinished(call.id)
    const result = { ...finished.result, tool_name: 'ExecCommand', result: { stdout: text(150) } }
    events.push(
      requestSent(turn.id, round, about),
      { ...roundRecorded(`${turn.id}:${round}`), parts: [{ type: 'text', text: text(60) }] },
      { ...call, input: { cmd: text(12) } },
      { type: 'call_started', id: call.id, intent: {}, task_id: null, ...about },
      { ...finished, result: result as typeof finished.result },
    )
  }
  return [
    ...events,
    itemCompleted(item.id),
    briefDelivered({ kind: 'result', text: text(80), ...about }),
    { type: 'message_consumed', id: message.id, turn_id: turn.id, because: 'answered' },
    turnEnded(turn.id),
  ]
}

let now = Date.parse('2025-06-01T00:00:00.000Z')
async function commit(ledger: Ledger, facts: AgentFacts, events: readonly Event[]): Promise<void> {
  now += 1_000
  const draft = new Draft(facts, { now: fromMs(now), mint: freshMint, causation_id: 'bench' })
  for (const event of events) draft.emit(event)
  const rows = [...draft.changed()]
  const { agent_id, seq: expect_seq } = facts
  const change = { agent_id, expect_seq, at: draft.now, events: draft.emitted, rows }
  const done = await ledger.commit(change)
  if (!done.ok) throw new Error('somebody else writes here')
  facts.apply(rows, done.seq, draft.now)
}

async function write(ledger: Ledger): Promise<void> {
  const lanes = Array.from({ length: agents }, (_, i) => new AgentFacts(`agent-${i}`))
  for (const facts of lanes) await commit(ledger, facts, [agentCreated(facts.agent_id)])
  for (let n = 0, turn = 0; n < records; n += 19, turn++) {
    const facts = lanes[turn % agents]
    if (facts) await commit(ledger, facts, turnOf())
  }
}

const say = (what: string, ...values: (number | string)[]) =>
  console.log(
    what.padEnd(44),
    ...values.map((one) => (typeof one === 'number' ? one.toFixed(2).padStart(9) : one)),
  )
const at = (all: readonly number[], part: number) => all[Math.floor(all.length * part)] ?? 0

type Viewer = string | null
const every = { wall: [] as number[], own: [] as number[] }
/** Milliseconds this process has worked. */
const worked = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
function sayTimes(what: string, wall: number[], own: number[], more = ''): void {
  wall.sort((a, b) => a - b)
  own.sort((a, b) => a - b)
  say(what, at(wall, 0.5), at(wall, 0.95), wall.at(-1) ?? 0, at(own, 0.5), at(own, 0.95), more)
}
async function measure(what: string, memory: Memory, viewer: Viewer, query: () => string) {
  const [wall, own]: [number[], number[]] = [[], []]
  let found = 0
  for (let i = 0; i < times; i++) {
    const asked = { query: query(), kinds: null, agent_id: null, limit: 10 }
    const [began, before] = [performance.now(), worked()]
    const answer = await memory.search(viewer, asked)
    wall.push(performance.now() - began)
    own.push(worked() - before)
    if (!answer.ok) throw new Error(answer.message)
    if (!answer.answer.complete) throw new Error(answer.answer.incomplete_because ?? '')
    found += answer.answer.hits.length
  }
  every.wall.push(...wall)
  every.own.push(...own)
  sayTimes(what, wall, own, `${(found / times).toFixed(1)} found`)
}

const isNew = !existsSync(home)
const clock = systemClock()
const ledger = await openLedger(home, { clock_now: () => clock.now(), mint: freshMint })
if (isNew) await write(ledger)
const processes = createProcesses({ tasks_folder: join(home, 'tasks'), clock, parent_env: {} })
const memory = memoryIn({ home, ledger, clock, processes })
const [began, before] = [performance.now(), worked()]
await memory.settle()
say('building the index, ms: on the wall, of its own', performance.now() - began, worked() - before)
const size = (name: string) => statSync(join(home, 'ledger', name)).size / 2 ** 20
say('ledger, MiB', size('ledger.sqlite'))
say('index with its log, MiB', size('search.sqlite') + size('search.sqlite-wal'))

console.log(`${''.padEnd(44)}       p50       p95       max   own p50   own p95  ms`)
const [common = '', second = ''] = vocabulary
const rare = () => vocabulary[10_000 + Math.floor(random() * 9_000)] ?? ''
for (const viewer of [null, 'agent-3']) {
  const who = viewer === null ? 'the home' : 'one of 8 agents'
  await measure(`a usual word, ${who}`, memory, viewer, word)
  await measure(`a rare word, ${who}`, memory, viewer, rare)
  await measure(`the commonest word, ${who}`, memory, viewer, () => common)
  await measure(`two common words, ${who}`, memory, viewer, () => `${common} ${second}`)
  await measure(`three words, ${who}`, memory, viewer, () => `${word()} ${word()} ${rare()}`)
  await measure(`a prefix of three letters, ${who}`, memory, viewer, () => `${word().slice(0, 3)}*`)
  await measure(`a prefix of five letters, ${who}`, memory, viewer, () => `${word().slice(0, 5)}*`)
  await measure(`a common path, ${who}`, memory, viewer, () => vocabulary[3] ?? '')
  await measure(`a phrase, ${who}`, memory, viewer, () => `"${common} ${second}"`)
  await measure(`a part of camelCase, ${who}`, memory, viewer, () => 'parse')
  await measure(`nothing, ${who}`, memory, viewer, () => 'nowhereToBeFound')
}
const lane = new AgentFacts('bystander-' + freshMint('x').slice(-8))
now = clock.now()
await commit(ledger, lane, [agentCreated(lane.agent_id)])
const fresh = { wall: [] as number[], own: [] as number[] }
for (let i = 0; i < times; i++) {
  const mark = `written${freshMint('x').slice(-12)}`
  await commit(ledger, lane, [briefDelivered({ text: `${text(40)} ${mark}` })])
  const [from, before] = [performance.now(), worked()]
  const asked = { query: mark, kinds: null, agent_id: null, limit: 10 }
  const answer = await memory.search(lane.agent_id, asked)
  fresh.wall.push(performance.now() - from)
  fresh.own.push(worked() - before)
  if (!answer.ok || answer.answer.hits.length !== 1)
    throw new Error('what was written is not found')
}
every.wall.push(...fresh.wall)
every.own.push(...fresh.own)
sayTimes('what was committed just before', fresh.wall, fresh.own)
sayTimes('all of these', every.wall, every.own)
await memory.close()
await processes.close()
await ledger.close()
