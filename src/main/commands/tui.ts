/** The screen's ports on this machine: the daemon's API, the terminal, drafts in the home. */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Screen, ScreenHelp } from '../../cli/command/screen-port.ts'
import { keptAliveFetch } from '../../models/transport/fetch.ts'
import { runTui } from '../../tui/run.ts'
import type { TuiPorts } from '../../tui/ports.ts'
import { signalsOff } from '../../tui/signals.ts'
import { beforeEnds } from '../machine/ended-from-outside.ts'
import { atWork } from '../machine/started.ts'
import { readDoor, readToken } from '../homes/control.ts'
import { called, clock, env, files, ids, readText, socketPath } from '../machine/machine.ts'

/** Bytes of all drafts of a home. */
const draftsLimit = 1_048_576

/** Bytes of an example: what a person may send. */
const exampleLimit = 65_536

/** The program is begun by a file in one of its folders, by whatever name that was called. */
const programFolder = (): string => join(realpathSync(process.argv[1] ?? ''), '..', '..')

/** Runs until the person leaves. */
export const openScreen: Screen = async (home, look, help) => {
  const kept = keptAliveFetch(socketPath(home))
  const forget = look.plain ? () => {} : beforeEnds(() => void process.stdout.write(signalsOff))
  try {
    const run = look.plain ? (await import('../../tui/plain.ts')).runPlain : runTui
    return await run(portsOf(home, kept, help), { ...look, motion: !env['NO_MOTION'], called })
  } finally {
    forget()
    kept.close()
  }
}

function portsOf(
  home: string,
  kept: ReturnType<typeof keptAliveFetch>,
  help: ScreenHelp,
): TuiPorts {
  return {
    async door() {
      const { url, started_at } = (await readDoor(home))?.address ?? {}
      if (url === undefined) return null
      return { url, of: started_at === undefined ? 'run' : 'daemon' }
    },
    start: () => help.start(),
    api: {
      fetch: (url, init) => kept.fetch(url, init),
      clock,
      mint_key: () => ids.mint('key'),
      token: () => readToken(home),
    },
    clock,
    stdin: process.stdin,
    stdout: process.stdout,
    drafts: draftsIn(join(home, 'drafts.json')),
    copy: async (text) => (await import('../../exec/daemon/terminal-tools.ts')).copyText(text, env),
    edit: async (text) => (await import('../../exec/daemon/terminal-tools.ts')).editText(text, env),
    suspend: async () => (await import('../../exec/daemon/terminal-tools.ts')).suspendUntilWoken(),
    page: async (text) => (await import('../../exec/daemon/terminal-tools.ts')).pageText(text, env),
    async example() {
      const read = await readText(join(programFolder(), 'examples', 'health.md'), exampleLimit)
      return read.ok ? read.text : null
    },
    at_work: atWork,
  }
}

/** What cannot be read is no draft: the screen opens without it. */
function draftsIn(path: string): TuiPorts['drafts'] {
  return {
    async read() {
      const read = await readText(path, draftsLimit)
      if (!read.ok) return {}
      try {
        const found: unknown = JSON.parse(read.text)
        return Object.fromEntries(
          Object.entries(Object(found) as object).filter((one) => typeof one[1] === 'string'),
        ) as Record<string, string>
      } catch {
        return {}
      }
    },
    write: (drafts) => files.write_atomic(path, `${JSON.stringify(drafts)}\n`, 0o600),
  }
}
