import assert from 'node:assert/strict'
import { test } from 'node:test'
import { designedState } from '../../testing/screens/home.ts'
import { openSession } from '../../testing/screens/tui-session.ts'
import type { TuiModel } from '../model/model.ts'
import { update } from './update.ts'

test('sixty-four reads are held, and then the one that was read longest ago goes', async (t) => {
  const { session } = await openSession(t, designedState)
  let model: TuiModel = { ...session.model, details: new Map() }
  const read = (n: number) => {
    const message = {
      kind: 'read',
      key: `plan ${n}`,
      version: '1',
      failure: null,
      value: n,
    } as const
    model = update(model, message)[0]
  }
  const held = () => [...model.details.keys()].map((key) => Number(key.replace('plan ', '')))
  const first = Array.from({ length: 64 }, (_, n) => n)
  for (const n of first) read(n)
  assert.deepEqual(held(), first)
  // Read again, it is among the newest.
  read(0)
  assert.deepEqual(held(), [...first.slice(1), 0])
  read(64)
  assert.deepEqual(held(), [...first.slice(2), 0, 64])
})
