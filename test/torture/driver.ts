/**
 * One wire format under torture: the real adapter, the real host, HTTP on loopback, a clock that
 * moves when nothing else does. Every case is one turn; what must hold after each is checked here.
 */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { keptAliveFetch } from '../../src/models/transport/fetch.ts'
import { modelLimits } from '../../src/models/limits.ts'
import type { Endpoint } from '../../src/testing/model-server/server.ts'
import { adapters, openAdapter } from '../../src/testing/model-server/client.ts'
import { settle, virtualClock } from '../../src/testing/virtual-clock.ts'
import { ownScope } from '../crash/scenario.ts'
import { randomOf } from '../soak/random.ts'
import { openStage, type Stage } from '../support/stage.ts'
import type { Case } from './cases.ts'
import { answerCases } from './corpus-answers.ts'
import { frameCases } from './corpus-frames.ts'
import { httpCases } from './corpus-http.ts'
import { sizeCases } from './corpus-size.ts'
import { startTorturer, type Chunking, type Torturer } from './served.ts'

export type Tortured = {
  cases: number
  turns: number
  calls: number
  ran: number
  /** MiB above the beginning, at the worst moment. */
  peak_mib: number
  problems: string[]
}

/** Turns of one home: then a new one, so that the notices do not grow without end. */
const turnsOfOneHome = 25
/** MiB that a request may hold above what was held before it, garbage not counted. */
const mostMib = 256

/** Made anew for each way of cutting: some are generators. */
export const corpus = (endpoint: Endpoint): Case[] =>
  [
    ...frameCases(endpoint),
    ...answerCases(endpoint),
    ...httpCases(endpoint),
    ...sizeCases(endpoint),
  ].filter(({ only }) => only === undefined || only.includes(endpoint))

export async function tortureOf(
  endpoint: Endpoint,
  cut: Chunking,
  seed: number,
  only: string | null,
): Promise<Tortured> {
  const all = corpus(endpoint).filter(({ says }) => only === null || says === only)
  const done: Tortured = { cases: 0, turns: 0, calls: 0, ran: 0, peak_mib: 0, problems: [] }
  for (let at = 0; at < all.length; at += turnsOfOneHome) {
    await someOf(endpoint, cut, seed, all.slice(at, at + turnsOfOneHome), done)
  }
  return done
}

async function someOf(
  endpoint: Endpoint,
  cut: Chunking,
  seed: number,
  cases: readonly Case[],
  done: Tortured,
): Promise<void> {
  const scope = ownScope()
  const adapter = adapters.find((one) => one.endpoint === endpoint)
  if (adapter === undefined) throw new Error(`nobody speaks ${endpoint}`)
  const torturer = await startTorturer(endpoint)
  const client = keptAliveFetch()
  const clock = virtualClock()
  const { model, id } = await openAdapter(adapter, {
    base_url: torturer.base_url,
    fetch: client.fetch,
    clock,
  })
  try {
    const options = { models: { [id]: model }, clock, setting: { model: id } }
    const stage = await openStage(scope, options)
    const memory = watchMemory(torturer)
    for (const one of cases) {
      const where = `npm run torture -- --wire ${endpoint} --cut "${cut}" --case "${one.says}"`
      const before = await stage.rows('turns')
      memory.begin()
      torturer.next(one.served, cut, randomOf(seed, one.says))
      await turnOf(stage, torturer).catch((error: unknown) => {
        done.problems.push(`${where}: ${String(error)}`)
      })
      const mib = memory.peakMib()
      done.cases += 1
      done.peak_mib = Math.max(done.peak_mib, mib)
      if (mib > mostMib) done.problems.push(`${where}: it held ${mib} MiB`)
      const found = await wrongOf(stage, torturer, one, before.length, done)
      done.problems.push(...found.map((problem) => `${where}: ${problem}`))
      for (const problem of found) console.error(`problem: ${where}: ${problem}`)
      for (const file of readdirSync(stage.box.workspace)) rmSync(join(stage.box.workspace, file))
    }
    await stage.sound()
  } catch (error) {
    done.problems.push(`${endpoint}, ${cut}, ${cases[0]?.says} and on: ${String(error)}`)
  } finally {
    client.close()
    await torturer.close()
    await scope.close()
  }
}

/** Says a word, and does what time and the operator do until the turn is over. */
async function turnOf(stage: Stage, torturer: Torturer): Promise<void> {
  await stage.act({ do: 'send', text: 'Begin.' })
  const resting = stage.rest()
  const quiet = torturer.silent().then(async () => {
    await settle(5)
    await stage.clock.advance(modelLimits.first_event_local.value)
  })
  await Promise.race([resting, quiet])
  await resting
  for (let n = 0; n < 12; n += 1) {
    const { next } = stage
    if (next.do !== 'wait' || next.for !== 'system') return
    if (next.until === null) {
      await stage.act({ do: 'start_agent' })
      await stage.rest()
    } else await stage.passOn()
  }
  throw new Error('it was held again and again')
}

async function wrongOf(
  stage: Stage,
  torturer: Torturer,
  { fate, runs = [] }: Case,
  known: number,
  done: Tortured,
): Promise<string[]> {
  const wrong: string[] = []
  const fault = stage.box.notices.find(({ kind }) => kind === 'fault')
  if (fault?.kind === 'fault') wrong.push(`the host failed: ${fault.message}`)
  const turns = (await stage.rows('turns')).slice(known)
  done.turns += turns.length
  const open = turns.filter(({ state }) => state !== 'ended')
  if (turns.length !== 1 || open.length > 0) {
    wrong.push(`turns: ${JSON.stringify(turns.map(({ outcome, reason }) => [outcome, reason]))}`)
  }
  const outcomes = fate === 'refused' ? ['failed', 'completed'] : ['completed']
  const [turn] = turns
  if (turn && !outcomes.includes(String(turn.outcome))) {
    wrong.push(`the turn is ${turn.outcome}, ${turn.reason}`)
  }
  const calls = (await stage.rows('calls')).filter(({ turn_id }) => turn_id === turn?.id)
  done.calls += calls.length
  const without = calls.filter(({ result }) => result === null)
  if (without.length > 0) wrong.push(`${without.length} calls without a result`)
  const waiting = (await stage.rows('messages')).filter(({ status }) => {
    return status === 'queued' || status === 'claimed'
  })
  if (waiting.length > 0) wrong.push(`${waiting.length} messages still wait`)
  const files = readdirSync(stage.box.workspace).toSorted()
  done.ran += files.length
  const allowed = fate === 'broken' || fate === 'refused' ? [] : runs
  const stray = files.filter((file) => !allowed.includes(file))
  if (stray.length > 0) wrong.push(`it ran ${stray.join(', ')}`)
  if (fate === 'whole' && files.length !== runs.length) wrong.push(`it ran only ${files}`)
  if (fate === 'broken' && calls.length > 0) wrong.push(`${calls.length} calls of a broken answer`)
  if (fate === 'broken' && torturer.requests < 2) wrong.push('it was not asked again')
  const refused = torturer.violations as string[]
  if (refused.length > 0) wrong.push(`a provider would refuse: ${refused.splice(0).join('; ')}`)
  return wrong
}

const held = (): number => {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function watchMemory(torturer: Torturer) {
  let base = 0
  let peak = 0
  const look = () => {
    let now = held()
    if (now - base > 64 * 1_048_576) {
      globalThis.gc?.()
      now = held()
    }
    peak = Math.max(peak, now)
  }
  torturer.on_piece = look
  return {
    begin() {
      base = held()
      peak = base
    },
    peakMib(): number {
      return Math.round((peak - base) / 1_048_576)
    },
  }
}
