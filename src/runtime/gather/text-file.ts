/**
 * A text that somebody else wrote and a request shall show: under the roots it may really be in,
 * bounded, and UTF-8 throughout. Whatever is wrong with it is a notice, never a fault: anything may
 * lie in a workspace, and no turn fails for it.
 */
import { FileFault } from '../../exec/files/file-fault.ts'
import type { FileKind, Files, Roots } from '../../exec/ports.ts'

/** `notice` continues a sentence about the file; `bytes` is null where nobody could count them. */
export type TextRead =
  | { ok: true; text: string; bytes: number; real_path: string; sha256: string }
  | { ok: false; bytes: number | null; notice: string }

export type TextFiles = Pick<Files, 'exists' | 'stat' | 'open_within'>

/** Null: nothing has that name. Follows links, as far as `roots` let it. */
export async function readText(
  files: TextFiles,
  roots: Roots,
  path: string,
  max_bytes: number,
): Promise<TextRead | null> {
  try {
    // Most places have none, and a look costs less than a read that fails.
    if (!(await files.exists(path))) return null
    const opened = await files.open_within(roots, path, 'read')
    try {
      const { bytes, size, sha256 } = await opened.read(max_bytes)
      const text = decoded(bytes)
      if (text === null) return { ok: false, bytes: size, notice: 'it is not UTF-8 text' }
      return { ok: true, text, bytes: size, real_path: opened.path, sha256 }
    } finally {
      await opened.close()
    }
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    return { ok: false, ...(await lookAt(files, path)), notice: noticeOf(error) }
  }
}

/** Null where it is binary or in another encoding; a byte order mark goes. */
function decoded(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

function noticeOf(fault: FileFault): string {
  // It was there a moment ago, so what is missing is what it leads to.
  if (fault.code === 'not_found') return 'it is a link that leads to nothing'
  const said = fault.message.startsWith(fault.path)
    ? fault.message.slice(fault.path.length)
    : `: ${fault.message}`
  const [, really, why = said.replace(': ', '')] = /^ \(really ([^]*)\): ([^]*)$/.exec(said) ?? []
  return really === undefined ? why : `it leads to ${really}, and there: ${why}`
}

const counted = new Set<FileKind>(['file'])

async function lookAt(files: TextFiles, path: string): Promise<{ bytes: number | null }> {
  try {
    const { kind, size } = await files.stat(path)
    return { bytes: counted.has(kind) ? size : null }
  } catch (error) {
    if (error instanceof FileFault) return { bytes: null }
    throw error
  }
}
