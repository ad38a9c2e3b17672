/** The full-screen program, as the command line starts it. Types only. */

/** How it is drawn. */
export type ScreenLook = { home: string; colour: boolean; ascii: boolean; utc: boolean }

/** Contract: runs on the terminal of this process until the person leaves; rejects for a bug. */
export type Screen = (home: string, look: ScreenLook) => Promise<void>
