/**
 * Every limit of this room: name, number, unit, reason. A number that is only here may be changed
 * here; nothing outside the room repeats one.
 */

/** Bytes per output stream of a command. Beyond it the middle is dropped; the command goes on. */
export const OUTPUT_CAP_BYTES = 16 * 1024 * 1024
/** Bytes of a cut output file that stay from its beginning. */
export const OUTPUT_HEAD_BYTES = 8 * 1024 * 1024
/** Bytes before a cut that are kept behind it, so that the end of the story is there too. */
export const OUTPUT_TAIL_BYTES = 1024 * 1024

/**
 * Milliseconds between two looks at a running task: its output size, and whether it still lives.
 * Ends are learnt from the spawner's pipe; this is for tasks of an earlier daemon, for runners
 * killed before they could say so, and for the cap. A flood may exceed the cap by what it writes in
 * this time.
 */
export const ADOPTED_CHECK_MS = 200

/**
 * Milliseconds after a command's own end in which what its descendants still write is part of its
 * output: what was under way when it ended, and not what a server left behind logs for ever.
 */
export const OUTPUT_AFTER_END_MS = 200
/** Milliseconds for a reader to open the pipes of a command before another one is told of them. */
export const READER_OPENS_MS = 2_000

/** Milliseconds for a spawner to report that a folder is claimed. Half a millisecond is usual. */
export const HAND_OVER_MS = 10_000
/** Milliseconds in which a half-written claim must become whole. Microseconds are usual. */
export const CLAIM_SETTLES_MS = 1_000
/** Milliseconds after KILL before what still lives is called a survivor (uninterruptible sleep). */
export const KILL_SETTLES_MS = 2_000
/** Milliseconds between two looks at a process tree that is being stopped. */
export const STOP_CHECK_MS = 20
/** Seconds between TERM and KILL when the runner's own watchdog ends a command. */
export const TIMEOUT_GRACE_SECONDS = 5
/** Characters of a command: a model's mistake, not a use. */
export const COMMAND_MAX_CHARS = 1024 * 1024

/** Bytes of one piece of input: what an empty pipe holds, so that it can be taken at once. */
export const INPUT_MAX_BYTES = 64 * 1024
/** Bytes that a full pipe takes whole or not at all, on every system (the least PIPE_BUF). */
export const INPUT_CHUNK_BYTES = 512
/** Milliseconds for a command that has just begun to open its input. A terminal takes about 100. */
export const INPUT_READY_MS = 10_000
/** Milliseconds for a command to make room in its full pipe: it reads, or it does not. */
export const INPUT_ROOM_MS = 2_000
/** Milliseconds between two looks for either. */
export const INPUT_CHECK_MS = 10
/** Bytes of a line that a terminal takes: Linux drops what is longer without a word. */
export const TERMINAL_LINE_BYTES = 4_095
/** Columns of a command's terminal: wide enough that tables do not wrap, as a wide window has. */
export const TERMINAL_COLUMNS = 120
/** Rows of a command's terminal: what a pager shows at once, and a model reads at once. */
export const TERMINAL_ROWS = 40
/** Milliseconds for the program that makes terminals to say whether it can; 100 are usual. */
export const TERMINAL_CHECK_MS = 20_000
/** Milliseconds for the canaries of a confined command; 30 are usual. */
export const CONFINEMENT_CHECK_MS = 20_000
/** Milliseconds for a hook to answer: a call waits for it, and a person for the call. */
export const HOOK_ANSWER_MS = 5_000
/** Bytes of a hook's answer, which is one sentence. */
export const HOOK_OUTPUT_BYTES = 16_384
/** Milliseconds for a program to say its version; 5 are usual, 40 for Node. */
export const MACHINE_LOOK_MS = 5_000
/** Git folders of one repository that are shut one by one; with more, submodules are as a whole. */
export const GIT_CONTROL_FOLDERS = 500
/** Submodules in submodules that are shut one by one, and parts of a submodule's name. */
export const GIT_CONTROL_DEPTH = 8
/** Seconds between two looks of who holds an input open at whether its command still lives. */
export const KEEPER_CHECK_SECONDS = 30

/** Bytes of a file read whole into memory. */
export const FILE_READ_MAX_BYTES = 64 * 1024 * 1024
/** Milliseconds of one timer hint; longer waits are re-armed (2^31 ms would fire at once). */
export const TIMER_HINT_MS = 60_000

/** Milliseconds between two signs of life to the standby: often beside the silence it waits for. */
export const STANDBY_SIGN_MS = 1_000
/** Milliseconds without a sign after which the standby answers: longer than any honest pause. */
export const STANDBY_SILENCE_MS = 3_000
/** Milliseconds before a standby that died is started again, doubled each time. */
export const STANDBY_AGAIN_MS = 1_000
/** Milliseconds to which they are doubled at most; one that lived as long begins anew. */
export const STANDBY_AGAIN_MAX_MS = 60_000
