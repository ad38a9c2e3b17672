/**
 * What the screen needs from the machine. `src/main/commands/tui.ts` plugs the real ones in, a test
 * its own. Types only.
 */
import type { Opens } from './model/model.ts'
import type { ApiPorts } from '../client/api.ts'

export interface TuiPorts {
  /** Where the API of the home is now, and whose, read anew for every try. Null: there is none. */
  door(): Promise<{ url: string; of: 'daemon' | 'run' } | null>
  /** Has a daemon serve the home where nobody owns it. Null: somebody does now; else why not. */
  start(): Promise<string | null>
  api: ApiPorts
  clock: { now(): number; after(ms: number, fn: () => void): () => void }
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WriteStream
  /** Drafts by what they are written to. Reading never rejects: what cannot be read is empty. */
  drafts: {
    read(): Promise<Record<string, string>>
    /** 0600, whole. Rejects when it cannot be written. */
    write(drafts: Record<string, string>): Promise<void>
  }
  /** Puts text on the clipboard and says which way it took; null: there was none. */
  copy(text: string): Promise<string | null>
  /** The text as the person's editor left it, which has the terminal meanwhile; null: as it was. */
  edit(text: string): Promise<string | null>
  /** Stops this program as `ctrl+z` does; resolves when the shell lets it go on. */
  suspend(): Promise<void>
  /** Shows the text in the person's pager, which has the terminal meanwhile. */
  page(text: string): Promise<void>
  /** The runbook that a new home is tried with; null: it did not come with the program. */
  example(): Promise<string | null>
  /** Told when the first frame is drawn. */
  at_work(): void
}

export type TuiOptions = {
  home: string
  colour: boolean
  ascii: boolean
  motion: boolean
  /** The command, as hints name it. */
  called: string
  utc: boolean
  opens: Opens
  /** Said at the foot when it opens. */
  says: string | null
  /** What the agent is made with that takes the first words. `root` is an absolute folder. */
  first: { model: string | null; fallback_model: string | null; root: string }
}
