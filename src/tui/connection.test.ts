// Who is followed, and when a daemon is started for a home that nobody owns.
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { aState } from '../testing/screens/state.ts'
import { press, until } from '../testing/screens/tui-session.ts'
import { aStage, options } from '../testing/screens/tui-stage.ts'
import { settle } from '../testing/virtual-clock.ts'
import { textOf } from './drawing/line.ts'
import type { TuiPorts } from './ports.ts'
import { Session } from './session.ts'

type Owner = Awaited<ReturnType<TuiPorts['door']>>

const daemon: Owner = { url: 'http://127.0.0.1:7777', of: 'daemon' }
const run: Owner = { url: 'http://127.0.0.1:4321', of: 'run' }

/** A home with this owner; `next` owns it once a daemon was asked for, null: that is refused. */
function opened(t: TestContext, first: Owner, next: Owner = daemon) {
  const at = { owner: first, starts: 0, last_seq: 0 }
  const stage = aStage(() => {
    const { last_seq } = at
    return aState({ now: '2026-11-21T14:05:00.000Z', last_seq })
  })
  const followed: (string | undefined)[] = []
  const ports: TuiPorts = {
    ...stage.ports,
    api: {
      ...stage.ports.api,
      fetch(url, init) {
        if (url.endsWith('/events') || url.includes('/events?')) {
          followed.push(init.headers['last-event-id'])
        }
        return stage.ports.api.fetch(url, init)
      },
    },
    door: () => Promise.resolve(at.owner),
    start() {
      at.starts += 1
      at.owner = next
      return Promise.resolve(next === null ? 'port 7777 is in use' : null)
    },
  }
  const session = new Session(ports, options, { columns: 80, rows: 24 })
  t.after(() => session.close())
  void session.run()
  const isLive = () => session.model.p?.link.kind === 'live'
  const text = () => session.frame().map(textOf).join('\n')
  const ends = (owner: Owner) => {
    at.owner = owner
    stage.endStream()
  }
  return { session, stage, at, followed, isLive, text, ends }
}

describe('who owns the home', () => {
  test('a daemon is started for a home that nobody owns', async (t) => {
    const { session, at, isLive } = opened(t, null)
    await until(session, isLive)
    assert.deepEqual([at.starts, session.model.notice], [1, null])
  })

  test('a daemon that is there is followed, and none is started', async (t) => {
    const { session, at, isLive } = opened(t, daemon)
    await until(session, isLive)
    assert.equal(at.starts, 0)
  })

  test('one that does not start says why, and is tried again', async (t) => {
    const { session, at, stage, isLive } = opened(t, null, null)
    await until(session, () => session.model.trouble !== null)
    assert.deepEqual(session.model.trouble, {
      message: 'port 7777 is in use',
      tries: 1,
      next_at: '2026-11-21T14:05:01.000Z',
    })
    at.owner = daemon
    await stage.clock.advance(1_000)
    await until(session, isLive)
  })

  test('a run is followed, and when it has ended a daemon goes on at once', async (t) => {
    const { session, at, isLive, ends, text } = opened(t, run)
    await until(session, isLive)
    assert.equal(at.starts, 0)
    ends(null)
    await until(session, () => session.model.p?.link.kind === 'stale')
    await until(session, isLive)
    assert.equal(at.starts, 1)
    assert.match(text(), /the run has ended; a daemon serves this home now/)
  })

  test('nor is it when a run came after it that has ended', async (t) => {
    const { session, at, isLive, ends, text, stage } = opened(t, daemon)
    await until(session, isLive)
    ends(run)
    await until(session, () => session.model.p?.link.kind === 'stale')
    await stage.clock.advance(1_000)
    await until(session, isLive)
    ends(null)
    await until(session, () => session.model.trouble?.message === 'no daemon runs')
    assert.equal(at.starts, 0)
    assert.match(text(), /no daemon runs at .*r starts it/)
    press(session, 'r')
    await until(session, isLive)
    assert.equal(at.starts, 1)
  })

  test('a daemon that was stopped is not started behind anybody’s back, but by r', async (t) => {
    const { session, at, isLive, ends, text, stage } = opened(t, daemon)
    await until(session, isLive)
    ends(null)
    await until(session, () => session.model.p?.link.kind === 'stale')
    await stage.clock.advance(1_000)
    await until(session, () => session.model.trouble?.message === 'no daemon runs')
    assert.equal(at.starts, 0)
    assert.match(text(), /no daemon runs at 127\.0\.0\.1:7777; try \d in \d s +r starts it/)
    press(session, 'r')
    await until(session, isLive)
    assert.equal(at.starts, 1)
  })
})

describe('what streams', () => {
  const said = (at: number, text: string) => ({
    event: 'live',
    data: { kind: 'text_delta', agent_id: 'main', turn_id: 'turn_1', round: 1, at, text },
  })

  test('first words are shown at once, also right behind something else', async (t) => {
    const { session, stage, isLive } = opened(t, daemon)
    await until(session, isLive)
    const heard = () => session.model.p?.texts.get('turn_1:1')?.text
    stage.say({ event: 'live', data: { kind: 'heartbeat', at: '2026-11-21T14:05:00.000Z' } })
    await settle()
    stage.say(said(0, 'I '))
    await settle()
    assert.equal(heard(), 'I ')
    stage.say(said(2, 'look.'))
    await settle()
    assert.equal(heard(), 'I ')
    await stage.clock.advance(50)
    assert.equal(heard(), 'I look.')
  })

  test('what happened while the link was down is heard when it is back', async (t) => {
    const { session, stage, at, followed, isLive, ends } = opened(t, daemon)
    at.last_seq = 7
    await until(session, isLive)
    at.last_seq = 12
    ends(daemon)
    await until(session, () => !isLive())
    await stage.clock.advance(1_000)
    await until(session, isLive)
    assert.deepEqual(followed, ['7', '7'])
  })
})
