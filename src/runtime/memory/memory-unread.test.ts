/** What no turn has claimed is the operator's alone to find: it can still be taken back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callbackEvent } from '../../domain/state/provenance.ts'
import { memoryHome } from '../../testing/world/memory-home.ts'
import { messageAdmitted, turnStarted } from '../../testing/events.ts'

test('an agent finds words of the operator from their claim on, and never those taken back', async (t) => {
  const box = await memoryHome(t)
  const lane = await box.lane('main')
  const [kept, gone] = [messageAdmitted({ body: 'zebra' }), messageAdmitted({ body: 'zebra too' })]
  const event = messageAdmitted({ body: 'a zebra came', provenance: callbackEvent })
  await lane.emit(kept, gone, event)
  const found = async (viewer: string | null) => (await box.refs(viewer, 'zebra')).toSorted()
  const got = async (ref: string) => (await box.memory.get('main', ref, 'seed')).ok
  const all = [kept.id, gone.id, event.id].toSorted()
  assert.deepEqual([await found('main'), await found(null)], [[event.id], all])
  assert.deepEqual([await got(kept.id), await got(gone.id)], [false, false])
  const turn = turnStarted()
  await lane.emit({ type: 'message_taken_back', id: gone.id, surface: 'tui' }, turn, {
    type: 'message_claimed',
    id: kept.id,
    turn_id: turn.id,
    to_coalesce: false,
  })
  const read = [kept.id, event.id].toSorted()
  assert.deepEqual([await found('main'), await found(null)], [read, all])
  assert.deepEqual([await got(kept.id), await got(gone.id)], [true, false])
})
