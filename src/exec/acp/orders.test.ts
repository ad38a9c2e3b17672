import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ACP_ORDER_BYTES } from './limits.ts'
import { type AcpOrder, orderLine, parseOrder } from './orders.ts'

const orders: AcpOrder[] = [
  { order: 'prompt', request_id: 'r1' },
  { order: 'answer', request_id: 'r1', permission_id: 'perm_1', option: 2 },
  { order: 'answer', request_id: 'r1', permission_id: 'perm_1', option: null },
  { order: 'cancel', request_id: 'r1' },
  { order: 'end' },
]
for (const order of orders) {
  test(`what is read of ${JSON.stringify(order)} is what was written`, () => {
    assert.deepEqual(parseOrder(orderLine(order)), order)
  })
}

test('a line that is no order is none', () => {
  const lines = [
    '',
    'null',
    '[]',
    '{"order":"prompt"}',
    '{"order":"prompt","request_id":"../r1"}',
    '{"order":"dance","request_id":"r1"}',
    '{"order":"answer","request_id":"r1","option":1}',
    '{"order":"answer","request_id":"r1","permission_id":1,"option":1}',
    '{"order":"answer","request_id":"r1","permission_id":"perm_1"}',
    '{"order":"answer","request_id":"r1","permission_id":"perm_1","option":"1"}',
    '{"order":"cancel","request_id":"r1"}{"order":"end"}',
  ]
  for (const line of lines) assert.equal(parseOrder(line), null, line)
})

test('an order is written up to its limit, its line end included, and not beyond it', () => {
  const answer = { order: 'answer', request_id: 'r1', permission_id: '', option: 1 } as const
  const room = ACP_ORDER_BYTES - orderLine(answer).length
  const longest = { ...answer, permission_id: 'x'.repeat(room) }
  assert.equal(orderLine(longest).length, ACP_ORDER_BYTES)
  assert.throws(() => orderLine({ ...longest, request_id: 'r10' }), /over its limit/)
})
