/**
 * The HTTP API of a home that nobody serves, in memory and for reading only: the same application
 * over a ledger that is only read. So `--json` prints the same records with a daemon and without.
 */
import { join } from 'node:path'
import { Api, type Fetch } from '../../client/api.ts'
import type { Processes } from '../../exec/ports.ts'
import type { Application } from '../../http/app.ts'
import { factsOf } from '../../protocol/agent-view.ts'
import type { Facts } from '../../protocol/records/records.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import { ownerOf, readToken } from './control.ts'
import { homePort, type HostReads } from './home-port.ts'
import { clock, env, ids, readText } from '../machine/machine.ts'
import { memoryOf } from './memory.ts'
import { openHomeReader } from './reader.ts'

/** It is asked by us alone: what the gate wants to see is made up here. */
const port = 1
const base_url = `http://127.0.0.1:${port}`

const onlyRead = () => Promise.reject(new Error('a home that nobody serves is only read'))

type Reader = NonNullable<Awaited<ReturnType<typeof openHomeReader>>>

/** Null when there is no ledger yet. `close` gives it back. */
export async function offlineApi(home: string) {
  const reader = await openHomeReader(home)
  if (reader === null) return null
  const [{ buildApp }, { createProcesses }, facts] = await Promise.all([
    import('../../http/app.ts'),
    import('../../exec/commands/processes.ts'),
    factsIn(reader),
  ])
  const tasks_folder = join(home, 'tasks')
  const processes = createProcesses({ tasks_folder, clock, parent_env: env, pass: [] })
  let memory: ReturnType<typeof offlineMemory> | null = null
  const token = ids.token(32)
  const app = buildApp(
    homePort(reader, hostOf(reader, facts, processes), {
      home,
      started_at: new Date(clock.now()).toISOString(),
      act: onlyRead,
      agent_ids: () => [...facts.keys()],
      ready: () => false,
      metrics: () => Promise.resolve(''),
      // A run may own it: it has no API, and its agents go on all the same.
      has_owner: (await ownerOf(home)) !== null,
      redactor: () => offlineRedactor(home),
      upkeep: { keep_days: null, retain: onlyRead, backup: onlyRead },
      search: async (asked) =>
        (await (memory ??= offlineMemory(home, reader, processes))).search(null, asked),
    }),
    { clock, control_token: () => Promise.resolve(token), port: () => port, hosts: [] },
    {
      version: packageJson.version,
      webhooks: { find: () => Promise.resolve(null), now_ms: () => clock.now() },
      on_error: (error) => {
        throw error
      },
    },
  )
  return {
    api: apiOver(app, token),
    async close() {
      app.close()
      await Promise.all([memory?.then((one) => one.close()), processes.close()])
      await reader.close()
    },
  }
}

/** Takes into the index what was committed since, without the secrets of the configuration. */
async function offlineMemory(home: string, ledger: Reader, processes: Processes) {
  return memoryOf({ home, ledger, processes, redactor: await offlineRedactor(home) })
}

/** Knows the secrets of the configuration, as it is now. */
async function offlineRedactor(home: string) {
  const [{ readConfig }, { secretsOf }, { nearest }] = await Promise.all([
    import('../../cli/command/config-file.ts'),
    import('./secrets.ts'),
    import('../../models/nearest.ts'),
  ])
  const { config } = await readConfig({ read_text: readText, nearest }, home)
  const { redactor } = await secretsOf(config)
  redactor.register('control_token', (await readToken(home)) ?? '')
  return redactor
}

async function factsIn(reader: Reader): Promise<Map<string, Facts>> {
  const facts = new Map<string, Facts>()
  for (const { id } of await reader.agents()) {
    const live = await reader.live(id)
    if (live !== null) facts.set(id, factsOf(id, live))
  }
  return facts
}

/** What a host would say of a home in which nothing goes on. */
function hostOf(
  reader: Reader,
  facts: ReadonlyMap<string, Facts>,
  processes: Processes,
): HostReads {
  return {
    subscribe: () => () => {},
    followOutput: () => () => {},
    facts: (agent_id) => facts.get(agent_id) ?? null,
    liveSigns: () => [],
    liveTexts: () => [],
    plan: (item) => reader.plan(item),
    async taskOutput(task_id, { stream, offset, limit }) {
      const seen = await processes.observe(task_id)
      if (seen.state === 'absent') return null
      const read = await processes.output(task_id, { stream, from: offset, max_bytes: limit })
      const next_offset = read.from + read.bytes
      const ended = seen.state !== 'running'
      return { text: read.text, next_offset, size: seen.output[`${stream}_bytes`], ended }
    },
    degraded: () => null,
    triggerUrl: () => null,
  }
}

function apiOver(app: Application, token: string): Api {
  const fetch: Fetch = async (url, { method, headers, body }) => {
    const named = { ...headers, host: `127.0.0.1:${port}` }
    const init = { method, headers: named, ...(body === undefined ? {} : { body }) }
    return app.fetch(new Request(url, init), {})
  }
  const mint_key = () => ids.mint('key')
  return new Api({ fetch, clock, mint_key, token: () => Promise.resolve(token) }, { base_url })
}
