/**
 * `holon run` on a terminal takes words: a line and enter go to the agent while it works, and what
 * the run prints leaves the typed line whole. In a pipe nothing is read.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { spawn } from '@lydell/node-pty'
import {
  startModelServer,
  TEST_KEY,
  type ServerAnswer,
} from '../src/testing/model-server/server.ts'
import { ServedHome, terminal } from './support/served-home.ts'

const main = join(import.meta.dirname, '..', 'src', 'main.ts')
const limit = { timeout: 60_000 }
const command = (cmd: string): ServerAnswer => ({
  calls: [{ name: 'ExecCommand', input: { cmd } }],
})

const pasted = (text: string): string => `\u001b[200~${text}\u001b[201~`

/** Whether the terminal was told last to mark pastes. */
const marksPastes = (said: string): boolean =>
  said.lastIndexOf('\u001b[?2004h') > said.lastIndexOf('\u001b[?2004l')

/** A model that answers when it is let: first with a command, and then with what it has read. */
async function atWork(t: Parameters<typeof terminal>[0], first = command('echo from the command')) {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const read: string[] = []
  const server = await startModelServer(async ({ n, messages_text }) => {
    read.push(messages_text)
    await gates[n - 1]?.promise
    return n === 1 ? first : { text: 'The end.' }
  })
  t.after(() => {
    for (const gate of gates) gate.resolve()
    return server.close()
  })
  const at = new ServedHome(t)
  at.env['OPENAI_COMPATIBLE_BASE_URL'] = server.base_url
  at.env['OPENAI_COMPATIBLE_API_KEY'] = TEST_KEY
  const run = ['run', 'Work.', '--model', 'openai-compatible/local', '--home', at.home]
  const screen = terminal(t, at, run)
  await screen.sees(/asks the model|request|waits|agent main/)
  while (read.length === 0) await new Promise((resolve) => setImmediate(resolve))
  return { screen, read, answer: (n: number) => gates[n - 1]?.resolve(), at }
}

test(
  'a typed line reaches the agent at its next request, and its receipt is printed',
  limit,
  async (t) => {
    const { screen, read, answer } = await atWork(t)
    screen.pty.write('Use the blux')
    await screen.sees(/> Use the blux/)
    screen.pty.write('\u007fe one.\r')
    await screen.sees(/> Use the blue one\.\r?\n/)
    await screen.sees(/msg_[0-9a-f]+.*\r?\n/)
    // The half line stands whole below what is printed meanwhile.
    screen.pty.write('And then')
    await screen.sees(/> And then/)
    answer(1)
    await screen.sees(/msg_[0-9a-f]+ is seen in request 2\r?\n/)
    await screen.sees(/> And then/)
    answer(2)
    await screen.sees(/The end\./)
    await screen.sees(/not sent: And then/)
    assert.equal(await screen.ended, 0)
    assert.match(read[1] ?? '', /The operator wrote while you worked[^]*Use the blue one\./)
  },
)

test(
  'ctrl+d ends typing and not the run; ctrl+c ends the run at a safe point',
  limit,
  async (t) => {
    const { screen, answer } = await atWork(t)
    screen.pty.write('\u0004')
    await screen.sees(/typing is over; the run goes on/)
    screen.pty.write('nobody hears this\r')
    screen.pty.write('\u0003')
    await screen.sees(/ends at the next safe point/)
    answer(1)
    assert.equal(await screen.ended, 130)
    assert.doesNotMatch(screen.screen(), /> nobody/)
  },
)

test('ctrl+c interrupts also while a line is being typed', limit, async (t) => {
  const { screen, answer } = await atWork(t)
  screen.pty.write('half a li')
  await screen.sees(/> half a li/)
  screen.pty.write('\u0003')
  await screen.sees(/ends at the next safe point/)
  answer(1)
  await screen.sees(/not sent: half a li/)
  assert.equal(await screen.ended, 130)
})

test(
  'a paste is one line with breaks in it, and enter sends it as one message',
  limit,
  async (t) => {
    const { screen, read, answer } = await atWork(t)
    assert.equal(marksPastes(screen.screen()), true)
    screen.pty.write(pasted('Look at this:\rrm -rf /\rIs it wise?'))
    await screen.sees(/> Look at this:(?:⏎| )rm -rf \/(?:⏎| )Is it wise\?/)
    screen.pty.write('\r')
    await screen.sees(/msg_[0-9a-f]+.*\r?\n/)
    answer(1)
    await screen.sees(/msg_[0-9a-f]+ is seen in request 2\r?\n/)
    answer(2)
    assert.equal(await screen.ended, 0)
    assert.match(read[1] ?? '', /Look at this:\nrm -rf \/\nIs it wise\?/)
    assert.doesNotMatch(screen.screen(), /not sent/)
    assert.equal(marksPastes(screen.screen()), false)
  },
)

test('a line of any length is drawn once for keys that come together', limit, async (t) => {
  const { screen, answer } = await atWork(t)
  const before = screen.screen().length
  screen.pty.write('x'.repeat(300_000))
  await screen.sees(/the line is full at 65536 bytes/)
  screen.pty.write('\r')
  await screen.sees(/full at 65536 bytes: 234464 characters/)
  screen.pty.write('\u0003')
  await screen.sees(/ends at the next safe point/)
  // Of a row for each key there would be thirty millions.
  const drawn = screen.screen().length - before
  assert.ok(drawn < 3_000_000, `${drawn} characters are drawn`)
  answer(1)
  assert.equal(await screen.ended, 130)
  assert.equal(marksPastes(screen.screen()), false)
})

test('what is being typed when a question opens is no answer to it', limit, async (t) => {
  const question = { wake: 'operator_input', question: 'Delete all backups?', reason: 'to know' }
  const { screen, read, answer } = await atWork(t, {
    calls: [{ name: 'WaitFor', input: question }],
  })
  screen.pty.write('do it only in ')
  await screen.sees(/> do it only in/)
  answer(1)
  await screen.sees(/Delete all backups\?/)
  await screen.sees(/wait_[0-9a-f]+ asks you when the line you have begun is sent or erased/)
  await screen.sees(/> do it only in/)
  screen.pty.write('y\r')
  await screen.sees(/> do it only in y\r?\n/)
  await screen.sees(/answer wait_[0-9a-f]+> /)
  screen.pty.write(pasted('no\rnever\r'))
  await screen.sees(/answer wait_[0-9a-f]+> no never/)
  answer(2)
  screen.pty.write('\u007f, please\r')
  await screen.sees(/The end\./)
  assert.equal(await screen.ended, 0)
  const all = read.join('\n')
  assert.match(all, /do it only in y/)
  assert.match(all, /no\nnever, please/)
})

test(
  'a run in the background leaves the terminal to others, and is not stopped',
  limit,
  async (t) => {
    const server = await startModelServer(() => ({ text: 'The end.' }))
    t.after(() => server.close())
    const at = new ServedHome(t)
    const env = {
      ...at.env,
      TERM: 'xterm',
      OPENAI_COMPATIBLE_BASE_URL: server.base_url,
      OPENAI_COMPATIBLE_API_KEY: TEST_KEY,
    }
    const run = `"${process.execPath}" "${main}" run Work. --model openai-compatible/local`
    const shell = spawn('bash', ['-c', `set -m; ${run} & wait %1; echo "ended $?"`], { env })
    t.after(() => shell.kill('SIGKILL'))
    let said = ''
    const over = Promise.withResolvers<void>()
    shell.onData((text) => (said += text))
    shell.onExit(() => over.resolve())
    await over.promise
    assert.match(said, /The end\.[^]*ended 0/)
  },
)

/** The modes that were turned on and not off again; the cursor is the one that is turned off. */
function left(said: string): string[] {
  const modes = new Map<string, string>()
  const set = new RegExp('\\[\\?(\\d+)([hl])', 'g')
  for (const [, mode = '', to = ''] of said.matchAll(set)) modes.set(mode, to)
  return [...modes].flatMap(([mode, to]) => (to === (mode === '25' ? 'l' : 'h') ? [mode] : []))
}

for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
  test(
    `a terminal is given back by a run, and by a screen, that ${signal} ends`,
    limit,
    async (t) => {
      const { screen } = await atWork(t)
      screen.pty.write('half a li')
      await screen.sees(/> half a li/)
      screen.pty.kill(signal)
      await screen.ended
      assert.deepEqual(left(screen.screen()), [])
      const at = new ServedHome(t)
      await at.serve()
      const tui = terminal(t, at, [])
      await tui.sees(/q leave/)
      await tui.sees(new RegExp('\\[\\?1004h'))
      tui.pty.kill(signal)
      await tui.ended
      assert.deepEqual(left(tui.screen()), [])
    },
  )
}
