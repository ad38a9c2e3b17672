// What the model says on the terminal of a run, before it is recorded.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { safeLines } from '../../present/text/safe.ts'
import { ShortIds } from '../../present/text/short-id.ts'
import { virtualClock } from '../../testing/virtual-clock.ts'
import type { Context } from '../command/context.ts'
import type { RunHost } from '../command/run-ports.ts'
import { RunScreen } from '../command/run-screen.ts'
import { LiveWords } from './live-words.ts'

/** A run on a terminal of so many columns; `written` is what has gone there since. */
function aRun({
  colour = false,
  stdout = true,
  columns = 40,
}: { stdout?: boolean; columns?: number | null; colour?: boolean } = {}) {
  const clock = virtualClock()
  const written: string[] = []
  const said = { text: '' }
  const ports = {
    clock,
    out: (text: string) => void written.push(text),
    err: (text: string) => void written.push(text),
  }
  const screen = new RunScreen(ports, {
    columns: () => columns,
    answersOnTerminal: stdout,
    ink: { colour, ascii: false },
    quiet: false,
    silent: false,
    zone: () => ({ now: '2026-03-02T09:00:00.000Z', utc: true }),
  })
  const host = {
    liveTexts: (agent_id: string) => {
      const { text } = said
      const after = (at: number) => [{ at, text: text.slice(at) }]
      const open = { agent_id, turn_id: 'turn_1', round: 1, attempt: 1, length: text.length, after }
      return text === '' ? [] : [open]
    },
  } as unknown as RunHost
  const context = { ports, ids: new ShortIds() } as unknown as Context
  const words = new LiveWords(context, host, screen, ['main'])
  return {
    clock,
    screen,
    words,
    says(more: string) {
      said.text += more
      words.heard()
    },
    recorded() {
      said.text = ''
      words.settle()
    },
    written: () => written.splice(0).join('').replaceAll('\u001b', '␛'),
  }
}

test('the first words are drawn at once, what follows twenty times a second, and go with the record', async () => {
  const run = aRun()
  run.says('I ')
  assert.equal(run.written(), '\r␛[K  I\n')
  run.says('look ')
  run.says('now.\nThere.')
  assert.equal(run.written(), '')
  await run.clock.advance(100)
  assert.equal(run.written(), '\r␛[1A␛[J  I look now.\n  There.\n')
  run.recorded()
  assert.equal(run.written(), '\r␛[2A␛[J')
  run.screen.say(['done'])
  assert.equal(run.written(), '\r␛[Kdone\n')
  run.words.stop()
})

test('a sign of life before the first words takes no turn from them', async () => {
  const run = aRun()
  run.words.heard()
  run.says('I ')
  assert.equal(run.written(), '\r␛[K  I\n')
  run.recorded()
  run.written()
  await run.clock.advance(50)
  run.says('I ')
  assert.equal(run.written(), '\r␛[K  I\n')
  run.words.stop()
})

test('the last lines of a long answer stand, each within the terminal', async () => {
  const run = aRun({ columns: 20 })
  run.says(Array.from({ length: 40 }, (_, n) => `line ${n}`).join('\n'))
  const lines = run.written().split('\n')
  assert.deepEqual([lines.length, lines[0], lines.at(-2)], [13, '\r␛[K  line 28', '  line 39'])
  run.says(`\n${'x'.repeat(60)}`)
  await run.clock.advance(100)
  assert.ok(run.written().includes(`\n  ${'x'.repeat(16)}…\n`))
})

test('what a terminal would obey is visible text', () => {
  const run = aRun()
  run.says('\u001b[2J\u202eevil')
  assert.equal(run.written(), '\r␛[K  \\x1b[2J<U+202E>evil\n')
})

for (const [where, given] of [
  ['a pipe', { columns: null }],
  ['a terminal whose answers go into a pipe', { stdout: false }],
] as const) {
  test(`${where} gets whole answers only`, () => {
    const run = aRun(given)
    run.says('I look')
    run.recorded()
    assert.equal(run.written(), '')
  })
}

test('a report has weight on a terminal, and stands as it was written before that can be read', async () => {
  const run = aRun({ colour: true })
  const report = { kind: 'words', brief: 'result', text: safeLines('**3** of `src`') } as const
  run.screen.lines([{ ...report, text: [...report.text] }])
  await run.screen.ready()
  run.screen.lines([{ ...report, text: [...report.text] }])
  assert.equal(run.written(), '\n  **3** of `src`\n\n\n  ␛[1m3␛[0m of ␛[36msrc␛[0m\n\n')
})
