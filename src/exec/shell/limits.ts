/** Limits of reading shell lines. */

/** Characters of a line; a person reads no longer one before saying yes. */
export const LINE_MAX_CHARACTERS = 100_000
/** Milliseconds for one text; a line of a screen takes a twentieth of one. */
export const LINE_MS = 250
/** Nodes within nodes of a syntax tree: what is walked by calls within calls. */
export const LINE_DEPTH = 200
