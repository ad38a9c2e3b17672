/**
 * A turn decided again from its ledger is the same turn, through a crash-free life of messages,
 * commands, waits and completions; and what was changed in the ledger is named with its event.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { openHomeReader } from '../src/main/homes/reader.ts'
import { replayTurn } from '../src/runtime/replay/replay.ts'
import { done, onA, waiting, type Scene } from './support/scene.ts'
import { call, runs } from './support/scripts.ts'
import { calls, fails, says, scriptedModel, type Script } from '../src/testing/scripted-model.ts'
import { openStage, type Stage } from './support/stage.ts'

/** Two turns: one that runs a command and waits for a minute, one that completes the item. */
async function lived(t: TestContext): Promise<Scene> {
  const scene = await onA(
    t,
    () => calls(runs('echo one'), call('ReadFile', { path: 'gone.txt' })),
    waiting('timer', { wait_ms: 60_000, reason: 'a minute' }),
    done('A'),
  )
  await scene.say('Begin.')
  await scene.passOn()
  return scene
}

async function replays(scene: Stage) {
  const { ledger, home } = scene.box
  const ends = []
  for (const turn of await scene.rows('turns')) ends.push(await replayTurn(ledger, home, turn))
  return ends
}

/** Changes the data of events of a closed home, as only a hand could. */
function tamper(home: string, sql: string): void {
  const database = new DatabaseSync(join(home, 'ledger', 'ledger.sqlite'))
  // The store itself refuses to change an event.
  const guards = database.prepare("select name from sqlite_master where type = 'trigger'").all()
  for (const { name } of guards) database.exec(`drop trigger ${String(name)}`)
  database.exec(sql)
  database.close()
}

async function readAgain(home: string) {
  const reader = await openHomeReader(home)
  assert.ok(reader)
  const turns = await reader.list('turns', { limit: 9 })
  const ends = []
  for (const { id } of turns) ends.push(await reader.replay(id))
  await reader.close()
  return ends
}

test('every decision and request of each turn comes out the same', async (t) => {
  const scene = await lived(t)
  assert.deepEqual(await replays(scene), [
    { ok: true, decisions: 10, requests: 4, divergence: null },
    { ok: true, decisions: 3, requests: 1, divergence: null },
  ])
})

const reads = () => calls('I read on.', call('ReadFile', { path: 'long.txt' }))
const reading = async (t: TestContext, script: Script) => {
  const model = scriptedModel(script)
  const scene = await openStage(t, { model, context_window: 32_000 })
  const text = 'a line of text, forty characters long...\n'.repeat(400)
  writeFileSync(join(scene.box.workspace, 'long.txt'), text)
  await scene.say('Read it all.')
  return Object.assign(scene, { model })
}

test('a turn that was compacted, in time and when its provider asked, comes out the same', async (t) => {
  const inTime = await reading(t, (_, n) => (n < 14 ? reads() : says('Enough.')))
  let refused = false
  const asked = await reading(t, (_, n) => {
    if (n === 4 && !refused) {
      refused = true
      return fails({ kind: 'refused', code: 'context_length' })
    }
    return n < 6 ? reads() : says('Enough.')
  })
  for (const scene of [inTime, asked]) {
    const rounds = await scene.rows('rounds')
    assert.ok(rounds.some(({ recapped }) => recapped !== undefined))
    const [end] = await replays(scene)
    assert.ok(end?.ok)
    assert.deepEqual([end.requests, end.divergence], [rounds.length, null])
  }
})

test('a decision that was changed is named with its event and both sides', async (t) => {
  const scene = await lived(t)
  const { home } = scene.box
  await scene.box.close()
  tamper(
    home,
    `update events set data = json_set(data, '$.because', 'the moon is full')
      where type = 'decision_made' and seq > 20`,
  )
  const [first, second] = await readAgain(home)
  assert.deepEqual(first, { ok: true, decisions: 10, requests: 4, divergence: null })
  assert.ok(second?.ok)
  assert.equal(second.divergence?.what, 'the decision')
  assert.match(second.divergence.stored, /the moon is full/)
  assert.match(second.divergence.again, /"because":"the current item is runnable/)
  assert.equal(second.decisions, 0)
})

test('an opening that is gone is named, and one with other bytes is refused', async (t) => {
  const scene = await lived(t)
  const { home } = scene.box
  const [round] = await scene.rows('rounds')
  const its = `where sha256 = '${round?.opening_sha256}'`
  await scene.box.close()
  tamper(home, `update blobs set bytes = x'7b7d' ${its}`)
  await assert.rejects(readAgain(home), { code: 'corrupt' })
  tamper(home, `delete from blobs ${its}`)
  const [first] = await readAgain(home)
  assert.ok(first?.ok)
  assert.deepEqual(
    [first.divergence?.what, first.divergence?.again, first.requests],
    ['request 1: its opening', 'the blob is gone', 0],
  )
})

test('below retention, and while it is open, a turn is not replayed', async (t) => {
  const scene = await lived(t)
  const [turn] = await scene.rows('turns')
  assert.ok(turn)
  const { ledger, home } = scene.box
  const cut = { ...ledger, eventRange: () => Promise.resolve({ first: 7, last: 40 }) }
  assert.deepEqual(await replayTurn(cut, home, turn), {
    ok: false,
    code: 'below_retention',
    message: 'retention took the events of main before 7',
    hint: 'a turn is replayed from its agent’s first event: a backup from before has them',
  })
  const open = { ...turn, state: 'open' as const }
  const end = await replayTurn(ledger, home, open)
  assert.deepEqual([end.ok, end.ok ? null : end.code], [false, 'open_turn'])
})
