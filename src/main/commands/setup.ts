/**
 * The real ports of `holon init`: a line typed unseen, the models of a provider that is not
 * configured yet, and one request to one of them. A key is handed over in memory only.
 */
import { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import type { Candidate, SetupPorts, SetupRefusal } from '../../cli/command/setup-ports.ts'
import type { priceOf } from '../../models/model-data.ts'
import type { Model, ModelRequest, ToolSpec } from '../../models/model.ts'
import { clock, env } from '../machine/machine.ts'

/** Milliseconds for a list of models, and for the answer to the test. */
const [listPatience, tryPatience] = [15_000, 60_000]

/** `interrupted` is called for a ctrl+c while a secret is typed. */
export function setupPorts(interrupted: () => void): SetupPorts {
  return {
    ask_secret: (prompt, signal) => askSecret(prompt, signal, interrupted),
    async usual(kind) {
      const { usualOf } = await import('../../models/catalogue/open-model.ts')
      const { base_url, key_env } = usualOf(kind)
      const is_set = (env[key_env] ?? '').trim() !== ''
      return { base_url, key_variable: is_set ? key_env : null }
    },
    key_in: (variable) => (env[variable] ?? '').trim() || null,
    async list_models(candidate, signal) {
      const [{ listModels }, { keptAliveFetch }, { modelFacts }] = await Promise.all([
        import('../../models/catalogue/list-models.ts'),
        import('../../models/transport/fetch.ts'),
        import('../../models/model-data.ts'),
      ])
      const kept = keptAliveFetch(null, env)
      try {
        const listed = await within(listPatience, signal, (one) =>
          listModels(candidate, kept.fetch, one),
        )
        if (listed === null) return refusal('it does not answer in time')
        if (!listed.ok) return listed
        const known = (name: string) =>
          modelFacts(`${candidate.kind}/${name}`, {}).price === null ? 1 : 0
        return { ok: true, models: listed.models.toSorted((a, b) => known(a) - known(b)) }
      } finally {
        kept.close()
      }
    },
    try_model: (candidate, model, signal) => tried(candidate, model, signal),
    found: async () => (await import('./setup-found.ts')).foundHere(),
  }
}

const refusal = (message: string): SetupRefusal => ({ ok: false, refused_key: false, message })

/** Null when the time is up first. Rejects with the signal's reason. */
async function within<T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const late = new AbortController()
  const cancel = clock.after(ms, () => late.abort())
  try {
    return await work(AbortSignal.any([signal, late.signal]))
  } catch (error) {
    if (late.signal.aborted && !signal.aborted) return null
    throw error
  } finally {
    cancel()
  }
}

/** Agents work by calling tools: a model that only talks passes no test without one. */
const ready: ToolSpec = {
  name: 'Ready',
  description: 'Says that you can be reached.',
  input_schema: { type: 'object', properties: {}, required: [], additionalProperties: false },
}

const question = (model: string): ModelRequest => ({
  model,
  system: 'You are asked whether you can be reached and can call tools.',
  tools: [ready],
  tool_choice: 'auto',
  messages: [{ role: 'user', content: 'Call the tool Ready, and say nothing else.' }],
  max_output_tokens: null,
  situation: null,
})

async function tried(candidate: Candidate, name: string, signal: AbortSignal) {
  const [{ openModel }, data, { keptAliveFetch }] = await Promise.all([
    import('../../models/catalogue/open-model.ts'),
    import('../../models/model-data.ts'),
    import('../../models/transport/fetch.ts'),
  ])
  const { kind, base_url, key } = candidate
  const kept = keptAliveFetch(null, env)
  const setting = {
    kind,
    ...(base_url === null ? {} : { base_url }),
    // The key is not in a file yet: this name is only looked up below.
    ...(key === null ? {} : { api_key_file: 'the key that was given' }),
  }
  try {
    const model = `${kind}/${name}`
    const opened = await openModel(
      model,
      { providers: { [kind]: setting }, env: {}, read_file: () => Promise.resolve(key ?? '') },
      { clock, fetch: kept.fetch },
    )
    if (!opened.ok) return refusal(opened.rejection.message.replace(/\.$/, ''))
    return await timed(opened.model, model, signal, data.priceOf)
  } finally {
    kept.close()
  }
}

type PriceOf = typeof priceOf

async function timed(opened: Model, model: string, signal: AbortSignal, price: PriceOf) {
  const from = clock.monotonic()
  const outcome = await within(tryPatience, signal, (one) =>
    opened.request(question(model), { signal: one }),
  )
  signal.throwIfAborted()
  if (outcome === null) return refusal('it does not answer in time')
  if (!outcome.ok) {
    const { code, message } = outcome.fault
    if (code === 'aborted') return refusal('it does not answer in time')
    return {
      ok: false as const,
      refused_key: code === 'unauthorized',
      message: message.replace(/\.$/, ''),
    }
  }
  const { usage, parts } = outcome.round
  const calls = parts.some(({ type }) => type === 'tool_call')
  const { input_tokens, output_tokens } = usage
  const tokens =
    input_tokens === null || output_tokens === null ? null : input_tokens + output_tokens
  const ms = Math.round(clock.monotonic() - from)
  return { ok: true as const, ms, tokens, usd: price(usage, model, {}), calls }
}

/** The line editor echoes into nothing; what is typed is shown nowhere, not even as stars. */
async function askSecret(
  prompt: string,
  signal: AbortSignal,
  interrupted: () => void,
): Promise<string | null> {
  const { createInterface } = process.getBuiltinModule('node:readline')
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = isatty(0)
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal })
  process.stderr.write(prompt)
  const done = (line: string | null) => {
    resolve(line)
    lines.close()
  }
  lines.on('line', done)
  lines.on('close', () => {
    process.stderr.write('\n')
    resolve(null)
  })
  lines.on('SIGINT', interrupted)
  signal.addEventListener('abort', () => done(null), { once: true })
  return promise
}
