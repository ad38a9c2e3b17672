/**
 * Every limit of the work with git: name, number, unit, reason.
 */

/** The oldest git this was written for: `core.fsync`, `worktree list -z`, `--end-of-options`. */
export const GIT_MIN_VERSION = [2, 36] as const
/** Milliseconds of one git call that reads or moves a name. A millisecond is usual. */
export const GIT_CALL_MS = 60_000
/** Milliseconds of one git call that goes through every file of a tree. */
export const GIT_TREE_MS = 10 * 60_000
/** Milliseconds between TERM, at which git takes its lock files away, and KILL. */
export const GIT_GRACE_MS = 5_000
/** Bytes one call may print: lists of paths and commits; a million paths fit. */
export const GIT_OUTPUT_MAX_BYTES = 256 * 1024 * 1024
/** Paths or commits named in a status: enough to see what it is about. */
export const STATUS_SAMPLE = 20
/** Bytes of ignored files in one snapshot: settings and notes, no build results. */
export const SNAPSHOT_IGNORED_BYTES = 64 * 1024 * 1024
/** Ignored files in one snapshot, for the same reason. */
export const SNAPSHOT_IGNORED_FILES = 10_000
/** Bytes of one file in a snapshot: it is read back whole. */
export const SNAPSHOT_FILE_BYTES = 1024 * 1024 * 1024
/** Bytes of file contents read from git at a time when a snapshot is written out. */
export const RESTORE_CHUNK_BYTES = 32 * 1024 * 1024
