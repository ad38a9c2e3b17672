/**
 * Every limit of this room: name, number, unit, reason. Nothing that is observed may make what
 * observes it grow without end.
 */

/** Bytes of one line of the log: a longer one carries a payload, and payloads are not logged. */
export const LOG_LINE_BYTES = 8 * 1024
/** Characters of one text on a line that was too long. */
export const LOG_CUT_CHARACTERS = 200
/** Bytes of the daemon's log file before it is set aside. */
export const LOG_FILE_BYTES = 10 * 1024 * 1024
/** Log files that are kept, the one being written included. */
export const LOG_FILES = 5

/** Values of one label that outside names may take (providers, routes); the rest is `other`. */
export const LABEL_VALUES = 100
/** Requests, wakes and turns timed at once; beyond it the oldest goes untimed. */
export const TIMED_AT_ONCE = 4_096

/** Open spans of one kind remembered at once; beyond it the oldest loses its details. */
export const SPANS_REMEMBERED = 2_048
/** Links of one turn: the causes of a claimed batch, and some. */
export const SPAN_LINKS = 64
/** Events of one span: repeated requests to a provider. */
export const SPAN_EVENTS = 32
/** Characters of recorded content, where recording it was asked for. */
export const SPAN_CONTENT_CHARACTERS = 16 * 1024
/** Milliseconds a stop waits for the last spans: a dead collector must not hold it up. */
export const FLUSH_MS = 2_000
