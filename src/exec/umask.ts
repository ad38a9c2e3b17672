/**
 * The umask of the person. What Holon writes of its own is its owner's alone (077); what an agent
 * makes for the person, by a command or a file tool, gets the modes that the person's own would.
 */
let kept: number | null = null

/** From now on files of this process are its owner's alone. Once, before anything is written. */
export function keepOwnFilesPrivate(): void {
  kept ??= process.umask(0o077)
}

/** That of the person: of this process, where nobody took it over. */
export const personsUmask = (): number => kept ?? process.umask()

/** What is begun in the call has the umask of the person. It is not awaited. */
export function withPersonsUmask<T>(begin: () => T): T {
  const own = process.umask(personsUmask())
  try {
    return begin()
  } finally {
    process.umask(own)
  }
}

/** As a shell takes it. */
export const umaskWord = (umask: number): string => umask.toString(8).padStart(4, '0')
