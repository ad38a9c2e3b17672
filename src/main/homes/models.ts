/**
 * Models by name, each opened once. Keys come from files, the environment and nowhere else. `acp`
 * gives the sessions of agents of other makers, when the first of their models is opened. What the
 * configuration says of a model's window and prices goes before our own data.
 */
import type { RunSettings } from '../../cli/command/run-ports.ts'
import type { TokenUsage as ModelUsage } from '../../models/model.ts'
import type { AcpPort } from '../../ports/acp.ts'
import type { Model } from '../../models/model.ts'
import type { ModelOverrides, Price } from '../../models/model-data.ts'
import type { ProviderSetting } from '../../models/catalogue/open-model.ts'
import { clock, env, expanded, files } from '../machine/machine.ts'

export async function modelsOf(config: RunSettings['config'], acp: () => Promise<AcpPort>) {
  const [{ openModel }, data, { keptAliveFetch }] = await Promise.all([
    import('../../models/catalogue/open-model.ts'),
    import('../../models/model-data.ts'),
    import('../../models/transport/fetch.ts'),
  ])
  const own = overridesOf(config)
  const fetching = keptAliveFetch(null, env)
  const opened = new Map<string, Model>()
  const settings = {
    providers: (config.providers ?? {}) as Record<string, ProviderSetting>,
    acp: Object.fromEntries(
      Object.entries(config.acp ?? {}).map(([name, setting]) => [
        name,
        { ...setting, command: expanded(setting.command) },
      ]),
    ),
    env,
    read_file: async (path: string) => new TextDecoder().decode((await files.read(path)).bytes),
  }
  const ports = {
    clock,
    fetch: fetching.fetch,
    acp,
    runbook: async () => (await import('../../models/runbook/runbook-model.ts')).runbookModel(),
  }
  return {
    async open(id: string) {
      const known = opened.get(id)
      if (known) return { ok: true as const, model: known }
      const found = await openModel(id, settings, ports)
      if (!found.ok) return { ok: false as const, ...found.rejection }
      opened.set(id, found.model)
      return found
    },
    facts: (id: string) => data.modelFacts(id, own),
    price: (id: string, usage: ModelUsage) => data.priceOf(usage, id, own),
    close: () => fetching.close(),
  }
}

/** What the configuration says of models, which goes before our own data. */
function overridesOf({ models = {} }: RunSettings['config']): ModelOverrides {
  return Object.fromEntries(
    Object.entries(models).map(
      ([
        id,
        { context_window, max_output, price, long_price, effort, request_minutes, vision },
      ]) => [
        id,
        {
          ...(context_window === undefined ? {} : { context_window }),
          ...(max_output === undefined ? {} : { max_output }),
          ...(effort === undefined ? {} : { effort }),
          ...(request_minutes === undefined ? {} : { request_minutes }),
          ...(vision === undefined ? {} : { vision }),
          ...(price === undefined ? {} : { price: pricesOf(price) }),
          ...(long_price === undefined
            ? {}
            : { long_price: { ...pricesOf(long_price), ...aboveOf(long_price) } }),
        },
      ],
    ),
  )
}

type GivenPrice = { input: number; output: number } & {
  cached_input?: number | undefined
  cache_write?: number | undefined
}

const pricesOf = ({ input, output, cached_input, cache_write }: GivenPrice): Price => ({
  input,
  output,
  cached_input: cached_input ?? null,
  cache_write: cache_write ?? null,
})

const aboveOf = ({ above_input_tokens }: { above_input_tokens: number }) => ({ above_input_tokens })
