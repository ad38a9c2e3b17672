/**
 * A wait for something outside that nothing tells of: the look at it comes again by itself, and a
 * look that finds nothing ends without a word.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { says } from '../../src/testing/scripted-model.ts'
import { requestSnapshot } from '../support/request-text.ts'
import { onA, waiting } from '../support/scene.ts'
import { minute } from '../support/stage.ts'

test('after a look that ended as told the next one comes, with what it is to look at', async (t) => {
  const s = await onA(
    t,
    waiting('external', {
      source: 'registry',
      resource: 'unitly@2.0.0',
      condition: 'npm view unitly version prints 2.0.0',
      recheck_after_ms: 5 * minute,
    }),
    () => says(''),
    () => says(''),
  )
  await s.say('Wait until 2.0.0 is out.')
  await s.pass(5 * minute)
  assert.equal(s.model.requests.length, 4)
  const wait = await s.wait('A')
  assert.equal(wait.status, 'active')
  await s.pass(10 * minute)
  const request = s.model.requests[4]
  requestSnapshot(t, request, s.box.home, s.box.workspace)
  const [opening = ''] = (request?.messages ?? []).map((message) =>
    message.role === 'user' ? message.content : '',
  )
  assert.match(opening, /condition "npm view unitly version prints 2\.0\.0"/)
  assert.match(opening, /Its recheck time \S+ has come/)
  assert.match(opening, /an empty answer is enough/)
  assert.deepEqual(await s.briefs(), [])
  await s.sound()
})
