/**
 * What a driver has done, as lines of JSON in one file per child: the only truth about its session,
 * for the daemon of today and the one after it. Lines are only appended; a line counts when it ends
 * in a newline and parses. Everything in it that an agent said was cut to the limits before.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import type { AcpFailure, AcpOption, AcpPlanEntry, AcpStop, AcpToolCall } from '../../ports/acp.ts'

/** Its name, in the folder of the supervising task. */
export const JOURNAL = 'acp.journal'

/**
 * An order is named by the request it serves. Updates belong to the prompt that was sent last: one
 * is open at a time.
 */
export type AcpRecord =
  | { type: 'driver_started'; pid: number }
  | { type: 'prompt_received'; request_id: string }
  | { type: 'order_refused'; request_id: string; why: string }
  | { type: 'agent_started'; pid: number }
  | { type: 'agent_ended'; code: number | null; signal: string | null }
  | { type: 'session_begun'; session_id: string; how: 'new' | 'loaded' | 'lost_and_new' }
  /** Written before the agent is asked: a prompt with this line is never sent again. */
  | { type: 'prompted'; request_id: string; session_id: string }
  | { type: 'text'; text: string }
  | { type: 'thought'; text: string }
  | ({ type: 'tool_call' } & AcpToolCall)
  | ({ type: 'tool_call_update' } & AcpToolCall)
  | { type: 'plan'; entries: readonly AcpPlanEntry[] }
  | { type: 'permission_asked'; permission_id: string; title: string; options: AcpOption[] }
  /** `request_id` is the order's; null when the request fell away with its prompt. */
  | {
      type: 'permission_answered'
      permission_id: string
      option_id: string | null
      request_id: string | null
    }
  | { type: 'cancel_received'; request_id: string }
  | { type: 'prompt_ended'; request_id: string; stop: AcpStop }
  | { type: 'prompt_failed'; request_id: string; code: AcpFailure; message: string }
  | { type: 'driver_ended'; why: string }

/** `at` is RFC 3339. */
export type AcpLine = AcpRecord & { at: string }

/** Writes one line at a time, whole. Throws what the disk says. */
export class JournalWriter {
  readonly #file: number
  readonly #now: () => string
  /** Bytes in the file. */
  size: number

  constructor(path: string, now: () => string) {
    this.#file = openSync(path, 'a+', 0o600)
    this.#now = now
    this.size = fstatSync(this.#file).size
    if (this.size > 0 && !this.#endsWhole()) this.#write('\n')
  }

  /** `durable` lines are on the disk when it returns. */
  append(record: AcpRecord, durable = false): void {
    this.#write(`${JSON.stringify({ at: this.#now(), ...record })}\n`)
    if (durable) fsyncSync(this.#file)
  }

  close(): void {
    closeSync(this.#file)
  }

  #endsWhole(): boolean {
    const last = Buffer.alloc(1)
    readSync(this.#file, last, 0, 1, this.size - 1)
    return last[0] === 0x0a
  }

  #write(text: string): void {
    const bytes = Buffer.from(text)
    let done = 0
    while (done < bytes.length) done += writeSync(this.#file, bytes, done)
    this.size += bytes.length
  }
}

/**
 * The whole lines of a piece of the journal, and how many bytes they are. A line that does not
 * parse was torn by a crash: it is left out.
 */
export function parseJournal(bytes: Uint8Array): { lines: AcpLine[]; bytes: number } {
  const end = bytes.lastIndexOf(0x0a) + 1
  const text = new TextDecoder().decode(bytes.subarray(0, end))
  const lines = text.split('\n').flatMap((line) => {
    if (line === '') return []
    const parsed = parsedLine(line)
    return parsed === null ? [] : [parsed]
  })
  return { lines, bytes: end }
}

/** Only a driver writes here, so the type of a line is enough to know its shape. */
function parsedLine(line: string): AcpLine | null {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value !== 'object' || value === null || !('type' in value)) return null
    return value as AcpLine
  } catch {
    return null
  }
}
