/**
 * Models by name, each opened once. Keys come from files, the environment and nowhere else. `acp`
 * gives the sessions of agents of other makers, when the first of their models is opened.
 */
import type { RunSettings } from '../cli/ports.ts'
import type { Model, Usage as ModelUsage } from '../models/model.ts'
import type { AcpPort } from '../models/acp-port.ts'
import type { ProviderSetting } from '../models/open-model.ts'
import { clock, env, expanded, files } from './machine.ts'

export async function modelsOf(config: RunSettings['config'], acp: () => Promise<AcpPort>) {
  const [{ openModel }, data, { keptAliveFetch }] = await Promise.all([
    import('../models/open-model.ts'),
    import('../models/model-data.ts'),
    import('../models/fetch.ts'),
  ])
  const fetching = keptAliveFetch()
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
    runbook: async () => (await import('../models/runbook/runbook-model.ts')).runbookModel(),
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
    facts: (id: string) => data.modelFacts(id),
    price: (id: string, usage: ModelUsage) => data.priceOf(usage, id),
    close: () => fetching.close(),
  }
}
