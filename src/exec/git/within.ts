/**
 * An answer that is only of use while it is fresh.
 */
import { FileFault } from '../files/file-fault.ts'
import { GitFault } from './git-fault.ts'

/** The answer, or null when it is late or the world is at fault; what is late ends unheard. */
export async function within<T>(ms: number, asked: Promise<T | null>): Promise<T | null> {
  const late = Promise.withResolvers<null>()
  const timer = setTimeout(() => late.resolve(null), ms)
  const answer = asked.catch((error: unknown) => {
    if (error instanceof GitFault || error instanceof FileFault) return null
    throw error
  })
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
