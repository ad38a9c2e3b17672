/**
 * `holon run` before models that do not do what they should: the exit code says whether anything
 * came of it, and the last line why. A script that goes on at exit 0 relies on it.
 */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import {
  startModelServer,
  TEST_KEY,
  type ServerAnswer,
  type ServerScript,
} from '../src/testing/model-server/server.ts'
import { ServedHome } from './support/served-home.ts'

type Kind = {
  name: string
  script: (n: number, view: Parameters<ServerScript>[0]) => ServerAnswer
  exit: number
  says: RegExp
}

const call = (name: string, input: object = {}) => ({ name, input: input as never })
const exec = (cmd: string): ServerAnswer => ({ calls: [call('ExecCommand', { cmd })] })
const status = (code: number, message = 'no'): ServerAnswer => ({
  fault: { kind: 'status', status: code, message },
})
const nothing = /answered nothing|nothing was said/
const workIn = (text: string): string =>
  [...text.matchAll(/work_[0-9a-f-]{4,36}/g)].at(-1)?.[0] ?? 'none'

/** The same answer to every request. */
const always = (answer: ServerAnswer) => () => answer

const kinds: readonly Kind[] = [
  { name: 'answers nothing', script: always({ text: '' }), exit: 1, says: nothing },
  { name: 'answers blanks', script: always({ text: ' \n' }), exit: 1, says: nothing },
  { name: 'only thinks', script: always({ reasoning: 'Hm.', text: '' }), exit: 1, says: nothing },
  {
    name: 'refuses by its policy',
    script: always({ text: '', finish: 'content_filter' }),
    exit: 1,
    says: /the last turn failed/,
  },
  { name: 'refuses the request', script: always(status(400)), exit: 1, says: /turn failed/ },
  { name: 'refuses the key', script: always(status(401)), exit: 1, says: /the agent is held/ },
  { name: 'has no such model', script: always(status(404)), exit: 1, says: /the agent is held/ },
  {
    name: 'says that it is done without doing anything',
    script: always({ text: 'Done.' }),
    exit: 0,
    says: /1 turn, 0 calls/,
  },
  {
    name: 'calls unknown tools only',
    script: always({ calls: [call('Grep', { pattern: 'x' })] }),
    exit: 1,
    says: /every call failed|repeated itself/,
  },
  {
    name: 'sends arguments that are no JSON',
    script: always({ calls: [call('ExecCommand', { cmd: 'true' })], fault: 'broken_json' }),
    exit: 1,
    says: /every call failed|repeated itself|held|failed/,
  },
  {
    name: 'sends arguments that do not fit',
    script: (n) => ({ calls: [call('ExecCommand', { cmd: n })] }),
    exit: 1,
    says: /every call failed|repeated itself/,
  },
  {
    name: 'asks for more calls than a round may have, again and again',
    script: always({ calls: Array.from({ length: 40 }, () => call('ListWorkItems')) }),
    exit: 1,
    says: /every call failed|repeated itself|limit/,
  },
  {
    name: 'repeats one command for ever',
    script: always(exec('true')),
    exit: 1,
    says: /repeated itself/,
  },
  {
    name: 'reads a file that is not there, under ever other names, then is silent',
    script: (n) => (n > 3 ? { text: '' } : { calls: [call('ReadFile', { path: `no-${n}` })] }),
    exit: 1,
    says: /every call failed, and nothing was said|answered nothing/,
  },
  {
    name: 'works and then says nothing',
    script: (n) => (n === 1 ? exec('echo made > made.txt') : { text: '' }),
    exit: 0,
    says: /1 call/,
  },
  {
    name: 'says that all is well after a command that failed',
    script: (n) => (n === 1 ? exec('false') : { text: 'Everything is done.' }),
    exit: 0,
    says: /its last command ended with exit 1: false/,
  },
  {
    name: 'says that its command failed',
    script: (n) => (n === 1 ? exec('false') : { text: 'The command failed with exit 1.' }),
    exit: 0,
    says: /^(?!.*its last command)/s,
  },
  {
    name: 'makes an item that it says is blocked',
    script: (n, { messages_text }) =>
      n === 1
        ? { calls: [call('CreateWorkItem', { objective: 'Weed', focus: true })] }
        : n === 2
          ? {
              calls: [
                call('UpdateWorkItem', {
                  work_item_id: workIn(messages_text),
                  blocked_by: 'no gloves',
                }),
              ],
            }
          : { text: 'I have no gloves.' },
    exit: 3,
    says: /work is left/,
  },
  {
    name: 'completes its item without a word',
    script: (n, { messages_text }) =>
      n === 1
        ? { calls: [call('CreateWorkItem', { objective: 'Weed', focus: true })] }
        : n === 2
          ? { calls: [call('CompleteWorkItem', { work_item_id: workIn(messages_text) })] }
          : { text: '' },
    exit: 0,
    says: /1 turn/,
  },
  {
    name: 'asks a question',
    script: always({
      text: 'Which bed?',
      calls: [call('WaitFor', { wake: 'operator_input', reason: 'which bed' })],
    }),
    exit: 3,
    says: /a question is open|work is left/,
  },
  {
    name: 'says a cut word',
    script: always({ text: 'Half of a sent', finish: 'length' }),
    exit: 0,
    says: /1 turn/,
  },
  {
    name: 'limits its rate for an hour',
    script: always({ fault: { kind: 'status', status: 429, retry_after: '3600' } }),
    exit: 1,
    says: /the agent is held/,
  },
  { name: 'may not be asked', script: always(status(403)), exit: 1, says: /the agent is held/ },
  {
    name: 'finds every request too long',
    script: always(status(413, 'prompt is too long')),
    exit: 1,
    says: /turn failed|grew too long/,
  },
  {
    name: 'completes what is not its item',
    script: (n) =>
      n > 2 ? { text: '' } : { calls: [call('CompleteWorkItem', { work_item_id: `work_${n}` })] },
    exit: 1,
    says: /every call failed, and nothing was said|answered nothing/,
  },
  {
    name: 'answers and is well',
    script: always({ text: 'There are two beds.' }),
    exit: 0,
    says: /1 turn/,
  },
]

async function run(t: TestContext, { script }: Kind) {
  let n = 0
  const server = await startModelServer((view) => script((n += 1), view))
  t.after(() => server.close())
  const at = new ServedHome(t)
  at.env['OPENAI_COMPATIBLE_BASE_URL'] = server.base_url
  at.env['OPENAI_COMPATIBLE_API_KEY'] = TEST_KEY
  return at.holon('run', '--no-input', '--model', 'openai-compatible/bad', 'Weed the garden.')
}

describe('holon run before a model that', { concurrency: 4 }, () => {
  for (const kind of kinds) {
    test(`${kind.name} ends with ${kind.exit}`, { timeout: 90_000 }, async (t) => {
      const { exit, out, err } = await run(t, kind)
      assert.equal(exit, kind.exit, `${out}\n${err}`)
      assert.match(err, kind.says)
    })
  }
})
