/**
 * The pictures of the documentation: the real command on the demonstration's home, driven by keys
 * until it shows what is to be seen. `npm run screens` writes them; a test draws them again.
 */
import { join } from 'node:path'
import { CellGrid, type GridRow } from '../screens/cell-grid.ts'
import type { Demo } from './demo.ts'
import { told } from '../screens/picture.ts'

export type Picture = {
  readonly name: string
  readonly title: string
  readonly columns: number
  readonly rows: number
  /** `{main}`: its open item that was made last; `{main/Port}`: the one that begins so. */
  readonly words: readonly string[]
  /** What it has to show, and what is typed then; the last is what is looked at. */
  readonly steps: readonly { shows: RegExp; type?: string }[]
}

const size = (columns: number, rows: number) => ({ columns, rows })
/** A line of shell output has no screen to fill. */
const shell = (words: string, title: string, rows: number): Picture => ({
  name: `shell-${words.replace(/ \{.*/, '').replaceAll(' ', '-')}`,
  title,
  ...size(100, rows),
  words: words.split(' '),
  steps: [],
})
const isWhole = /live \d\d:\d\d[\s\S]*/
const enter = '\r'

export const pictures: readonly Picture[] = [
  {
    name: 'home',
    title: 'holon tui: what needs you, what works, what waits and why',
    ...size(120, 40),
    words: ['tui'],
    steps: [
      { shows: isWhole, type: 'n' },
      { shows: /› \? release/, type: '' },
      { shows: /\$[\d.]+ today[\s\S]*Next: your[\s\S]*Thread[\s\S]*\? +Approve/ },
    ],
  },
  {
    name: 'home-80x24',
    title: 'holon tui in 80 columns',
    ...size(80, 24),
    words: ['tui'],
    steps: [{ shows: /\$[\d.]+ today +live/ }],
  },
  {
    name: 'question',
    title: 'A question, docked below what it is about; nothing is chosen yet',
    ...size(80, 24),
    words: ['tui', '{release}'],
    steps: [{ shows: /\[thread\][\s\S]*Approve/, type: 'a' }, { shows: /nothing is chosen yet/ }],
  },
  {
    name: 'thread',
    title: 'The thread of an item that is worked on, with its plan, todos and tasks beside it',
    ...size(120, 40),
    words: ['tui', '{main}'],
    steps: [{ shows: /\[thread\][\s\S]*read 3 files[\s\S]*Todos 4 of 5[\s\S]*output \d+ s/ }],
  },
  {
    name: 'thread-200x50',
    title: 'The same with room for why beside it',
    ...size(200, 50),
    words: ['tui', '{main}'],
    steps: [{ shows: /\[thread\][\s\S]*read 3 files[\s\S]*Todos 4 of 5[\s\S]*output \d+ s/ }],
  },
  {
    name: 'why',
    title: 'Why an item is as it is, and what the scheduler said of each candidate',
    ...size(100, 30),
    words: ['tui', '{ops}'],
    steps: [{ shows: /\[thread\]/, type: 'w' }, { shows: /\[why\][\s\S]*SAME FROM A SHELL/ }],
  },
  {
    name: 'task',
    title: 'The output of a command as it comes',
    ...size(80, 24),
    words: ['tui', '{main/Port}'],
    steps: [
      { shows: /\[thread\]/, type: 't' },
      { shows: /\[tasks\][\s\S]*main[\s\S]*port\.sh/, type: enter },
      { shows: /output ─[\s\S]*(ok \d+ fixtures[\s\S]*){3}/ },
    ],
  },
  {
    name: 'help',
    title: 'Help, made from the one table of keys',
    ...size(100, 32),
    words: ['tui'],
    steps: [{ shows: isWhole, type: '?' }, { shows: /WHAT THE MARKS MEAN/ }],
  },
  {
    name: 'narrow',
    title: 'In 44 columns notes go under their titles',
    ...size(44, 16),
    words: ['tui'],
    steps: [{ shows: /live \d\d:\d\d/ }],
  },
  shell('inbox', 'holon inbox', 24),
  shell('work list', 'holon work list', 16),
  shell('why {ops}', 'holon why', 14),
]

export type Drawn = { readonly picture: Picture; readonly rows: readonly GridRow[] }

/** How long a frame may take to be what it has to be, in milliseconds. */
const patience = 60_000

type At = { demo: Demo; command: readonly string[] }

/**
 * Draws one picture; `until` is what the frame has to tell, where that is known. What it shows
 * instead when its time is up is in the error.
 */
export async function drawn(
  picture: Picture,
  { demo, command }: At,
  until?: readonly string[],
): Promise<Drawn> {
  const { columns, rows, steps } = picture
  const words = await Promise.all(picture.words.map((word) => named(demo, word)))
  const [program = '', ...args] = [...command, ...words]
  const grid = new CellGrid({
    command: program,
    args,
    columns,
    rows,
    cwd: demo.workspace,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: join(demo.home, '..'),
      HOLON_HOME: demo.home,
      LANG: 'C.UTF-8',
      TZ: 'UTC',
    },
  })
  const wanted = until?.join('\n')
  const isTold = () => wanted === undefined || told(grid.lines()).join('\n') === wanted
  try {
    if (steps.length === 0) await patient(grid, grid.ended)
    for (const { shows, type } of steps) {
      await patient(
        grid,
        grid.until(() => shows.test(grid.lines().join('\n'))),
      )
      if (type !== undefined) grid.type(type)
    }
    if (steps.length > 0) await patient(grid, grid.until(isTold))
    else if (!isTold()) throw new Error(grid.lines().join('\n'))
    return { picture, rows: grid.grid() }
  } finally {
    grid.kill()
  }
}

async function patient(grid: CellGrid, until: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(grid.lines().join('\n'))), patience)
  await Promise.race([until, late.promise]).finally(() => clearTimeout(timer))
}

/** `{ops}` as the id of that agent's newest open item, `{ops/Rotate}` of the one that begins so. */
async function named({ holon }: Demo, word: string): Promise<string> {
  const [, agent, begins = ''] = /^\{(\w+)\/?(\w*)\}$/.exec(word) ?? []
  if (agent === undefined) return word
  const list = await holon.ask('GET /agents/{agent}/work-items', { agent })
  if (!list.ok) throw new Error(`the items of ${agent} could not be read`)
  const [newest] = list.value.work_items
    .filter(({ objective }) => objective.startsWith(begins))
    .toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1))
  if (newest === undefined) throw new Error(`${agent} has no open item`)
  return newest.id
}
