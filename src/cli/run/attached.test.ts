import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Api } from '../../client/api.ts'
import { eventsOf } from '../../testing/screens/scenes.ts'
import { aState } from '../../testing/screens/state.ts'
import { aStage } from '../../testing/screens/tui-stage.ts'
import { attach, type AttachedPorts } from './attached.ts'

test('a run that leaves closes its reader after the facts that it was reading', async () => {
  const stage = aStage(() => aState())
  const { ports } = stage
  const order: string[] = []
  const [opened, asked, read] = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
  assert.ok(opened && asked && read)
  const reader = {
    lastGlobalSeq: () => Promise.resolve(0),
    agents: () => Promise.resolve([]),
    live: async () => {
      order.push('reads')
      asked.resolve()
      await read.promise
      order.push('has read')
      return null
    },
    close: () => {
      order.push('is closed')
      return Promise.resolve()
    },
  }
  const fetch: typeof ports.api.fetch = async (url, given) => {
    const response = await ports.api.fetch(url, given)
    opened.resolve()
    return response
  }
  const home = await attach({
    reader: reader as unknown as AttachedPorts['reader'],
    api: new Api(ports.api, { base_url: 'http://127.0.0.1:7777' }),
    stream: { fetch, clock: ports.clock },
    door: { fetch } as unknown as AttachedPorts['door'],
    now: () => '2026-03-02T09:00:00.000Z',
  })
  await home.host.open()
  await opened.promise
  const [stored] = eventsOf('claimed')
  assert.ok(stored)
  stage.say({ id: stored.global_seq, event: stored.event.type, data: stored })
  await asked.promise
  const closing = home.close('safe_point')
  for (let n = 0; n < 20; n += 1) await new Promise((next) => setImmediate(next))
  assert.deepEqual(order, ['reads'])
  read.resolve()
  await closing
  assert.deepEqual(order, ['reads', 'has read', 'is closed'])
})
