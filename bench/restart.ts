/**
 * From the start of the process to its first request when the one before was killed in a tool call
 * of a long turn. The command ends while nobody is there, so that only the way back is measured.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { holon, load, runNode, spread, type Bench } from './fixtures/machine.ts'
import { nameFor, requestsBefore, type ModelFixture } from './fixtures/model-fixture.ts'
import type { Line } from './report.ts'

export async function restart(
  bench: Bench,
  model: ModelFixture,
  { rounds, times }: { rounds: number; times: number },
): Promise<Line[]> {
  const ms: number[] = []
  for (let i = 0; i < times; i++) {
    const name = nameFor({ kind: 'hang', rounds })
    const home = bench.folder('restart-home')
    const words = ['run', '--model', `openai-compatible/${name}`]
    words.push('--workspace', bench.folder('restart-work'), 'Go round.')
    const asked = model.answered(name, requestsBefore + rounds)
    const first = runNode(bench, holon(bench, home, words))
    await asked
    await state(home, rounds, 'command ')
    first.child.kill('SIGKILL')
    await first.ran
    await state(home, rounds, 'exit ')
    await model.take()

    const answered = model.answered(name, requestsBefore + rounds + 1)
    const second = runNode(bench, holon(bench, home, ['run', '--resume']))
    await answered
    const { arrivals } = await model.take()
    ms.push(((arrivals[0]?.at_us ?? Number.NaN) - second.started_us) / 1_000)
    second.child.kill('SIGKILL')
    await second.ran
  }
  return [
    {
      what: `restart after kill -9 with ${rounds} rounds, to the first request`,
      ours: `${spread(ms)} ms`,
      floor: '',
      ratio: null,
      target: '≤ 200 ms',
      load: load(),
    },
  ]
}

/** Resolves when the newest of `rounds` tasks has a line that begins so. */
async function state(home: string, rounds: number, line: string): Promise<void> {
  const tasks = join(home, 'tasks')
  for (;;) {
    const folders = readdirSync(tasks).toSorted()
    const newest = folders.length === rounds ? join(tasks, folders.at(-1) ?? '', 'state') : ''
    if (newest !== '' && statSync(newest, { throwIfNoEntry: false })) {
      if (
        readFileSync(newest, 'utf8')
          .split('\n')
          .some((one) => one.startsWith(line))
      )
        return
    }
    await new Promise((again) => setTimeout(again, 5))
  }
}
