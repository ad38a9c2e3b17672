/** Limits of the looks at a working tree around a command: name, number, unit, reason. */

/** Files of a tree that are followed: a look at each takes some microseconds. */
export const TREE_FILES = 20_000
/** Bytes that one look reads: what is new or changed since the one before. */
export const TREE_LOOK_BYTES = 128 * 1024 * 1024
/** Bytes of files in the store: past it the command runs and is not followed. */
export const TREE_STORE_BYTES = 512 * 1024 * 1024
/** Milliseconds of one look: nobody waits longer for a command to begin. */
export const TREE_LOOK_MS = 5_000
/** Milliseconds in which a stamp of a file may have been given twice. */
export const TREE_STAMP_MS = 50
/** Files between two breaths of a look. */
export const TREE_BREATH = 200
/** Milliseconds for which settings of a repository are taken for those of now. */
export const TREE_VIEW_MS = 60_000
