/**
 * From a committed message to the model request it causes, in a host that is up. In this process,
 * from the sources: what is measured begins when the commit of the message returned.
 */
import { systemClock } from '../src/exec/clock.ts'
import { keptAliveFetch } from '../src/models/transport/fetch.ts'
import { openModel } from '../src/models/catalogue/open-model.ts'
import { TEST_KEY } from '../src/testing/model-server/server.ts'
import { hostOver } from './fixtures/host.ts'
import { load, nowUs, quantile, spread, type Bench } from './fixtures/machine.ts'
import { nameFor, type ModelFixture } from './fixtures/model-fixture.ts'
import type { Line } from './report.ts'

async function hostOf(bench: Bench, name: string) {
  const clock = systemClock()
  const fetching = keptAliveFetch()
  const env = { OPENAI_COMPATIBLE_BASE_URL: bench.base_url, OPENAI_COMPATIBLE_API_KEY: TEST_KEY }
  const opened = await openModel(
    `openai-compatible/${name}`,
    { providers: {}, env, read_file: async () => '' },
    { clock, fetch: fetching.fetch },
  )
  if (!opened.ok) throw new Error(opened.rejection.message)
  const { host, close } = await hostOver(bench.folder('wake-home'), async () => opened)
  const workspace = { mode: 'explicit_root', root: bench.folder('wake-work') } as const
  await host.ensureAgent({ id: 'main', model: `openai-compatible/${name}`, workspace })
  await host.open()
  return {
    host,
    async close() {
      await close()
      fetching.close()
    },
  }
}

export async function wake(bench: Bench, model: ModelFixture, times: number): Promise<Line[]> {
  const first: number[] = []
  const warm: number[] = []
  for (let run = 0; run < 3; run++) {
    const name = nameFor({ kind: 'text', rounds: 0 })
    const up = await hostOf(bench, name)
    const { host } = up
    let admitted_us = 0
    let rested = Promise.withResolvers<void>()
    let ended = false
    host.subscribe((notice) => {
      if (notice.kind === 'committed') {
        if (notice.events.some(({ event }) => event.type === 'message_admitted')) {
          admitted_us = nowUs()
        }
        if (notice.events.some(({ event }) => event.type === 'turn_ended')) ended = true
      }
      if (notice.kind === 'resting' && ended) rested.resolve()
      if (notice.kind === 'fault') rested.reject(new Error(notice.message))
    })
    for (let i = 0; i < times; i++) {
      rested = Promise.withResolvers()
      ended = false
      const sent = await host.act({ do: 'send', agent_id: 'main', text: `Message ${i}.` })
      if (!sent.ok) throw new Error(sent.message)
      await rested.promise
      const { arrivals } = await model.take()
      const ms = ((arrivals[0]?.at_us ?? Number.NaN) - admitted_us) / 1_000
      if (i === 0) first.push(ms)
      // Before this the engine still compiles what it runs.
      else if (i >= 20) warm.push(ms)
    }
    await up.close()
  }
  const line = (what: string, ours: string, target: string): Line => ({
    what,
    ours,
    floor: '',
    ratio: null,
    target,
    load: load(),
  })
  const p95 = quantile(warm, 0.95).toFixed(1)
  return [
    line('committed wake to request, warm', `${spread(warm)} ms, p95 ${p95} ms`, 'p95 ≤ 5 ms'),
    line('the first one', `${spread(first)} ms`, '≤ 25 ms'),
  ]
}
