/**
 * Ends from outside that can be caught: what must be given back, as modes of a terminal, is given
 * back before them. What the signal does otherwise it does then: it comes once more.
 */
const ends = ['SIGTERM', 'SIGHUP'] as const

/** Until the answer is called. `restore` is called once at most, and must not wait. */
export function beforeEnds(restore: () => void): () => void {
  const ended = (signal: NodeJS.Signals): void => {
    forget()
    restore()
    process.kill(process.pid, signal)
  }
  const forget = (): void => {
    for (const signal of ends) process.off(signal, ended)
  }
  for (const signal of ends) process.on(signal, ended)
  return forget
}
