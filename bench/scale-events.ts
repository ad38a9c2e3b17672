/**
 * What the length of the history costs, from a hundred events to a million: opening the ledger,
 * reading an agent into memory, a commit, and a page of events, in this process and on the same
 * four agents. On the wall, and of this process alone, which other work on the machine does not
 * change.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock, systemIds } from '../src/exec/clock.ts'
import { openLedger } from '../src/ledger/store/open.ts'
import { Store } from '../src/runtime/store.ts'
import { writeHistory } from './fixtures/long-history.ts'
import { load, spread, type Bench } from './fixtures/machine.ts'
import type { Line } from './report.ts'
import { itemCreated, messageAdmitted } from '../src/testing/events.ts'

const agents = 4
const agent = 'agent-1'

type Timed = { wall: number[]; own: number[] }

async function timed(times: number, run: (n: number) => Promise<unknown>): Promise<Timed> {
  const found: Timed = { wall: [], own: [] }
  for (let n = 0; n < times; n++) {
    const [from, used] = [performance.now(), process.cpuUsage()]
    await run(n)
    const { user, system } = process.cpuUsage(used)
    found.wall.push(performance.now() - from)
    found.own.push((user + system) / 1_000)
  }
  return found
}

export async function scaleEvents(
  bench: Bench,
  { events, times }: { events: number; times: number },
): Promise<Line[]> {
  const home = bench.folder('scale-events')
  const written = await writeHistory(home, { events, agents, open_items: 0 })
  const [clock, ids] = [systemClock(), systemIds()]
  const env = { clock_now: () => clock.now(), mint: (prefix: string) => ids.mint(prefix) }
  const opened = await timed(Math.ceil(times / 20), async () => {
    await (await openLedger(home, env)).close()
  })
  const ledger = await openLedger(home, env)
  const store = new Store(ledger, clock, ids)
  const loaded = await timed(Math.ceil(times / 4), async () => {
    store.forget(agent)
    await store.loaded(agent)
  })
  const committed = await timed(times, () =>
    store.transact(agent, 'bench', (d) => {
      d.emit(messageAdmitted({ id: d.mint('msg'), body: 'One more.' }))
      d.emit(itemCreated({ id: d.mint('work') }))
    }),
  )
  const page = { agent_id: agent, limit: 100 }
  const middle = Math.floor(written / agents / 2)
  const read = await timed(times, () => ledger.events({ ...page, after: middle }))
  await ledger.close()
  const size = statSync(join(home, 'ledger', 'ledger.sqlite')).size / 2 ** 20
  const line = (what: string, { wall, own }: Timed): Line => ({
    what: `${events.toLocaleString('en')} events: ${what}`,
    ours: `${spread(wall, 2)} ms, own ${spread(own, 2)} ms`,
    floor: '',
    ratio: null,
    target: 'flat',
    load: load(),
  })
  return [
    line('the ledger is opened', opened),
    line('an agent is read', loaded),
    line('a commit of two events', committed),
    line('100 events from the middle', read),
    { ...line('size of the database', opened), ours: `${size.toFixed(1)} MB`, target: '' },
  ]
}
