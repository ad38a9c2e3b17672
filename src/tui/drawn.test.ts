/**
 * Every screen over states and reads that are drawn from the schemas of the wire, in four sizes:
 * no line is wider than the terminal, and what stands there is under snapshot. For each state and
 * size that is a digest of all its frames, and for one of them the frames themselves. When a digest
 * changes, `HOLON_FRAMES=<folder>` writes the frames there, before the change and after it: compare
 * the two folders, and look at what stands where nothing, none and one are told.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventPage } from '../protocol/events/event-page.ts'
import { searchAnswer } from '../protocol/records/search-record.ts'
import { spendReport } from '../protocol/records/spend-record.ts'
import { taskList, taskOutput, taskRecord } from '../protocol/records/task-record.ts'
import { planView, workItemRecord } from '../protocol/records/work-item-record.ts'
import { stateRecord, type StateRecord } from '../protocol/views/state-record.ts'
import { whyRecord } from '../protocol/views/why.ts'
import { drawing, drawn } from '../testing/screens/drawn.ts'
import { openSession, press, until } from '../testing/screens/tui-session.ts'
import { textOf, widthOf } from './drawing/line.ts'

const now = '2026-03-02T09:00:00.000Z'
const sizes = [
  [200, 50],
  [120, 40],
  [80, 24],
  [44, 16],
] as const
const seeds = Array.from({ length: 12 }, (_, n) => n + 1)

/** What answers a read, by the end of its path. */
const schemas = [
  [/\/work-items\/\w+$/, workItemRecord],
  [/\/plan$/, planView],
  [/\/why$/, whyRecord],
  [/\/tasks$/, taskList],
  [/\/tasks\/\w+$/, taskRecord],
  [/\/output$/, taskOutput],
  [/\/spend$/, spendReport],
  [/\/search$/, searchAnswer],
  [/\/events$/, eventPage],
] as const

/** The same answer to the same path, drawn when it is asked for first. */
function answersOf(seed: number): Record<string, unknown> {
  const known = new Map<string, unknown>()
  const answer = (path: string): unknown => {
    const found = schemas.findIndex(([is]) => is.test(path))
    const [, schema] = schemas[found] ?? []
    if (schema === undefined) return undefined
    const own = Buffer.from(path).reduce((sum, one) => (sum * 31 + one) % 1_000_003, seed)
    if (!known.has(path)) known.set(path, drawn<unknown>(schema, drawing(own)))
    return known.get(path)
  }
  return new Proxy({}, { get: (_, path) => answer(String(path)) })
}

function stateOf(seed: number): StateRecord {
  const state = drawn(stateRecord, drawing(seed * 7_919))
  return { ...state, now, last_seq: 0 }
}

/** Lists, what is opened of them, the boxes, and what each key of a list does. */
const walks: readonly (readonly string[])[] = [
  ['1', 'j', 'space', 'a', 'esc', 'x', 'esc', 'c', 'esc', 'S', 'esc', 'R', 'esc', ':', 'j', 'esc'],
  ['2', 'j', 'G', 'g', '3', 'j', 'enter', 'esc', '4', 'j', 'enter', 'esc', '5', 'j', '6', 'j'],
  ['2', 'enter', 'v', 'p', 't', 'w', 's', 'e', 'l', 'space', 'a', 'esc', 'c', 'esc', 'esc'],
  ['/', 'x', 'enter', 'j', 'esc', '?', 'esc', 'i', 'esc', 'n', 'esc', 'b', 'esc', 'd', 'esc'],
]

const digest = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16)

for (const [columns, rows] of sizes) {
  test(
    `what screens of ${columns}x${rows} show of drawn states`,
    { timeout: 60_000 },
    async (t) => {
      const all: string[] = []
      for (const seed of seeds) {
        const state = stateOf(seed)
        const { session } = await openSession(t, () => state, {
          answers: answersOf(seed),
          size: [columns, rows],
        })
        const frames: string[] = []
        const look = async (what: string) => {
          await until(session, () => session.isWhole())
          for (const line of session.frame()) assert.ok(widthOf(line) <= columns, textOf(line))
          const shown = session.frame().map((line) => textOf(line).trimEnd())
          frames.push(`== ${what}\n${shown.join('\n')}`)
        }
        await look('begin')
        for (const walk of walks) {
          for (const [n, key] of walk.entries()) {
            press(session, key)
            await look(walk.slice(0, n + 1).join(' '))
          }
          press(session, 'esc', 'esc', 'esc')
        }
        session.close()
        const whole = frames.join('\n')
        const folder = process.env['HOLON_FRAMES']
        if (folder !== undefined) {
          writeFileSync(join(folder, `${columns}x${rows}-${seed}.txt`), `${whole}\n`)
        }
        all.push(`state ${seed}: ${frames.length} frames, ${digest(whole)}`)
        if (columns === 80 && seed === 3) all.push(...whole.split('\n'))
      }
      t.assert.snapshot(all)
    },
  )
}
