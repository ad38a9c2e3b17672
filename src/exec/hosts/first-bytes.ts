/** The first bytes of a connection, looked at within a bound of bytes and of time. */
import type { Socket } from 'node:net'
import type { Clock } from '../ports.ts'

/** `taken`: how many bytes are used up by it; the rest can be read again. */
export type Read<T> = 'more' | { value: T; taken: number }

/** `ended`: the other side has no more to say. */
export type FirstBytes<T> = { is: 'read'; value: T } | { is: 'too_long' | 'too_late' | 'ended' }

/** `ms` null: as long as it likes. */
type Bounds = { bytes: number; ms: number | null; clock: Pick<Clock, 'after'> }

/** Afterwards the socket is paused. Nobody else may read from it meanwhile. */
export function firstBytes<T>(
  socket: Socket,
  read: (bytes: Buffer) => Read<T>,
  { bytes: most, ms, clock }: Bounds,
): Promise<FirstBytes<T>> {
  const { promise, resolve } = Promise.withResolvers<FirstBytes<T>>()
  let bytes = Buffer.alloc(0)
  const done = (outcome: FirstBytes<T>) => {
    late()
    socket.off('data', more).off('end', ended).off('close', ended).pause()
    resolve(outcome)
  }
  const more = (piece: Buffer) => {
    bytes = Buffer.concat([bytes, piece])
    const found = read(bytes.subarray(0, most))
    if (found === 'more') {
      if (bytes.length >= most) done({ is: 'too_long' })
      return
    }
    done({ is: 'read', value: found.value })
    const rest = bytes.subarray(found.taken)
    if (rest.length > 0) socket.unshift(rest)
  }
  const ended = () => done({ is: 'ended' })
  const late = ms === null ? () => {} : clock.after(ms, () => done({ is: 'too_late' }))
  socket.on('data', more).on('end', ended).on('close', ended).resume()
  return promise
}
