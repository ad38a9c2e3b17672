/** What a command turns out to be, where it may run another one. */
import type { ShellDoubt, ShellWord } from './command.ts'

export type ShellOpening =
  /** It stands for itself, from another folder where git is told one. */
  | {
      of: 'itself'
      argv: readonly ShellWord[]
      doubt: ShellDoubt | null
      folder?: ShellWord
    }
  | { of: 'command'; by: string; argv: readonly ShellWord[]; names: readonly string[] }
  | { of: 'line'; by: string; text: string; remote: boolean; names: readonly string[] }
  /** The commands behind it run elsewhere. */
  | { of: 'move'; to: ShellWord }
  /** Of the whole line. */
  | { of: 'doubt'; doubt: ShellDoubt }
