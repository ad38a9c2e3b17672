// What a run shows while it goes on: nothing any more once it was told to stop, whatever of its
// looks is still on the way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Emitted } from '../../protocol/records/records.ts'
import { virtualClock } from '../../testing/virtual-clock.ts'
import type { Context } from '../command/context.ts'
import type { OwnedHome } from '../command/run-ports.ts'
import { RunProgress } from './progress.ts'
import type { RunScreen } from '../command/run-screen.ts'
import type { RunLines } from '../../present/lines/run-lines.ts'

const meta = {} as Emitted['meta']
const running = [
  { type: 'call_recorded', id: 'call_1', tool_name: 'ExecCommand', input: { cmd: 'make' } },
  { type: 'call_started', id: 'call_1', task_id: 'task_1' },
].map((event) => ({ event, meta }) as unknown as Emitted)

for (const isTerminal of [true, false]) {
  test(`a look that ends after the run shows nothing ${isTerminal ? 'on a terminal' : 'in a pipe'}`, async () => {
    const clock = virtualClock()
    const shown: unknown[] = []
    const looks: PromiseWithResolvers<number | null>[] = []
    const context = { ports: { clock } } as unknown as Context
    const owned = {
      output_bytes: () => {
        const look = Promise.withResolvers<number | null>()
        looks.push(look)
        return look.promise
      },
    } as unknown as OwnedHome
    const screen = {
      isTerminal,
      lines: () => undefined,
      status: (line: string) => shown.push(line),
      say: (lines: string[]) => shown.push(...lines),
    } as unknown as RunScreen
    const lines = { take: () => [], turnNumber: 1, counts: { usage: null } } as unknown as RunLines
    const progress = new RunProgress(context, owned, screen, lines)
    progress.take(running)
    await clock.advance(60_000)
    looks.shift()?.resolve(5)
    await clock.advance(0)
    const [before] = shown.splice(0)
    assert.equal(
      before,
      isTerminal ? 'make 1:00 - nothing needs you' : 'still running 1:00, last output 0 ms ago',
    )
    await clock.advance(60_000)
    progress.stop()
    looks.shift()?.resolve(9)
    await clock.advance(60_000)
    assert.deepEqual([shown, looks], [[], []])
  })
}
