/**
 * A host in this process over a home of the bench: everything real but the model that it is given.
 * Closing it closes what was made for it.
 */
import { join } from 'node:path'
import { systemClock, systemIds } from '../src/exec/clock.ts'
import { systemFiles } from '../src/exec/files.ts'
import { createInspect } from '../src/exec/inspect.ts'
import { createProcesses } from '../src/exec/processes.ts'
import { createWorktrees } from '../src/exec/worktrees.ts'
import { openLedger } from '../src/ledger/open.ts'
import type { Ledger } from '../src/ledger/port.ts'
import { createHost } from '../src/runtime/host.ts'
import type { HostPorts } from '../src/runtime/ports.ts'
import { memoryIn } from './memory.ts'

/** `over` is what the host is given in the place of the ledger. */
export async function hostOver(
  home: string,
  open: HostPorts['models']['open'],
  over: (ledger: Ledger) => Ledger = (ledger) => ledger,
) {
  const clock = systemClock()
  const ids = systemIds()
  const opened = await openLedger(home, {
    clock_now: () => clock.now(),
    mint: (prefix) => ids.mint(prefix),
  })
  const ledger = over(opened)
  const parent_env = process.env
  const processes = createProcesses({ tasks_folder: join(home, 'tasks'), clock, parent_env })
  const looking = { parent_env, scratch_folder: join(home, 'scratch') }
  const host = createHost({
    home,
    ledger,
    clock,
    ids,
    files: systemFiles(),
    processes,
    worktrees: createWorktrees(looking),
    inspect: createInspect(looking),
    memory: memoryIn({ home, ledger, clock, processes }),
    models: {
      open,
      facts: () => ({
        context_window: 128_000,
        max_output: null,
        effort: null,
        request_minutes: null,
      }),
      price: () => null,
    },
    environment: {},
    user_home: home,
    has_listener: false,
  })
  return {
    host,
    close: async () => {
      await host.close('now')
      await processes.close()
      await opened.close()
    },
  }
}
