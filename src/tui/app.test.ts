/** The bytes a terminal gets: the frame as it is, no clearing of the screen, nothing while idle. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { designedState } from '../testing/screens/home.ts'
import { aState } from '../testing/screens/state.ts'
import { aStage, aTerminal, options, silent } from '../testing/screens/tui-stage.ts'
import { runTui } from './run.ts'

/** What never stands on the screen is a failure of its test. */
const limit = { timeout: 20_000 }

test('the screen is drawn line by line, stands still while idle, and is given back', async () => {
  const quiet = () => designedState({ turns: [], tasks: [] })
  const stage = aStage(quiet)
  const terminal = aTerminal(80, 24)
  const { stdin, stdout } = terminal
  const ended = runTui({ ...stage.ports, stdin, stdout }, options)
  const shows = async (pattern: RegExp) => {
    for (;;) {
      const lines = await terminal.lines()
      if (lines.some((line) => pattern.test(line))) return lines
      await new Promise((next) => setImmediate(next))
    }
  }
  const home = await shows(/live 14:05/)
  assert.match(home[2] ?? '', /^› \? release {2}Approve the changelog/)
  const before = terminal.bytes.length
  await stage.clock.advance(14_000)
  for (let n = 0; n < 50; n += 1) await new Promise((next) => setImmediate(next))
  assert.deepEqual(terminal.bytes.slice(before), [])
  terminal.type('j')
  await shows(/^› ✗ default/)
  const bytes = terminal.bytes.join('')
  assert.ok(!bytes.includes('\u001b[2J'), 'the screen was cleared')
  assert.ok(terminal.bytes.slice(before).join('').length < 2_000)
  terminal.type('q')
  await ended
  assert.ok(terminal.bytes.join('').includes('\u001b[?1049l'), 'the screen was not given back')
})

test(
  'a window that changes its size is drawn as one that had it from the first',
  limit,
  async () => {
    const sizes = [
      [200, 50],
      [80, 24],
      [40, 24],
      [80, 12],
      [120, 40],
      [200, 50],
      [40, 10],
    ] as const
    const state = () => aState({ now: '2026-11-21T14:05:00.000Z', agents: [] })
    const opened = (columns: number, rows: number) => {
      const terminal = aTerminal(columns, rows)
      const { stdin, stdout } = terminal
      const ended = runTui({ ...aStage(state).ports, stdin, stdout }, options)
      const until = async (isSo: (text: string) => boolean) => {
        for (;;) {
          const text = (await terminal.lines()).join('\n')
          if (isSo(text)) return text
          await new Promise((next) => setImmediate(next))
        }
      }
      const left = async () => {
        terminal.type('q')
        await ended
      }
      return { terminal, until, left }
    }
    const pulled = opened(200, 50)
    await pulled.until((text) => /live 14:05/.test(text))
    for (const [columns, rows] of sizes) {
      const fresh = opened(columns, rows)
      const whole = await fresh.until((text) => /live 14:05/.test(text) && /\? help/.test(text))
      await fresh.left()
      pulled.terminal.resize(columns, rows)
      await pulled.until((text) => text === whole)
    }
    await pulled.left()
  },
)

test('where the state is late, the screen is drawn after 150 ms with what there is', async () => {
  const stage = aStage(designedState, { '/state': silent })
  const terminal = aTerminal(80, 24)
  const { stdin, stdout } = terminal
  const drawn = Promise.withResolvers<void>()
  let isDrawn = false
  const at_work = () => {
    isDrawn = true
    drawn.resolve()
  }
  const ended = runTui({ ...stage.ports, stdin, stdout, at_work }, options)
  while (stage.clock.nextDue() !== 150) await new Promise((next) => setImmediate(next))
  await stage.clock.advance(149)
  assert.equal(isDrawn, false)
  await stage.clock.advance(1)
  await drawn.promise
  terminal.type('q')
  await ended
})
