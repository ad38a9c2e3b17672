/**
 * An answer byte by byte, through the real adapter over HTTP: cut off at every byte, split at every
 * byte, and with one byte changed. Each request has one outcome, a round or a fault.
 */
import { isDeepStrictEqual } from 'node:util'
import { keptAliveFetch } from '../../src/models/transport/fetch.ts'
import type { ModelOutcome } from '../../src/models/model.ts'
import type { Endpoint } from '../../src/testing/model-server/server.ts'
import { adapters, asks, hear, openAdapter } from '../../src/testing/model-server/client.ts'
import { randomOf } from '../soak/random.ts'
import { framesOf, touch } from './corpus-frames.ts'
import { startTorturer } from './served.ts'

export type Swept = {
  cut_off: number
  split: number
  changed: number
  rounds: number
  faults: number
  problems: string[]
}

const answer = { text: 'Grüße an 世界 🌍.', calls: [touch('naïve🌍')] }

export async function sweepsOf(endpoint: Endpoint, seed: number, changes: number): Promise<Swept> {
  const done: Swept = { cut_off: 0, split: 0, changed: 0, rounds: 0, faults: 0, problems: [] }
  const torturer = await startTorturer(endpoint)
  const client = keptAliveFetch()
  const adapter = adapters.find((one) => one.endpoint === endpoint)
  if (adapter === undefined) throw new Error(`nobody speaks ${endpoint}`)
  const { base_url } = torturer
  const { model, id } = await openAdapter(adapter, { base_url, fetch: client.fetch })
  const ask = async (parts: Uint8Array[]): Promise<ModelOutcome> => {
    torturer.next({ body: parts }, 'whole', randomOf(seed, 'sweep'))
    const { outcome } = await hear(model, asks(id))
    if (outcome.ok) done.rounds += 1
    else done.faults += 1
    return outcome
  }
  try {
    const bytes = Buffer.from(framesOf(endpoint, answer).join(''))
    const whole = await ask([bytes])
    if (!whole.ok) throw new Error(`the whole answer is a fault: ${whole.fault.message}`)
    // Before the frame that says how it ended, nothing may count.
    const complete = bytes.lastIndexOf(endingOf(endpoint))
    for (let at = 0; at < bytes.length; at += 1) {
      const outcome = await ask([bytes.subarray(0, at)])
      done.cut_off += 1
      const wrong =
        outcome.ok && (at < complete || !isDeepStrictEqual(outcome.round.parts, whole.round.parts))
      if (wrong) done.problems.push(`${endpoint}: cut off at ${at} of ${bytes.length}, it counts`)
      const split = await ask([bytes.subarray(0, at), bytes.subarray(at)])
      done.split += 1
      if (!isDeepStrictEqual(split, whole)) done.problems.push(`${endpoint}: split at ${at}`)
    }
    const random = randomOf(seed, `changes of ${endpoint}`)
    for (; done.changed < changes; done.changed += 1) {
      const changed = Buffer.from(bytes)
      changed[random.between(0, bytes.length - 1)] = random.between(0, 255)
      await ask([changed])
    }
  } catch (error) {
    done.problems.push(`${endpoint}: ${String(error)}`)
  } finally {
    client.close()
    await torturer.close()
  }
  return done
}

/** What the frame has in which an answer says how it ended. */
function endingOf(endpoint: Endpoint): string {
  switch (endpoint) {
    case 'chat_completions':
      return '"finish_reason":"tool_calls"'
    case 'responses':
      return 'response.completed'
    case 'messages':
      return '"stop_reason":"tool_use"'
    case 'google':
      return '"finishReason"'
  }
}
