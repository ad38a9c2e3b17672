/**
 * Bits that flip on the disk: a home with a history, one bit of one of its files turned, and what a
 * start, `verify` and the hashes say. Found or harmless; never a row that is wrong in silence,
 * never an error that nobody foresaw.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { tables } from '../../src/domain/state/event.ts'
import { openLedger } from '../../src/ledger/store/open.ts'
import { LedgerFault, type LedgerReads } from '../../src/ledger/port.ts'
import { live, newPlace, removePlace, type Place } from '../crash/scenario.ts'
import { openHome } from '../crash/stories-work.ts'
import type { Random } from '../soak/random.ts'
import { Killer } from '../support/killer.ts'
import { freshMint } from '../../src/testing/events.ts'

export type Flipped = { flips: number; by: Record<string, number>; problems: string[] }

const kinds = ['the database', 'its log', 'a blob', 'a plan file'] as const
type Kind = (typeof kinds)[number]

/** What became of one flip. */
type Fate = (typeof fates)[number]
const fates = [
  'refused at the start',
  'found by verify',
  'found by its hash',
  'harmless',
  'the last commit is gone, as after a cut',
] as const

export async function bitFlips(count: number, random: Random): Promise<Flipped> {
  const done: Flipped = { flips: 0, by: {}, problems: [] }
  const place = newPlace({})
  try {
    // The history, and the home as a kill would leave it: with a log beside the database.
    const living = join(place.folder, 'living')
    const scenario = openHome((home) => {
      execFileSync('cp', ['-a', home, living])
    })
    await live(scenario, place, new Killer(null))
    for (const [what, from] of [
      ['closed', place.home],
      ['killed', living],
    ] as const) {
      const files = filesOf(from)
      const sound = await soundOf(place, from)
      for (let n = 0; n < count / 2; n += 1) {
        const mine = kinds.filter((kind) => files[kind].length > 0)
        // The database twice as often as the rest.
        const kind = mine[random.between(-1, mine.length - 1)] ?? 'the database'
        const path = files[kind][random.between(0, files[kind].length - 1)] ?? ''
        const at = random.between(0, statSync(join(from, path)).size - 1)
        const bit = random.between(0, 7)
        const where = `${what}, ${kind} ${path}, bit ${bit} of byte ${at}`
        const fate = await fateOf(place, from, { kind, path, at, bit }, sound)
        done.flips += 1
        if (isFate(fate)) done.by[`${kind}: ${fate}`] = (done.by[`${kind}: ${fate}`] ?? 0) + 1
        else done.problems.push(`${where}: ${fate}`)
      }
    }
  } catch (error) {
    done.problems.push(String((error as Error).stack ?? error))
  } finally {
    removePlace(place)
  }
  return done
}

const isFate = (text: string): text is Fate => (fates as readonly string[]).includes(text)

/** Paths of a home, by what they are; what is empty has no bit to flip. */
function filesOf(home: string): Record<Kind, string[]> {
  const all = readdirSync(home, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => statSync(path).size > 0)
    .map((path) => relative(home, path))
  const those = (is: (path: string) => boolean) => all.filter(is).toSorted()
  return {
    'the database': those((path) => path === 'ledger/ledger.sqlite'),
    'its log': those((path) => path === 'ledger/ledger.sqlite-wal'),
    'a blob': those((path) => path.startsWith('ledger/blobs/')),
    'a plan file': those((path) => path.endsWith('plan.md')),
  }
}

const open = (home: string) =>
  openLedger(home, { clock_now: () => Date.UTC(2026, 0, 6), mint: freshMint })

/** Every row and every event: what a reader could be told. */
async function toldBy(ledger: LedgerReads): Promise<unknown> {
  const rows = await Promise.all(
    tables.map(async (table) => [table, await ledger.list(table, { limit: 10_000 })]),
  )
  return [rows, await ledger.events({ after: 0, limit: 100_000 })]
}

type Sound = { told: unknown; plans: Record<string, string> }

const hashOf = (path: string): string =>
  createHash('sha256').update(readFileSync(path)).digest('hex')

async function soundOf(place: Place, from: string): Promise<Sound> {
  const home = fresh(place, from)
  const ledger = await open(home)
  const told = await toldBy(ledger)
  await ledger.close()
  const plans = filesOf(from)['a plan file'].map((path) => [path, hashOf(join(from, path))])
  return { told, plans: Object.fromEntries(plans) as Record<string, string> }
}

function fresh(place: Place, from: string): string {
  const home = join(place.folder, 'flipped')
  rmSync(home, { recursive: true, force: true })
  mkdirSync(home, { mode: 0o700 })
  cpSync(from, home, { recursive: true })
  return home
}

type Flip = { kind: Kind; path: string; at: number; bit: number }

/** Its fate, or a sentence about what must not be. */
async function fateOf(place: Place, from: string, flip: Flip, sound: Sound): Promise<string> {
  const home = fresh(place, from)
  const path = join(home, flip.path)
  const bytes = readFileSync(path)
  bytes[flip.at] = (bytes[flip.at] ?? 0) ^ (1 << flip.bit)
  writeFileSync(path, bytes)
  if (flip.kind === 'a plan file') {
    // The agent's own editor may write it too: the row has the hash of what the runtime knew.
    return hashOf(path) === sound.plans[flip.path] ? 'its hash is the same' : 'found by its hash'
  }
  try {
    const ledger = await open(home)
    try {
      const { ok } = await ledger.verify()
      if (!ok) return 'found by verify'
      const told = await toldBy(ledger)
      if (isDeepStrictEqual(told, sound.told)) return 'harmless'
      if (flip.kind === 'its log' && flip.at >= lastCommit(join(from, flip.path))) {
        return 'the last commit is gone, as after a cut'
      }
      const [now, then] = [told, sound.told] as [unknown, unknown[]][]
      const less = (now?.[1].length ?? 0) - (then?.[1].length ?? 0)
      return `in silence it says something else, with ${less} events`
    } finally {
      await ledger.close().catch(ignored)
    }
  } catch (error) {
    if (error instanceof LedgerFault) return 'refused at the start'
    return `nobody foresaw: ${String((error as Error).stack ?? error)}`
  }
}

/** A damaged database may refuse to be closed in order too. */
const ignored = (error: unknown): void => {
  if (!(error instanceof LedgerFault)) throw error
}

/** Where the last transaction of a log begins: damage in it cannot be told from a power cut. */
function lastCommit(path: string): number {
  const log = readFileSync(path)
  const frame = 24 + log.readUInt32BE(8)
  const ends: number[] = []
  for (let at = 32; at + frame <= log.length; at += frame) {
    const salted = log.compare(log, 16, 24, at + 8, at + 16) === 0
    if (salted && log.readUInt32BE(at + 4) > 0) ends.push(at + frame)
  }
  return ends.at(-2) ?? 0
}
