/**
 * Records read from where they are: rows of the ledger, plans in blobs, outputs of commands and the
 * files of an agent's memory. Everything comes out without secrets, also those that were registered
 * after it was written (docs/spec/security.md#secrets).
 */
import { endsOfText, type MemoryRecord } from '../../domain/memory/memory.ts'
import {
  nothingBeside,
  recordsOf,
  type ExternalTexts,
  type MemoryTable,
} from '../../domain/memory/records.ts'
import type { MemoryRef } from '../../domain/memory/reference.ts'
import type { Rows } from '../../domain/state/event.ts'
import type { TurnId } from '../../domain/ids.ts'
import type { Redactor } from '../../domain/secrets/redact.ts'
import { isTerminal } from '../../domain/state/task.ts'
import { roundId } from '../../domain/state/turn.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import { agentRoots } from '../../exec/files/path-policy.ts'
import type { Files, Processes } from '../../exec/ports.ts'
import { ProcessFault } from '../../exec/commands/process-fault.ts'
import type { LedgerReads } from '../../ledger/port.ts'
import { agentHome } from '../home.ts'

export type RecordPorts = {
  home: string
  user_home: string
  ledger: LedgerReads
  files: Pick<Files, 'open_within'>
  processes: Pick<Processes, 'output'>
  redactor?: Redactor
}

/** Bytes of a command's output that are read, of its head and of its tail. */
const outputHead = 16_384
const outputTail = 8_192
/** Bytes of the largest file that is memory. */
export const MEMORY_FILE_MAX_BYTES = 1_048_576

/** Where a file is, and whose words it has. */
type FilePlace = {
  agent_id: string
  folder: string
  path: string
  words: 'own' | 'external'
}

export class Records {
  readonly #ports: RecordPorts

  constructor(ports: RecordPorts) {
    this.#ports = ports
  }

  async ofRow(table: MemoryTable, row: Rows[MemoryTable]): Promise<MemoryRecord[]> {
    const found = recordsOf(table, row, await this.#beside(table, row))
    const { redactor } = this.#ports
    if (redactor === undefined) return [...found]
    return found.map((record) => ({ ...record, text: redactor.text(record.text) }))
  }

  /**
   * Null: there is none, or retention took it. Files are the agent's whose record it is, those of a
   * workspace of the one it works in.
   */
  async find(ref: MemoryRef, agent_id: string): Promise<MemoryRecord | null> {
    if (ref.table === 'files') return this.file(ref.agent_id ?? agent_id, ref.path)
    const { ledger } = this.#ports
    if (ref.table === 'workspace_files') {
      const agent = await ledger.row('agents', agent_id)
      return agent === null ? null : this.workspaceFile(agent.id, agent.workspace.root, ref.path)
    }
    if (ref.table === 'turns') {
      const turn = (await this.#row('turns', ref.id))?.id ?? (ref.id as TurnId)
      const round = await ledger.row('rounds', roundId(turn, Number(ref.part)))
      return round === null ? null : ((await this.ofRow('rounds', round))[0] ?? null)
    }
    const row = await this.#row(ref.table, ref.id)
    if (row === null) return null
    const name = ref.part === null ? row.id : `${row.id}/${ref.part}`
    const records = await this.ofRow(ref.table, row)
    return records.find((record) => record.ref === name) ?? null
  }

  /** A file below `memory/` or `notes/`; null: none, or one that is no text of ours to read. */
  file(agent_id: string, path: string): Promise<MemoryRecord | null> {
    const folder = agentHome(this.#ports.home, agent_id)
    const whole = `${folder}/${path}`
    // A link leads to what is no memory of this agent, wherever it leads.
    return this.#file({ agent_id, folder, path, words: 'own' }, (real) => real === whole)
  }

  /**
   * A file of the workspace's memory, as the agent has it that works there: whoever writes in the
   * workspace may have written it, so these are no words of its own.
   */
  workspaceFile(agent_id: string, folder: string, path: string): Promise<MemoryRecord | null> {
    const place = { agent_id, folder, path, words: 'external' } as const
    // The workspace may itself be reached by a link; in its memory none is followed.
    return this.#file(place, (real) => real.endsWith(`/${path}`))
  }

  async #file(
    { agent_id, folder, path, words }: FilePlace,
    isItself: (real: string) => boolean,
  ): Promise<MemoryRecord | null> {
    const { home, user_home, files, redactor } = this.#ports
    const whole = `${folder}/${path}`
    const roots = agentRoots({ home, agent_id, workspace: folder, user_home, owned: [] })
    try {
      const opened = await files.open_within(roots, whole, 'read')
      try {
        if (!isItself(opened.path)) return null
        const { bytes, updated_at } = await opened.read(MEMORY_FILE_MAX_BYTES)
        const text = textOf(bytes)
        if (text === null) return null
        return {
          ref: `file:${path}`,
          kind: 'file',
          agent_id,
          work_item_id: null,
          at: updated_at,
          text: redactor?.text(text) ?? text,
          provenance: null,
          words,
          path: whole,
        }
      } finally {
        await opened.close()
      }
    } catch (error) {
      if (error instanceof FileFault) return null
      throw error
    }
  }

  /** By its id, whole or short; null when a short one means several. */
  async #row<T extends MemoryTable | 'turns'>(table: T, id: string): Promise<Rows[T] | null> {
    const { ledger } = this.#ports
    const whole = await ledger.row(table, id)
    if (whole !== null) return whole
    const [one, more] = await ledger.idsLike(table, id)
    return one === undefined || more !== undefined ? null : ledger.row(table, one.id)
  }

  async #beside(table: MemoryTable, row: Rows[MemoryTable]): Promise<ExternalTexts> {
    if (table === 'work_items') {
      const { good_sha256 } = (row as Rows['work_items']).plan_artifact
      const bytes = good_sha256 === null ? null : await this.#ports.ledger.blob(good_sha256)
      return { ...nothingBeside, plan: bytes === null ? null : textOf(bytes) }
    }
    if (table !== 'tasks') return nothingBeside
    const task = row as Rows['tasks']
    // What ends in its call is in the call; what still runs has not said everything.
    if (task.kind !== 'command' || !task.promoted || !isTerminal(task)) return nothingBeside
    const [stdout, stderr] = [
      await this.#output(task.id, 'stdout'),
      await this.#output(task.id, 'stderr'),
    ]
    return { ...nothingBeside, stdout, stderr }
  }

  async #output(task_id: string, stream: 'stdout' | 'stderr'): Promise<string | null> {
    const { processes } = this.#ports
    try {
      const head = await processes.output(task_id, { stream, from: 0, max_bytes: outputHead })
      if (!head.truncated) return head.text
      const end = { stream, max_bytes: outputTail, tail: true }
      const tail = await processes.output(task_id, end)
      const from = Math.max(tail.from, head.bytes)
      if (from >= tail.from + tail.bytes) return head.text
      const left = from - head.bytes
      return `${head.text}\n… ${left} bytes left out …\n${tail.text}`
    } catch (error) {
      if (error instanceof ProcessFault || error instanceof FileFault) return null
      throw error
    }
  }
}

/** Null: it is not text. */
function textOf(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? null : text
  } catch {
    return null
  }
}

/** Characters of a record that are indexed: of a longer one its head and its tail. */
const indexedHead = 12_000
const indexedTail = 4_000

export const indexedText = (text: string): string =>
  endsOfText(text, indexedHead, indexedTail, () => '…')
