/** The full-screen program, as the command line starts it. Types only. */

/** How it is drawn. */
export type ScreenLook = {
  home: string
  colour: boolean
  ascii: boolean
  utc: boolean
  /** Lines one after the other, for those who do not see a screen. */
  plain: boolean
  /** An agent or an item to open, as it was typed; null: home. */
  opens: string | null
}

/** Contract: runs on the terminal of this process until the person leaves; rejects for a bug. */
export type Screen = (home: string, look: ScreenLook) => Promise<void>
