/**
 * Image files that somebody names with words, read before anything is said: what is none, or is
 * more than a message takes, is refused with its name.
 */
import { imageLimits, tooMuchOf, whyNoImage } from '../../protocol/records/image-record.ts'
import { safeLine } from '../../present/text/safe.ts'
import type { Context } from '../command/context.ts'
import { usage } from '../command/failure.ts'
import { expand } from '../command/settings.ts'
import { unreadable } from '../command/unreadable.ts'

/** In base64, in the order in which they are named. */
export async function readImages(
  { ports }: Context,
  paths: readonly string[],
): Promise<{ base64: string }[]> {
  const most = imageLimits.image_bytes.value
  const found: Uint8Array[] = []
  for (const path of paths) {
    const name = safeLine(path)
    const read = await ports.read_bytes(ports.absolute(expand(ports, path)), most)
    if (!read.ok) {
      const why = unreadable(read.why, `an image has at most ${most} bytes`)
      throw usage('image_unread', `${name}: ${why}`, 'nothing was sent; name another file')
    }
    const problem = whyNoImage(read.bytes)
    if (problem !== null) throw usage('image_refused', `${name} ${problem}`, 'nothing was sent')
    found.push(read.bytes)
  }
  const over = tooMuchOf(found.map(({ length }) => length))
  if (over !== null) throw usage(over.code, over.message, over.hint)
  return found.map((bytes) => ({ base64: Buffer.from(bytes).toString('base64') }))
}
