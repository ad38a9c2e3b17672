/**
 * The table of all awaits: how many there are in each file, and how many were open while somebody
 * else wrote. Those that never were are named in `never-interleaved.json`, by function, with the
 * reason; a new one that no story passes has none, and is found by that.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { awaitsOf, rooms, type Await } from './awaits.ts'
import type { Cover } from './cover.ts'
import { begunSoFar, watchAwaits } from './open-awaits.ts'

/** So many awaits of that function were never interleaved. */
type ByFunction = { [within: string]: number }
type Never = { reason: string; awaits: { [file: string]: ByFunction } }

export type Table = Cover & { all: readonly Await[]; begun: ReadonlySet<number> }

const root = join(import.meta.dirname, '..', '..')
const named = join(import.meta.dirname, 'never-interleaved.json')

export const neverNamed = (): Never[] => JSON.parse(readFileSync(named, 'utf8')) as Never[]

/** Tells every story; what it loads is loaded here for the first time, or it is not watched. */
export async function tableOfAwaits(): Promise<Table> {
  const all = awaitsOf(root)
  watchAwaits(root, all)
  const { cover } = await import('./cover.ts')
  const { stories } = await import('./stories.ts')
  const covered = await cover(stories)
  return { ...covered, all, begun: begunSoFar() }
}

const keyOf = ({ file, within }: Pick<Await, 'file' | 'within'>): string => `${file} ${within}`

/** What was never interleaved, by function. */
function neverSeen({ all, interleaved }: Table): Map<string, number> {
  const never = new Map<string, number>()
  for (const [n, one] of all.entries()) {
    if (!interleaved.has(n)) never.set(keyOf(one), (never.get(keyOf(one)) ?? 0) + 1)
  }
  return never
}

function neverByName(): Map<string, { count: number; reason: string }> {
  const found = new Map<string, { count: number; reason: string }>()
  for (const { reason, awaits } of neverNamed()) {
    for (const [file, byFunction] of Object.entries(awaits)) {
      for (const [within, count] of Object.entries(byFunction)) {
        found.set(keyOf({ file, within }), { count, reason })
      }
    }
  }
  return found
}

/** What the list and the table do not agree on, in words; none when they do. */
export function disagreements(table: Table): string[] {
  const [seen, names] = [neverSeen(table), neverByName()]
  return [...new Set([...seen.keys(), ...names.keys()])].toSorted().flatMap((key) => {
    const [is, named] = [seen.get(key) ?? 0, names.get(key)?.count ?? 0]
    return is === named ? [] : [`${key}: ${is} never interleaved, ${named} named`]
  })
}

/** The list anew: what has a reason keeps it, and what has none is under an empty one. */
export function writeNever(table: Table): void {
  const names = neverByName()
  const byReason = new Map<string, Never>(
    neverNamed().map(({ reason }) => [reason, { reason, awaits: {} }]),
  )
  for (const [key, count] of neverSeen(table)) {
    const [file = '', within = ''] = key.split(' ')
    const reason = names.get(key)?.reason ?? ''
    const one = byReason.get(reason) ?? { reason, awaits: {} }
    byReason.set(reason, one)
    one.awaits[file] = { ...one.awaits[file], [within]: count }
  }
  const left = [...byReason.values()].filter(({ awaits }) => Object.keys(awaits).length > 0)
  writeFileSync(named, `${JSON.stringify(left, null, 2)}\n`)
}

/** The table as lines. */
export function linesOf({ all, begun, interleaved, tellings }: Table): string[] {
  const counts = (some: readonly (readonly [number, Await])[]): string => {
    const [met, other] = [begun, interleaved].map((set) => some.filter(([n]) => set.has(n)).length)
    return `${some.length} awaits, ${met} begun, ${other} interleaved`
  }
  const entries = [...all.entries()]
  const files = Map.groupBy(entries, ([, { file }]) => file)
  const ofRoom = (room: string) => entries.filter(([, { file }]) => file.startsWith(`src/${room}/`))
  return [
    ...[...files].map(([file, some]) => `${file}: ${counts(some)}`),
    ...neverNamed().flatMap(({ reason, awaits }) => [
      `never interleaved: ${reason || 'nobody has said why'}`,
      ...Object.entries(awaits).map(
        ([file, functions]) =>
          `  ${file}: ${Object.entries(functions)
            .map(([within, count]) => (count === 1 ? within : `${within} (${count})`))
            .join(', ')}`,
      ),
    ]),
    ...rooms.map((room) => `${room}: ${counts(ofRoom(room))}`),
    `all: ${counts(entries)}, in ${tellings} tellings of stories`,
  ]
}
