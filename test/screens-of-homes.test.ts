/**
 * What each screen shows of the home of the demonstration, small and large, under snapshot: the
 * terminal screen over the real API, by keys that change nothing.
 */
import { test } from 'node:test'
import { join } from 'node:path'
import { openApi } from '../src/testing/http/api.ts'
import { countedIds, earlierHome, homeApart, later } from '../src/testing/host/home-apart.ts'
import { controlToken, port } from '../src/testing/http/http-home.ts'
import { press, until } from '../src/testing/screens/tui-session.ts'
import { aStage, options } from '../src/testing/screens/tui-stage.ts'
import { aState } from '../src/testing/screens/state.ts'
import { virtualClock } from '../src/testing/virtual-clock.ts'
import { keyOf, type ActionName } from '../src/tui/model/keys.ts'
import { textOf } from '../src/tui/drawing/line.ts'
import { Session } from '../src/tui/session.ts'

const sizes = [
  [80, 24],
  [200, 50],
] as const

/** Walked from the first to the last; what is opened is left again. */
const lists: readonly ActionName[] = ['home', 'board', 'agents', 'tasks', 'waits', 'events']
const views: readonly ActionName[] = ['thread', 'plan', 'item_tasks', 'why', 'spend', 'item_events']

for (const [columns, rows] of sizes) {
  test(`the screens of a home at ${columns}x${rows}`, { timeout: 120_000 }, async (t) => {
    const earlier = earlierHome('demo')
    const home = await homeApart(t, earlier)
    const known = (earlier.tables['agents'] ?? []).map(({ id }) => String(id))
    const workspace = join(home, '..')
    const clock = virtualClock(later)
    const api = await openApi(t, { home, workspace, agents: [], known, clock, ids: countedIds() })
    await api.box.host.open()
    const stage = aStage(() => aState({ now: new Date(later).toISOString() }))
    const host = `127.0.0.1:${port}`
    const fetch: typeof stage.ports.api.fetch = async (url, { headers, ...init }) =>
      api.app.request(url, { ...init, headers: { ...headers, host } })
    const token = () => Promise.resolve(controlToken)
    const ports = {
      ...stage.ports,
      door: () => Promise.resolve({ url: `http://${host}`, of: 'daemon' as const }),
      api: { ...stage.ports.api, clock, token, fetch },
    }
    const session = new Session(ports, options, { columns, rows })
    t.after(() => session.close())
    void session.run()
    const lines = () => session.frame().map(textOf)
    const shown: string[] = []
    const look = async (what: string) => {
      await until(session, () => session.isWhole() && !lines().join('\n').includes('reading …'))
      shown.push(`== ${what}`, ...lines().map((line) => line.trimEnd().replaceAll(home, '<home>')))
    }
    await look('begin')
    for (const action of lists) {
      press(session, keyOf(action).keys[0] ?? '')
      await look(action)
    }
    for (const at of [0, 3]) {
      press(session, keyOf('board').keys[0] ?? '', keyOf('first').keys[0] ?? '')
      for (let down = 0; down < at; down += 1) press(session, 'j')
      press(session, 'enter')
      for (const view of views) {
        press(session, keyOf(view).keys[0] ?? '')
        await look(`item ${at}: ${view}`)
      }
    }
    t.assert.snapshot(shown)
  })
}
