// What stands at the foot of a run's terminal while somebody types into it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RunScreen } from './run-screen.ts'

/** What was written since it was asked last. */
function stage(columns: number) {
  let written = ''
  const write = (text: string) => void (written += text)
  const screen = new RunScreen(
    { out: write, err: write },
    {
      columns: () => columns,
      answersOnTerminal: true,
      ink: { colour: false, ascii: false },
      quiet: false,
      silent: false,
      zone: () => ({ now: '2026-01-05T09:00:00.000Z', utc: true }),
    },
  )
  const said = () => {
    const text = written
    written = ''
    return text
  }
  return { screen, said }
}

test('a typed line stands below whatever is printed, and takes the place of the status', () => {
  const { screen, said } = stage(40)
  screen.status('main asks the model')
  assert.match(said(), /main asks the model/)
  screen.typed('And then', 8)
  assert.equal(said(), '\r\u001b[K> And then')
  screen.say(['a line of the run'])
  assert.equal(said(), '\r\u001b[Ka line of the run\n\r\u001b[K> And then')
  screen.status('main runs a command')
  assert.equal(said(), '\r\u001b[K> And then')
  screen.typed('', 0)
  assert.match(said(), /main runs a command/)
})

test('the cursor stands where the next key goes; of a long line its end is seen', () => {
  const { screen, said } = stage(20)
  screen.typed('one two', 3)
  assert.equal(said(), '\r\u001b[K> one two\u001b[4D')
  const long = 'a'.repeat(30)
  screen.typed(`${long}bc`, 32)
  assert.equal(said(), `\r\u001b[K> …${'a'.repeat(13)}bc`)
  screen.typed('tab\tand \u001b[31mred', 20)
  assert.ok(!said().includes('\u001b[31m'), 'what is typed draws nothing')
})
