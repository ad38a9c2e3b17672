/** What a client is told while the daemon has begun and not every agent was taken over yet. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentRow, done, fakeHome, problemIn, triggerRow } from '../../testing/http/http-home.ts'

test('the API is asked to come again, whoever may; what comes from outside is taken', async () => {
  const fake = fakeHome()
  const token = 't'.repeat(43)
  fake.put('agents', agentRow('main'))
  fake.put('triggers', triggerRow('main', token))
  fake.state.reply = () => done({ message_id: 'msg_1', id: 'dlv_1' })
  fake.gate.recovering = () => true
  const told = await fake.ask('/agents/main')
  assert.equal(told.headers.get('retry-after'), '1')
  assert.deepEqual(await problemIn(told), [503, 'not_ready'])
  const stranger = await fake.ask('/agents/main', { headers: { authorization: 'Bearer wrong' } })
  assert.equal(stranger.status, 401)
  const text = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'news' }
  assert.equal((await fake.ask(`/callbacks/${token}`, text)).status, 202)
  assert.equal((await fake.ask('/healthz')).status, 200)
  fake.gate.recovering = () => false
  assert.notEqual((await fake.ask('/agents/main')).status, 503)
})
