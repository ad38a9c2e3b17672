/**
 * The other end of the model server, for tests: each adapter opened against it as a user would,
 * and a clock that moves only when told.
 */
import type {
  Model,
  ModelClock,
  ModelEvent,
  ModelOutcome,
  ModelRequest,
} from '../../models/model.ts'
import type { FetchFunction } from '../../models/transport/fetch.ts'
import type { ProviderKind } from '../../models/catalogue/open-model.ts'
import { openModel } from '../../models/catalogue/open-model.ts'
import type { Endpoint } from './wire.ts'

/** Each format with the adapter that speaks it and a model it knows. */
export const adapters: readonly { endpoint: Endpoint; kind: ProviderKind; name: string }[] = [
  { endpoint: 'chat_completions', kind: 'openai-compatible', name: 'local-model' },
  { endpoint: 'responses', kind: 'openai', name: 'gpt-5' },
  { endpoint: 'messages', kind: 'anthropic', name: 'claude-sonnet-4-6' },
  { endpoint: 'google', kind: 'google', name: 'gemini-2.5-pro' },
]

export type ModelClientOptions = {
  base_url: string
  fetch: FetchFunction
  clock?: ModelClock
  key?: string
}

export async function openAdapter(
  { kind, name }: { kind: ProviderKind; name: string },
  { base_url, fetch, clock = handClock(), key = 'test-key' }: ModelClientOptions,
): Promise<{ model: Model; id: string }> {
  const id = `${kind}/${name}`
  const providers = { [kind]: { kind, base_url, api_key_env: 'KEY' } }
  const settings = { providers, env: { KEY: key }, read_file: () => Promise.reject(new Error()) }
  const opened = await openModel(id, settings, { clock, fetch })
  if (!opened.ok) throw new Error(opened.rejection.message)
  return { model: opened.model, id }
}

/** A request with everything defaulted but what matters to the test. */
export const asks = (model: string, more: Partial<ModelRequest> = {}): ModelRequest => ({
  model,
  system: 'You are terse.',
  tools: [],
  tool_choice: 'auto',
  messages: [{ role: 'user', content: 'Hello.' }],
  max_output_tokens: null,
  situation: null,
  ...more,
})

export type ModelExchange = { outcome: ModelOutcome; events: ModelEvent[] }

/** Sends and listens to the end. */
export async function hear(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelExchange> {
  const events: ModelEvent[] = []
  const outcome = await model.request(request, { signal, on_event: (event) => events.push(event) })
  return { outcome, events }
}

export type HandClock = ModelClock & {
  /** Moves time and fires what is due, in order. */
  advance(ms: number): void
  /** Timers not yet fired or cancelled. */
  pending(): number
}

export function handClock(start = Date.UTC(2026, 10, 21)): HandClock {
  let now = start
  let timers: { at: number; fn: () => void }[] = []
  return {
    now: () => now,
    after(ms, fn) {
      const timer = { at: now + ms, fn }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    pending: () => timers.length,
    advance(ms) {
      const end = now + ms
      for (;;) {
        const due = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (due === undefined) break
        timers = timers.filter((other) => other !== due)
        now = Math.max(now, due.at)
        due.fn()
      }
      now = end
    },
  }
}
