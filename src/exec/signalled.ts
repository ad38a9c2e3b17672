/**
 * Sends a signal to a process, or to the group of a negative number. True: it was sent. False:
 * nobody of that number is left. Whatever else the system says is thrown: then somebody may still
 * run whom we believed ended.
 */
export function signalled(target: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(target, signal)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}
