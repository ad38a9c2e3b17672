/**
 * Where the start of a command was committed: the boot of the machine, and the tasks folder by a
 * mark of its own. The runner of a command leaves a folder behind; that there is none proves that
 * the command never began only while both are the same. A power cut takes with it what was not yet
 * on the disk, and a restored home has no tasks folder: there a missing folder proves nothing.
 */
export type StartPlace = { boot: string; tasks: string }

/** Null: an earlier program committed the start, and did not note the place. */
export const isSamePlace = (then: StartPlace | null, now: StartPlace): boolean =>
  then !== null && then.boot === now.boot && then.tasks === now.tasks
