/**
 * What the system says when it has too little of something. What is loaded when it is needed comes
 * without a fault of ours where it cannot be opened, at the door and on the command line alike.
 */
const codes: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM'])

/** Whether the system was out of memory or open files; it may be over soon. */
export const isShort = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && codes.has(String(error.code))
