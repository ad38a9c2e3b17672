/**
 * What a line of a shell runs, as values: one for every command in it, however deep. A value says
 * what is known before the line runs, and owns up to what is not.
 */

/**
 * A word as the program would be given it; one of which only the beginning is known before. `as`:
 * how the line has it, where a person knows it by that: `~/x`.
 */
export type ShellWord = string | { starts: string; as?: string }

/** Where a command reads or writes beside its arguments. */
export type ShellRedirect = { op: 'read' | 'write' | 'append'; to: ShellWord }

/** Why nobody can say what would run. Each is a sentence's end in `doubtWords`. */
export type ShellDoubt =
  /** The line is no valid text of the shell, or the parser did not come to its end. */
  | 'unparsed'
  | 'too_long'
  | 'too_deep'
  | 'no_parser'
  /** The program is a variable, a substitution or a pattern. */
  | 'unknown_program'
  /** `eval`, `source`, a shell that reads its commands from elsewhere. */
  | 'runs_text'
  /** The line gives the name of a program another meaning. */
  | 'redefined'
  /** It sets what decides which program a name is, or what programs load. */
  | 'environment'
  /** A program that runs another one, in a way that is not known. */
  | 'unknown_wrapper'
export type ShellCommand = {
  /** Program and arguments, without the wrappers that were opened. */
  argv: readonly ShellWord[]
  /** What the line does to the folder before it: null is that of the line. */
  folder: ShellWord | null
  /** Variables that are set for it, in order of names. */
  env_names: readonly string[]
  redirects: readonly ShellRedirect[]
  /** Programs that were opened to find it, the outer one first: `sudo`, `bash`. */
  wrapped_by: readonly string[]
} & Certainty

/** `in_doubt`: the part of the line that makes it so; null: the command itself. */
export type Certainty =
  | { certain: true }
  | { certain: false; doubt: ShellDoubt; in_doubt: string | null }
