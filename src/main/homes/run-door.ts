/**
 * The door of a run: other terminals' commands, and the home's API as a daemon has it, so that the
 * screen works while a run owns the home. It goes when the run ends.
 */
import type { Redactor } from '../../domain/secrets/redact.ts'
import type { Ledger } from '../../ledger/port.ts'
import type { Memory } from '../../runtime/memory/memory.ts'
import type { Host } from '../../runtime/ports.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import { ensureToken, readToken, writeDoor } from './control.ts'
import { openControlSocket } from './control-socket.ts'
import { homePort } from './home-port.ts'
import { clock, doorPath, files } from '../machine/machine.ts'

type TakenHome = { ledger: Ledger; host: Host; memory: Memory; redactor: Redactor }

/** Lets other terminals in: the token when there is none yet, the server, and its address. */
export async function openRunDoor(home: string, taken: TakenHome) {
  const [{ openDoor }, { checkAgainst }, { lateApp }] = await Promise.all([
    import('../../http/control-endpoint.ts'),
    import('../../http/gate/token.ts'),
    import('../../http/late-app.ts'),
  ])
  const { host, redactor } = taken
  redactor.register('control_token', await ensureToken(home))
  const open: { port: number | null } = { port: null }
  const api = lateApp(() => apiOf(home, taken, () => open.port))
  const door = await openDoor({
    act: (command) => host.act(command),
    token_is_valid: checkAgainst(() => readToken(home)),
    clock,
    api,
  })
  open.port = door.port
  await openControlSocket(home, door, null)
  const { port } = door
  await writeDoor(home, { pid: process.pid, port, url: `http://127.0.0.1:${port}` })
  return {
    async close() {
      // Streams end before the connections they are on.
      await Promise.all([files.remove(doorPath(home)), api.close()])
      await door.close()
    },
  }
}

/** What is asked of a daemon alone, a run refuses: upkeep, and events from outside. */
async function apiOf(home: string, taken: TakenHome, port: () => number | null) {
  const { ledger, host, memory, redactor } = taken
  const [{ buildApp }, known] = await Promise.all([import('../../http/app.ts'), ledger.agents()])
  const agents = new Set<string>(known.map(({ id }) => id))
  host.subscribe((notice) => {
    if (notice.kind === 'committed') agents.add(notice.agent_id)
  })
  return buildApp(
    homePort(ledger, host, {
      home,
      started_at: new Date(clock.now()).toISOString(),
      act: (command) => host.act(command),
      agent_ids: () => [...agents],
      ready: () => host.ready(),
      metrics: () => Promise.resolve(''),
      upkeep: { keep_days: null, retain: noUpkeep, backup: noUpkeep },
      redactor: () => Promise.resolve(redactor),
      search: (asked) => memory.search(null, asked),
    }),
    { clock, control_token: () => readToken(home), port, hosts: [] },
    {
      version: packageJson.version,
      webhooks: { find: () => Promise.resolve(null), now_ms: () => clock.now() },
      on_error: (error, request) => {
        const reason = error instanceof Error ? error.message : String(error)
        process.stderr.write(`holon: ${request} failed: ${reason}\n`)
      },
    },
  )
}

const noUpkeep = () =>
  Promise.resolve({
    ok: false as const,
    code: 'upkeep_running' as const,
    message: 'A run owns this home, and it does no upkeep beside its work.',
  })
