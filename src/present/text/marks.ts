/**
 * Marks and their colours (docs/spec/screens.md#marks): a mark always stands beside its word, the
 * colour only repeats it. Sixteen theme colours, no backgrounds.
 */
export type Mark =
  | 'needs_me'
  | 'unknown'
  | 'failed'
  | 'arrived'
  | 'working'
  | 'waiting'
  | 'next'
  | 'blocked'
  | 'done'

type Look = { glyph: string; ascii: string; colour: number | null }

/** SGR codes; null is the terminal's own colour. */
const looks: Readonly<Record<Mark, Look>> = {
  needs_me: { glyph: '?', ascii: '?', colour: 33 },
  unknown: { glyph: '!', ascii: '!', colour: 35 },
  failed: { glyph: '✗', ascii: 'X', colour: 31 },
  arrived: { glyph: '^', ascii: '^', colour: 33 },
  working: { glyph: '*', ascii: '*', colour: 36 },
  waiting: { glyph: '~', ascii: '~', colour: 2 },
  next: { glyph: '-', ascii: '-', colour: null },
  blocked: { glyph: '#', ascii: '#', colour: null },
  done: { glyph: '✓', ascii: '+', colour: 32 },
}

/** How marks are drawn here. */
export type Ink = { colour: boolean; ascii: boolean }

export const glyph = (mark: Mark, ink: Ink): string =>
  ink.ascii ? looks[mark].ascii : looks[mark].glyph

/** Colours the glyph where it stands in a line that was laid out without colours. */
export function painted(line: string, mark: Mark, ink: Ink): string {
  const { colour } = looks[mark]
  if (!ink.colour || colour === null) return line
  const drawn = glyph(mark, ink)
  const at = line.indexOf(drawn)
  return at < 0
    ? line
    : `${line.slice(0, at)}\u001b[${colour}m${drawn}\u001b[0m${line.slice(at + drawn.length)}`
}

export const dim = (text: string, ink: Ink): string =>
  ink.colour ? `\u001b[2m${text}\u001b[0m` : text
