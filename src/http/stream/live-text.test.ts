// What a model says, on the event stream: at once, ten times a second, once to each reader.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentRow, fakeHome, type FakeHome } from '../../testing/http/http-home.ts'
import { settle } from '../../testing/virtual-clock.ts'
import { httpLimits } from '../request/limits.ts'

type Piece = { at: number; text: string }

/** A home in which one model speaks. */
function speaking() {
  const fake = fakeHome()
  fake.put('agents', agentRow('main'))
  let text = ''
  let attempt = 1
  const show = () => {
    const said = text
    const after = (at: number) => (at < said.length ? [{ at, text: said.slice(at) }] : [])
    const open = { agent_id: 'main', turn_id: 'turn_1', round: 1, attempt, length: said.length }
    fake.state.texts.splice(0, 1, { ...open, after })
    fake.tell({ kind: 'said', agent_id: 'main' })
  }
  return {
    fake,
    says: (more: string) => {
      text += more
      show()
    },
    fails: () => {
      text = ''
      attempt += 1
      show()
    },
    recorded: () => {
      fake.state.texts.splice(0, 1)
      fake.commit('main', { type: 'round_recorded', id: 'turn_1:1' })
    },
  }
}

/** Opens a stream; `heard` is what has come of words and events since it was asked last. */
async function reader(fake: FakeHome) {
  const headers = { accept: 'text/event-stream' }
  const answer = await fake.ask('/events?after=0', { headers })
  const body = (answer.body ?? assert.fail('no body')).getReader()
  const decoder = new TextDecoder()
  let text = ''
  const read = async () => {
    for (;;) {
      const { done, value } = await body.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
    }
  }
  const over = read()
  await settle()
  return {
    async heard(): Promise<(Piece | string)[]> {
      await settle()
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      return frames.flatMap((frame): (Piece | string)[] => {
        const id = /^id: (.*)$/m.exec(frame)?.[1]
        if (id !== undefined) return [id]
        const data = /^data: (.*)$/m.exec(frame)?.[1]
        const live = data === undefined ? null : (JSON.parse(data) as Piece & { kind: string })
        return live?.kind === 'text_delta' ? [{ at: live.at, text: live.text }] : []
      })
    },
    async close() {
      await body.cancel()
      await over
    },
  }
}

const pause = httpLimits.live_pause.value

test('the first words come at once, those of the next tenth of a second together', async () => {
  const { fake, says } = speaking()
  const one = await reader(fake)
  says('I ')
  assert.deepEqual(await one.heard(), [{ at: 0, text: 'I ' }])
  says('look ')
  says('now')
  assert.deepEqual(await one.heard(), [])
  await fake.clock.advance(pause)
  assert.deepEqual(await one.heard(), [{ at: 2, text: 'look now' }])
  await fake.clock.advance(pause)
  says('.')
  assert.deepEqual(await one.heard(), [{ at: 10, text: '.' }])
  await one.close()
  assert.equal(fake.clock.nextDue(), null)
})

test('who comes in the middle gets what was said so far once, and then the rest', async () => {
  const { fake, says } = speaking()
  const before = await reader(fake)
  says('I ')
  says('look ')
  const after = await reader(fake)
  says('now.')
  await fake.clock.advance(pause)
  const [early, late] = [await before.heard(), await after.heard()]
  assert.deepEqual(late, [
    { at: 0, text: 'I look ' },
    { at: 7, text: 'now.' },
  ])
  assert.equal((early as Piece[]).map(({ text }) => text).join(''), 'I look now.')
  await before.close()
  await after.close()
})

test('words of an attempt that failed are void, and the next begins anew', async () => {
  const { fake, says, fails } = speaking()
  const one = await reader(fake)
  says('I lo')
  fails()
  await fake.clock.advance(pause)
  says('Look')
  await fake.clock.advance(pause)
  assert.deepEqual(await one.heard(), [
    { at: 0, text: 'I lo' },
    { at: 0, text: '' },
    { at: 0, text: 'Look' },
  ])
  await one.close()
})

test('nothing of a text follows its record', async () => {
  const { fake, says, recorded } = speaking()
  const one = await reader(fake)
  says('I ')
  says('look.')
  recorded()
  await fake.clock.advance(pause)
  assert.deepEqual(await one.heard(), [{ at: 0, text: 'I ' }, '1'])
  await one.close()
})
