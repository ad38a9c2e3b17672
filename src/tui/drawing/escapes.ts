/**
 * The few control sequences that are written past the library that draws. Every text in them is
 * safe; nothing else of the room writes a control character. Pure.
 */
import { safe } from '../../present/text/safe.ts'
import { padEnd } from '../../present/text/width.ts'

const csi = '\u001b['

/** The other screen of the terminal with the frame of a first screen, before anything is known. */
export function skeleton(
  { columns, rows }: { columns: number; rows: number },
  { ascii }: { ascii: boolean },
): string {
  const title = columns < 40 ? 'holon' : `${padEnd('holon', columns - 10)}connecting`
  const lines = [title, (ascii ? '-' : '─').repeat(columns), '  reading …'].slice(0, rows)
  return `${csi}?1049h${csi}H${csi}?25l${lines.map(safe).join('\r\n')}`
}

/** The lines of the skeleton gone, and the cursor where the first frame begins. */
export const withoutSkeleton = [3, 2, 1].map((row) => `${csi}${row};1H${csi}2K`).join('')

/** Nothing on the screen, and the cursor where a frame begins. */
export const wiped = `${csi}2J${csi}H`

/** The screen, cursor and modes as they were, also where they were not changed. */
export const turnedOff = `${csi}?2004l${csi}?25h${csi}?1049l`
