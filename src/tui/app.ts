/**
 * The screen on a terminal, by Ink: one element a line, drawn again only where a line has changed;
 * keys by their names. Leaving gives the terminal back as it was.
 */
import { Box, render, Text, useApp, useInput, usePaste, useWindowSize, type Key } from 'ink'
import { createElement as h, memo, useEffect, useSyncExternalStore, type ReactNode } from 'react'
import { wiped } from './drawing/escapes.ts'
import type { Line, Style } from './drawing/line.ts'
import type { TuiOptions, TuiPorts } from './ports.ts'
import type { Session } from './session.ts'

type Look = {
  color?: string
  italic?: boolean
  strikethrough?: boolean
  bold?: boolean
  dimColor?: boolean
  inverse?: boolean
}

const looks: Readonly<Record<Style, Look>> = {
  plain: {},
  dim: { dimColor: true },
  bold: { bold: true },
  italic: { italic: true },
  bold_italic: { bold: true, italic: true },
  struck: { strikethrough: true },
  inverse: { inverse: true },
  red: { color: 'red' },
  yellow: { color: 'yellow' },
  magenta: { color: 'magenta' },
  cyan: { color: 'cyan' },
  green: { color: 'green' },
}

const Row = memo(({ line, colour }: { line: Line; colour: boolean }): ReactNode => {
  // Without colours weight and inverse stay: they are no colours.
  const look = (style: Style): Look => {
    const found = looks[style]
    return colour || (found.color === undefined && found.dimColor === undefined) ? found : {}
  }
  if (line.every(({ text }) => text === '')) return h(Text, null, ' ')
  const spans = line.map(({ text, style }, n) => h(Text, { key: n, ...look(style) }, text))
  return h(Text, { wrap: 'truncate' }, ...spans)
})

function Screen({ session, colour }: { session: Session; colour: boolean }): ReactNode {
  const { columns, rows } = useWindowSize()
  const frame = useSyncExternalStore(session.subscribe, session.frame)
  useEffect(() => {
    const { size } = session.model
    // A terminal that changed its width has moved what stood there, nobody knows where to.
    if (size.columns !== columns || size.rows !== rows) session.onRedraw()
    session.send({ kind: 'size', columns, rows })
  }, [session, columns, rows])
  useInput((input, key) => onInput(session, input, key))
  const { suspendTerminal } = useApp()
  useEffect(() => {
    session.onPage = suspendTerminal
  }, [session, suspendTerminal])
  usePaste((text) => session.send({ kind: 'paste', text }))
  const lines = frame.map((line, n) => h(Row, { key: n, line, colour }))
  return h(Box, { flexDirection: 'column', width: columns, height: frame.length }, ...lines)
}

/** Several characters at once are keys; where something is written they are text. */
function onInput(session: Session, input: string, key: Key): void {
  if (key.eventType === 'release') return
  // The terminal says that it is looked at, or is not any more.
  if (input === '[I' || input === '[O') {
    session.focused = input === '[I'
    return
  }
  const name = nameOf(input, key)
  if (name !== null) return session.key(name, printable(input, key))
  const isText = session.model.writing !== null || session.model.overlay?.kind === 'palette'
  if (isText) return session.send({ kind: 'paste', text: input })
  for (const one of input) session.key(one === '\r' ? 'enter' : one, one)
}

const printable = (input: string, { ctrl, meta }: Key): string =>
  ctrl || meta || /\p{Cc}/u.test(input) ? '' : input

const named: readonly (readonly [keyof Key, string])[] = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageDown', 'pagedown'],
  ['pageUp', 'pageup'],
  ['home', 'home'],
  ['end', 'end'],
  ['escape', 'esc'],
  ['tab', 'tab'],
  ['backspace', 'backspace'],
  ['delete', 'delete'],
]

/** The key by its name; null: it is text of several characters. */
function nameOf(input: string, key: Key): string | null {
  if (key.return) return key.meta ? 'alt+enter' : key.shift ? 'shift+enter' : 'enter'
  const found = named.find(([field]) => key[field] === true)
  if (found !== undefined) return key.meta && found[1] !== 'esc' ? `alt+${found[1]}` : found[1]
  if (input === '\n') return 'ctrl+j'
  if (input === '\u001f') return 'ctrl+_'
  if (key.ctrl) return `ctrl+${input}`
  if (key.meta) return `alt+${input}`
  if (input === ' ') return 'space'
  return Array.from(input).length === 1 ? input : null
}

/** Draws the session until it is ended; then the terminal has no more of it. */
export function draw(
  session: Session,
  { stdin, stdout }: Pick<TuiPorts, 'stdin' | 'stdout'>,
  { colour }: Pick<TuiOptions, 'colour'>,
): { end(): Promise<void> } {
  const app = render(h(Screen, { session, colour }), {
    stdin,
    stdout,
    alternateScreen: true,
    incrementalRendering: true,
    kittyKeyboard: { mode: 'auto' },
    patchConsole: false,
    exitOnCtrlC: false,
    interactive: true,
    maxFps: 60,
  })
  session.onRedraw = () => {
    app.clear()
    stdout.write(wiped)
  }
  return {
    async end() {
      app.unmount()
      await app.waitUntilExit()
    },
  }
}
