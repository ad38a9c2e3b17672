/**
 * Where the runtime writes, secrets are replaced (docs/spec/security.md#secrets): events as they
 * enter a draft, so that rows equal their fold; blobs before they get their name; and what is shown
 * live, across the pieces it comes in. Nothing here is in the way without a redactor.
 */
import type { Redactor, RedactedStream } from '../domain/secrets/redact.ts'
import { sha256 } from '../exec/files/whole-file.ts'
import type { NewBlob } from '../ledger/port.ts'
import type { HostNotice } from './ports.ts'

/** A blob of these bytes, redacted where they are text: its name is that of what is stored. */
export function blobOf(given: Uint8Array, redactor: Redactor | undefined): NewBlob {
  const bytes = redactedBytes(given, redactor)
  return { sha256: sha256(bytes), bytes }
}

/**
 * Whether bytes hold what is never kept, text or not: nothing can be taken out of what is no text,
 * so that is kept whole or not at all.
 */
export const secretsIn =
  (redactor: Redactor | undefined) =>
  (bytes: Uint8Array): boolean => {
    if (redactor === undefined) return false
    const text = textOf(bytes) ?? Buffer.from(bytes).toString('latin1')
    return redactor.text(text) !== text
  }

function redactedBytes(bytes: Uint8Array, redactor: Redactor | undefined): Uint8Array {
  const text = redactor === undefined ? null : textOf(bytes)
  if (redactor === undefined || text === null) return bytes
  const redacted = redactor.text(text)
  return redacted === text ? bytes : new TextEncoder().encode(redacted)
}

function textOf(bytes: Uint8Array): string | null {
  try {
    // The mark at the start of a text is part of its bytes.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

type Live = HostNotice & { kind: 'live' }
type Delta = Live & { event: { type: 'text_delta' | 'reasoning_delta'; text: string } }
type Open = { key: string; stream: RedactedStream; last: Delta }

const isDelta = (notice: Live): notice is Delta =>
  notice.event.type === 'text_delta' || notice.event.type === 'reasoning_delta'

/**
 * Passes the notices of one agent on without secrets. What may be the beginning of one is held
 * back until it is decided; at the end of the answer the committed text says it.
 */
export function redactedNotices(
  redactor: Redactor | undefined,
  tell: (notice: HostNotice) => void,
): (notice: HostNotice) => void {
  if (redactor === undefined) return tell
  let open: Open | null = null
  const told = (delta: Delta, text: string) => {
    if (text !== '') tell({ ...delta, event: { ...delta.event, text } })
  }
  const finish = () => {
    if (open !== null) told(open.last, open.stream.end())
    open = null
  }
  return (notice) => {
    if (notice.kind !== 'live' || !isDelta(notice)) {
      // A sign of life between two pieces does not end the text they are pieces of.
      if (notice.kind !== 'live' || notice.event.type === 'tool_call_started') finish()
      return tell(redactor.json(notice))
    }
    const { agent_id, turn_id, round, event } = notice
    const key = `${agent_id} ${turn_id} ${round} ${event.type}`
    if (open !== null && open.key !== key) finish()
    open ??= { key, stream: redactor.stream(), last: notice }
    open.last = notice
    told(notice, open.stream.push(event.text))
  }
}
