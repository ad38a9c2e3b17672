/**
 * What a request shows is of one moment: a task of the item ends ahead of each read of the ledger
 * that a turn's first request makes, and no section says that it runs where another has its end.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Ledger } from '../src/ledger/port.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { call, creates, inOrder, picks, runs, until } from './support/scripts.ts'
import { openStage, textOf, type Stage } from './support/stage.ts'

/** The same ledger; `ahead` is told of each read and may let something happen before it. */
const watched = (ledger: Ledger, ahead: (read: string) => Promise<void>): Ledger =>
  new Proxy(ledger, {
    get(target, key) {
      const own = Reflect.get(target, key) as unknown
      if (typeof own !== 'function' || !reads.has(String(key))) return own
      return async (...given: unknown[]) => {
        await ahead(String(key))
        return (own as (...all: unknown[]) => unknown).apply(target, given)
      }
    },
  })
const reads: ReadonlySet<string> = new Set([
  'list',
  'noteEvents',
  'wordsAbout',
  'roundsOf',
  'roundsOfTurn',
  'row',
])

/** A turn about an item whose command ends ahead of the `n`th read; null: there were fewer. */
async function shown(t: TestContext, n: number): Promise<{ read: string; text: string } | null> {
  const box: { stage: Stage | null; seen: number; read: string | null } = {
    stage: null,
    seen: -1,
    read: null,
  }
  const model = scriptedModel(
    inOrder(
      () => creates('A'),
      () => picks(box.stage?.id('A') ?? ''),
      () => calls(runs(until('over'), { yield_ms: 0 })),
      () => calls(call('WaitFor', { wake: 'timer', wait_ms: 60_000, reason: 'a pause' })),
      ...Array.from({ length: 6 }, () => () => says('It goes on.')),
    ),
  )
  const ahead = async (read: string): Promise<void> => {
    const { stage } = box
    if (stage === null || box.seen < 0) return
    box.seen += 1
    if (box.seen !== n) return
    box.read = read
    writeFileSync(join(stage.box.workspace, 'over'), '')
    await stage.hurry('task_ended')
  }
  const stage = await openStage(t, { model, over: (ledger) => watched(ledger, ahead) })
  box.stage = stage
  await stage.act({ do: 'send', text: 'Begin.' })
  await stage.hurry('turn_ended')
  await stage.rest()
  const before = model.requests.length
  box.seen = 0
  await stage.act({ do: 'send', text: 'And?', work_item_id: stage.id('A') })
  await stage.hurry('round_recorded')
  if (box.read === null) writeFileSync(join(stage.box.workspace, 'over'), '')
  await stage.rest()
  return box.read === null ? null : { read: box.read, text: textOf(model.requests[before]) }
}

test('a task that ends while a request is put together is shown as running or as ended', async (t) => {
  const at: string[] = []
  for (let n = 1; ; n += 1) {
    const one = await shown(t, n)
    if (one === null) break
    at.push(one.read)
    const isRunning = /running since/.test(one.text)
    const isOver = /completed|has ended/.test(one.text.replaceAll(/"[^"]*"/g, ''))
    assert.ok(!(isRunning && isOver), `ahead of read ${n} (${one.read}):\n${one.text}`)
    assert.ok(isRunning || isOver, `ahead of read ${n} (${one.read}) it is nowhere:\n${one.text}`)
  }
  assert.ok(at.includes('noteEvents'), `only ${at.join(', ')}`)
})
