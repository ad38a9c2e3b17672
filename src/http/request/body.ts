/**
 * Reading a request's body: never more than the cap, never longer than the deadline, and its depth
 * counted on the bytes before anything parses them, so that no parser recurses into a hostile body.
 */
import { isShallow } from '../../protocol/records/records.ts'
import { httpLimits } from './limits.ts'
import type { HttpClock } from './ports.ts'

export type BodyRead =
  | { ok: true; bytes: Uint8Array<ArrayBuffer> }
  | { ok: false; code: 'too_large' | 'body_timeout' | 'bad_request' }

/** Reads at most `cap` bytes. What is left of a refused body is cancelled, not read. */
export async function readBody(request: Request, cap: number, clock: HttpClock): Promise<BodyRead> {
  const reader = request.body?.getReader()
  if (reader === undefined) return { ok: true, bytes: new Uint8Array() }
  const late = Promise.withResolvers<'late'>()
  const cancelTimer = clock.after(httpLimits.body_deadline.value, () => late.resolve('late'))
  const chunks: Uint8Array[] = []
  let size = 0
  const refused = async (code: 'too_large' | 'body_timeout' | 'bad_request') => {
    // The body may have failed already; that it cannot be cancelled then is no news.
    await reader.cancel().catch(() => undefined)
    return { ok: false as const, code }
  }
  try {
    for (;;) {
      const piece = await Promise.race([reader.read(), late.promise])
      if (piece === 'late') return await refused('body_timeout')
      if (piece.done) return { ok: true, bytes: joined(chunks, size) }
      size += piece.value.byteLength
      if (size > cap) return await refused('too_large')
      chunks.push(piece.value)
    }
  } catch {
    // The peer went away in the middle of its own body.
    return { ok: false, code: 'bad_request' }
  } finally {
    cancelTimer()
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

export type JsonRead = { ok: true; value: unknown } | { ok: false; code: 'not_json' | 'too_deep' }

/** One JSON value out of bytes nobody vouches for. */
export function parseJson(bytes: Uint8Array): JsonRead {
  if (!isShallow(bytes, httpLimits.json_depth.value)) return { ok: false, code: 'too_deep' }
  const text = utf8(bytes)
  if (text === null) return { ok: false, code: 'not_json' }
  try {
    return { ok: true, value: JSON.parse(text) as unknown }
  } catch {
    return { ok: false, code: 'not_json' }
  }
}

/** Null when the bytes are not UTF-8. */
export function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
