/**
 * What stands ready on this machine for `holon init`: servers of models on the ports that Ollama,
 * LM Studio and llama.cpp listen on, and programs of other makers with a plan of their own. Nothing
 * leaves the machine: the loopback is asked, without a proxy.
 */
import type { FoundHere, PlanFound } from '../../cli/command/setup-ports.ts'
import { findProgram } from '../../exec/program.ts'
import { listModels } from '../../models/catalogue/list-models.ts'
import { keptAliveFetch } from '../../models/transport/fetch.ts'
import { clock, env } from '../machine/machine.ts'

const ports = [11_434, 1_234, 8_080]
/** Milliseconds in which a server that is there says what it has. */
const patience = 500

/** Neither program speaks the protocol itself; newer adapters first. */
const plans = [
  {
    name: 'claude',
    adapters: ['claude-agent-acp', 'claude-code-acp'],
    package: '@agentclientprotocol/claude-agent-acp',
  },
  { name: 'codex', adapters: ['codex-acp'], package: '@agentclientprotocol/codex-acp' },
] as const

export async function foundHere(): Promise<FoundHere> {
  const found = await Promise.all(ports.map(serverAt))
  return {
    servers: found.filter((one) => one !== null),
    plans: plans.flatMap(({ name, adapters, package: brings }): PlanFound[] => {
      const path = env['PATH'] ?? ''
      const adapter = findProgram(adapters, path)
      if (adapter === null && findProgram([name], path) === null) return []
      return [
        { name, adapter: adapter?.slice(adapter.lastIndexOf('/') + 1) ?? null, package: brings },
      ]
    }),
  }
}

async function serverAt(port: number): Promise<FoundHere['servers'][number] | null> {
  const base_url = `http://127.0.0.1:${port}/v1`
  const kept = keptAliveFetch()
  const late = new AbortController()
  const cancel = clock.after(patience, () => late.abort())
  const where = { kind: 'openai-compatible', base_url, key: null } as const
  try {
    const listed = await listModels(where, kept.fetch, late.signal)
    return listed.ok && listed.models.length > 0 ? { base_url, models: listed.models } : null
  } catch {
    return null
  } finally {
    cancel()
    kept.close()
  }
}
