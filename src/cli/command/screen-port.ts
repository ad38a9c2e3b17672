/** The full-screen program, as the command line starts it. Types only. */

import type { FirstAgent } from '../../ports/first-agent.ts'

/** How it is drawn. */
export type ScreenLook = {
  home: string
  colour: boolean
  ascii: boolean
  utc: boolean
  /** Lines one after the other, for those who do not see a screen. */
  plain: boolean
  /**
   * An item to open; an agent or what is no item's id, as it was typed; a box for the first words
   * to an agent; null: home.
   */
  opens: string | { agent_id: string; work_item_id: string } | { words_to: string } | null
  /** Said at its foot when it opens. */
  says: string | null
  first: FirstAgent
}

/** What the screen has the command line do while it is open. */
export type ScreenHelp = {
  /** Has a daemon serve the home where nobody owns it. Null: somebody does now; else why not. */
  start(): Promise<string | null>
}

/** Why the screen was left: the person went, or wants to set up a model and come back. */
export type ScreenEnd = 'left' | 'set_up'

/** Contract: runs on the terminal of this process until the person leaves; rejects for a bug. */
export type Screen = (home: string, look: ScreenLook, help: ScreenHelp) => Promise<ScreenEnd>
