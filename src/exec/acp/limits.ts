/**
 * Limits of talking to agents of other makers: name, number, unit, reason. Everything such an agent
 * sends is foreign text, so each piece of it has a largest size before it is kept.
 */

/** Bytes of one JSON-RPC line from the agent. A tool call may carry a whole file and its diff. */
export const ACP_LINE_BYTES = 16 * 1024 * 1024
/** Characters of text kept of one update; the rest of that piece is dropped and said so. */
export const ACP_TEXT_CHARS = 256 * 1024
/** Characters of a title, a name or a path that an agent gives. */
export const ACP_WORD_CHARS = 500
/** Places, plan entries or options kept of one list, and questions open at once. */
export const ACP_LIST_LENGTH = 50
/** Journal bytes of one prompt: a runaway agent must not fill the disk. */
export const ACP_PROMPT_BYTES = 8 * 1024 * 1024
/** Messages of an agent in one prompt, kept or not: a day of twenty words a second is less. */
export const ACP_PROMPT_MESSAGES = 2_000_000
/** Messages of an agent in a minute: a thousand a second is no speech, and costs a core. */
export const ACP_MINUTE_MESSAGES = 60_000
/** Requests of an agent in one prompt: so many permissions nobody gives one by one. */
export const ACP_PROMPT_REQUESTS = 500
/** Requests read and not yet answered: the questions that may be open, and some on their way. */
export const ACP_UNANSWERED = 60
/** Journal bytes of one child over its whole life: it is read whole when a daemon starts. */
export const ACP_JOURNAL_BYTES = 64 * 1024 * 1024
/** Characters of a prompt: what one turn hands over, with room. */
export const ACP_PROMPT_CHARS = 2 * 1024 * 1024
/** Bytes of an order: written to a FIFO whole or not at all, so less than PIPE_BUF everywhere. */
export const ACP_ORDER_BYTES = 500
/** Bytes of the agent's own error output kept for the message that says how it ended. */
export const ACP_STDERR_BYTES = 2_000

/** Milliseconds for an agent to start and open a session: a first start may install things. */
export const ACP_START_MS = 180_000
/** Milliseconds without word, tool or question while a prompt runs: a tool may build for long. */
export const ACP_SILENCE_MS = 3_600_000
/** Milliseconds of work in one prompt, without the time that a question is open. */
export const ACP_PROMPT_MS = 12 * 3_600_000
/** Milliseconds between a cancel that an agent ignores and its end. */
export const ACP_CANCEL_MS = 20_000
/** Milliseconds between TERM and KILL for the agent's processes. */
export const ACP_KILL_MS = 3_000
/** Milliseconds between two looks at a journal, should no notice of its growth come. */
export const ACP_CHECK_MS = 1_000
/** Drivers that one child may have had, one after another; each is a death of the one before. */
export const ACP_LIVES = 50
