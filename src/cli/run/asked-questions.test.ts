// One keyboard for words and for questions: a line that is begun is never an answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OperatorCommand, OperatorReply } from '../../protocol/acts/operator.ts'
import type { Wait } from '../../protocol/records/records.ts'
import type { Context } from '../command/context.ts'
import type { TypingListener } from '../command/ports.ts'
import type { RunHost } from '../command/run-ports.ts'
import type { RunScreen } from '../command/run-screen.ts'
import { AskedQuestions, type AskedPorts } from './asked-questions.ts'
import { TypedWords } from './typed-words.ts'

const wait = { id: 'wait_1', agent_id: 'main' } as unknown as Wait
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A keyboard whose keys are read when they are looked for, and everything that is said. */
function stage() {
  let line = ''
  let pending = ''
  let listener: TypingListener | null = null
  const happened: string[] = []
  const read = () => {
    const keys = pending
    pending = ''
    for (const key of keys) {
      if (key === '\r') {
        const typed = line
        line = ''
        listener?.line(typed)
      } else line = key === '<' ? line.slice(0, -1) : line + key
    }
    if (keys !== '') listener?.changed(line, line.length)
  }
  const ports = {
    typing: (given: TypingListener) => {
      listener = given
      return {
        isBegun: () => line !== '',
        forget: () => (line = ''),
        keysRead: () => turn().then(read),
        stop: () => {
          listener = null
          return line
        },
      }
    },
    ask: (prompt: string) => {
      happened.push(prompt)
      return { answer: new Promise<string | null>(() => undefined), redraw: () => undefined }
    },
  }
  const context = { ports, ids: { short: (id: string) => id, within: (text: string) => text } }
  const screen = {
    typed: () => undefined,
    say: (lines: readonly string[]) => happened.push(...lines),
    bottom: null,
  } as unknown as RunScreen
  const act = (command: OperatorCommand) => {
    happened.push(`act ${JSON.stringify(command)}`)
    return Promise.resolve({ ok: true, said: 'sent', message_id: null } as OperatorReply & {
      ok: true
    })
  }
  const of = { context: context as unknown as Context, screen, act }
  const typed = new TypedWords({ ...of, agent_id: 'main' })
  const asked = new AskedQuestions({
    ...of,
    typed,
    host: {} as RunHost,
    agents: [{ id: 'main' }] as unknown as AskedPorts['agents'],
    settled: () => happened.push('settled'),
    failed: (error) => happened.push(String(error)),
  })
  typed.resume()
  /** Keys that have come and are not read yet. */
  const come = (keys: string) => (pending += keys)
  const rest = async () => {
    for (let n = 0; n < 5; n += 1) await turn()
    return happened.splice(0)
  }
  return { asked, come, read, rest }
}

const held = 'wait_1 asks you when the line you have begun is sent or erased'
const prompt = 'answer wait_1> '

test('a question asks at once where no line is begun', async () => {
  const { asked, rest } = stage()
  asked.askNext([wait])
  assert.deepEqual(await rest(), [prompt])
})

test('a line that is begun stays words to the agent, and the question asks when it is sent', async () => {
  const { asked, come, read, rest } = stage()
  come('do it only in ')
  read()
  asked.askNext([wait])
  assert.equal(asked.isAsking, true)
  assert.deepEqual(await rest(), [held])
  come('y\r')
  read()
  const [echo, sent, ...more] = await rest()
  assert.deepEqual([echo, ...more], ['> do it only in y', 'sent', prompt])
  assert.match(sent ?? '', /"do":"send","agent_id":"main","text":"do it only in y"/)
})

test('a question asks when the line is erased, and not while another is begun', async () => {
  const { asked, come, read, rest } = stage()
  come('ab')
  read()
  asked.askNext([wait])
  assert.deepEqual(await rest(), [held])
  come('<<c')
  read()
  assert.deepEqual(await rest(), [])
  come('<')
  read()
  assert.deepEqual(await rest(), [prompt])
})

test('keys that had come when a question opened, and were not read, are no answer', async () => {
  const { asked, come, read, rest } = stage()
  come('y')
  asked.askNext([wait])
  assert.deepEqual(await rest(), [held])
  come('es\r')
  read()
  assert.deepEqual((await rest()).at(0), '> yes')
})

test('a question that is settled elsewhere while it waits for a line is taken away', async () => {
  const { asked, come, read, rest } = stage()
  come('half')
  read()
  asked.askNext([wait])
  await rest()
  asked.settle(wait.id)
  assert.deepEqual(await rest(), ['wait_1 is settled elsewhere', 'settled'])
  assert.equal(asked.isAsking, false)
  come('<<<<')
  read()
  assert.deepEqual(await rest(), [])
})
