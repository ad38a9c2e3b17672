/**
 * A home with a real ledger, files and index, and its memory over them; agents are lanes, so a
 * test says what is committed. And what is in an index, in words that do not depend on when and in
 * which order it was put there.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import type { MemoryHit, MemoryKind, MemoryQuery } from '../../domain/memory/memory.ts'
import type { Redactor } from '../../domain/secrets/redact.ts'
import { systemClock } from '../../exec/clock.ts'
import { systemFiles } from '../../exec/files/files.ts'
import { createProcesses } from '../../exec/commands/processes.ts'
import { openLedger } from '../../ledger/store/open.ts'
import type { Ledger, LedgerReads } from '../../ledger/port.ts'
import { searchIndexIn, searchPath } from '../../ledger/search/search-index.ts'
import type { SearchIndex } from '../../ledger/search/port.ts'
import { Memory, type MemoryPorts } from '../../runtime/memory/memory.ts'
import { LedgerWorld } from './ledger-world.ts'
import type { EventOf } from '../../domain/state/event.ts'
import { agentCreated, freshMint } from '../events.ts'

export type MemoryHome = {
  home: string
  ledger: Ledger
  memory: Memory
  lane(agent_id: string, more?: Partial<EventOf<'agent_created'>>): Promise<LedgerWorld>
  /** Writes a file into an agent's home. */
  file(agent_id: string, path: string, text: string | Uint8Array): void
  /** A folder for agents to work in, beside the home, with these files. */
  workspace(name: string, files: Readonly<Record<string, string>>): string
  found(viewer: string | null, query: string, more?: Partial<MemoryQuery>): Promise<MemoryHit[]>
  refs(viewer: string | null, query: string, more?: Partial<MemoryQuery>): Promise<string[]>
  /** Another memory over the same home, as another process would have it. */
  again(more?: MemoryOptions): Memory
}

export type MemoryOptions = {
  redactor?: Redactor
  over?: (index: SearchIndex) => SearchIndex
  ledger?: LedgerReads
  clock?: MemoryPorts['clock']
}

export async function memoryHome(t: TestContext, options: MemoryOptions = {}): Promise<MemoryHome> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'holon-memory-')))
  const home = join(top, 'home')
  mkdirSync(home)
  const clock = systemClock()
  const ledger = await openLedger(home, { clock_now: () => clock.now(), mint: freshMint })
  const opened: Memory[] = []
  const again = (more: MemoryOptions = {}) => {
    const memory = memoryOver(home, more.ledger ?? ledger, more)
    opened.push(memory)
    return memory
  }
  const memory = again(options)
  t.after(async () => {
    for (const one of opened) await one.close()
    await ledger.close()
    rmSync(top, { recursive: true, force: true })
  })
  const found: MemoryHome['found'] = async (viewer, query, more) => {
    const common = { kinds: null as readonly MemoryKind[] | null, agent_id: null, limit: 20 }
    const answer = await memory.search(viewer, { query, ...common, ...more })
    if (!answer.ok) throw new Error(`${answer.code}: ${answer.message}`)
    if (!answer.answer.complete) throw new Error(answer.answer.incomplete_because ?? '')
    return [...answer.answer.hits]
  }
  return {
    home,
    ledger,
    memory,
    found,
    again,
    refs: async (...of) => (await found(...of)).map(({ source_ref }) => source_ref),
    async lane(agent_id, more = {}) {
      const lane = new LedgerWorld(ledger, agent_id)
      await lane.emit(agentCreated(agent_id, more))
      return lane
    },
    workspace(name, written) {
      const folder = join(top, name)
      for (const [path, text] of Object.entries({ '.git/HEAD': '', ...written })) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        writeFileSync(join(folder, path), text)
      }
      return folder
    },
    file(agent_id, path, text) {
      const at = join(home, 'agents', agent_id, path)
      mkdirSync(dirname(at), { recursive: true })
      writeFileSync(at, text)
    },
  }
}

export function memoryOver(home: string, ledger: LedgerReads, options: MemoryOptions = {}): Memory {
  const clock = systemClock()
  const { redactor, over = (index) => index } = options
  return new Memory({
    home,
    user_home: home,
    ledger,
    clock: options.clock ?? clock,
    files: systemFiles(),
    processes: createProcesses({ tasks_folder: join(home, 'tasks'), clock, parent_env: {} }),
    index: over(searchIndexIn(home)),
    ...(redactor === undefined ? {} : { redactor }),
  })
}

/** Every entry, and every word of it with its places. */
export function indexedIn(home: string): string[] {
  const database = new DatabaseSync(searchPath(home))
  try {
    database.exec(`create virtual table temp.places using fts5vocab(main, words, 'instance')`)
    const entries = database.prepare(
      `select entries.*, places.term, places.col, places.offset from entries
       join temp.places as places on places.doc = entries.place`,
    )
    const lines = entries.all().map(({ agent_id, ref, kind, at, stamp, term, col, offset }) => {
      return [agent_id, ref, kind, at, stamp, term, col, offset].join(' ')
    })
    return lines.toSorted()
  } finally {
    database.close()
  }
}
