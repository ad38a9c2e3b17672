/**
 * A newcomer with a key: `holon init`, `holon run`, and the first item is completed; two commands
 * and no more. And what a newcomer gets wrong: each is refused with what is wrong and what to do,
 * and leaves what was there.
 */
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import {
  startModelServer,
  TEST_KEY,
  type ServerScript,
} from '../src/testing/model-server/server.ts'
import { ServedHome } from './support/served-home.ts'

const patience = { timeout: 120_000 }

const newest = (text: string, pattern: RegExp): string =>
  [...text.matchAll(pattern)].at(-1)?.[1] ?? 'not_seen'

/** A model that makes an item, takes it up, looks, and reports; it answers the test request too. */
function worker(): ServerScript {
  let n = 0
  return ({ messages_text, tools }) => {
    if (tools.includes('Ready')) return { calls: [{ name: 'Ready', input: {} }] }
    n += 1
    const id = newest(messages_text, /(work_[0-9a-f-]{4,36})/g)
    const calls = [
      { name: 'CreateWorkItem', input: { objective: 'List what is here', plan: '# List\n' } },
      { name: 'PickWorkItem', input: { work_item_id: id } },
      { name: 'ExecCommand', input: { cmd: 'ls' } },
      { name: 'CompleteWorkItem', input: { work_item_id: id } },
    ]
    const call = calls[n - 1]
    if (call === undefined) return { text: 'Noted.' }
    return { text: n === 4 ? 'There is one file here, notes.txt.' : '', calls: [call] }
  }
}

async function provider(t: TestContext) {
  const server = await startModelServer(worker(), { models: ['qwen3-coder'] })
  t.after(() => server.close())
  return server
}
const initOf = (base_url: string, ...more: readonly string[]) => [
  ...['init', '--no-input', '--no-start', '--provider', 'openai-compatible'],
  ...['--base-url', base_url, '--key-file', 'key', '--model', 'qwen3-coder', ...more],
]

test('with a key, init and run alone lead to the first completed item', patience, async (t) => {
  const server = await provider(t)
  const at = new ServedHome(t)
  writeFileSync(join(at.folder, 'key'), TEST_KEY, { mode: 0o600 })
  mkdirSync(join(at.folder, 'project'))
  writeFileSync(join(at.folder, 'project', 'notes.txt'), 'x')
  const init = await at.holon(...initOf(server.base_url, '--workspace', 'project'))
  assert.equal(init.exit, 0, init.err)
  assert.match(init.out, /^Ready\. {2}Try: {2}holon run "/)
  const run = await at.holon('run', 'List what is here.')
  assert.equal(run.exit, 0, run.err)
  assert.match(run.out, /There is one file here, notes\.txt\./)
  assert.match(run.err, /✓ done/)
  const { work_items } = await at.json<{ work_items: object[] }>('work', 'list', '--all')
  assert.deepEqual(
    work_items.map((item) => ({ ...item, id: '' })),
    [{ ...work_items[0], id: '', objective: 'List what is here', state: 'completed' }],
  )
  assert.deepEqual(server.violations, [])
})

test('without a key or a model the first run says what there is to do', patience, async (t) => {
  const at = new ServedHome(t)
  const run = await at.holon('run', 'List what is here.')
  assert.equal(run.exit, 2, run.err)
  assert.match(run.err, /holon init/)
})

type Mistake = {
  what: string
  /** What is done to the folder first. */
  first?: (at: ServedHome) => void
  args: (base_url: string, at: ServedHome) => readonly string[]
  exit: number
  says: RegExp
}
const mistakes: readonly Mistake[] = [
  {
    what: 'a wrong key',
    first: (at) => writeFileSync(join(at.folder, 'key'), 'wrong', { mode: 0o600 }),
    args: (url) => initOf(url),
    exit: 1,
    says: /does not accept this key \(401\).*; nothing was written; --no-test sets it up all the same/,
  },
  {
    what: 'an address where nobody answers',
    args: () => initOf('http://127.0.0.1:9/v1'),
    exit: 1,
    says: /could not be reached: .*127\.0\.0\.1:9; nothing was written/,
  },
  {
    what: 'a key that others can read',
    first: (at) => chmodSync(join(at.folder, 'key'), 0o644),
    args: (url) => initOf(url),
    exit: 2,
    says: /key can be read by others \(0644\); chmod 600 /,
  },
  {
    what: 'a home in a place where none can be made',
    args: (url, at) => ['--home', join(at.folder, 'key', 'home'), ...initOf(url)],
    exit: 1,
    says: /choose another home with --home or HOLON_HOME/,
  },
  {
    what: 'a home that is a file',
    args: (url, at) => ['--home', join(at.folder, 'key'), ...initOf(url)],
    exit: 2,
    says: /key is a file, not a folder; choose another with --home/,
  },
  {
    what: 'a configuration that is no JSON',
    first: (at) => {
      mkdirSync(at.home)
      writeFileSync(join(at.home, 'config.json'), '{ broken', { mode: 0o600 })
    },
    args: (url) => initOf(url),
    exit: 2,
    says: /config\.json line 1 is not JSON: .*; correct that line/,
  },
]
for (const { what, first, args, exit, says } of mistakes) {
  test(`${what} is refused by init with what to do, and changes nothing`, patience, async (t) => {
    const server = await provider(t)
    const at = new ServedHome(t)
    writeFileSync(join(at.folder, 'key'), TEST_KEY, { mode: 0o600 })
    first?.(at)
    const config = at.file('config.json')
    const key = readFileSync(join(at.folder, 'key'), 'utf8')
    const ended = await at.holon(...args(server.base_url, at))
    assert.deepEqual([ended.exit, ended.out], [exit, ''], ended.err)
    assert.match(ended.err.trim().split('\n').at(-1) ?? '', says)
    assert.ok(!ended.err.includes(key), 'the key is not told')
    const left = [at.file('config.json'), existsSync(join(at.home, 'ledger'))]
    assert.deepEqual([...left, readFileSync(join(at.folder, 'key'), 'utf8')], [config, false, key])
  })
}

test(
  'an agent that cannot be asked does not keep a resume from the others',
  patience,
  async (t) => {
    const at = new ServedHome(t)
    const wants = '# Look\n\n## Want a file\n\n```sh\ncat wanted\n```\n'
    assert.equal((await at.holon('run', '--workspace', '.', at.write('look.md', wants))).exit, 3)
    await at.json('agents', 'create', 'without')
    await at.json('agents', 'create', 'keyless', '--model', 'anthropic/claude-sonnet-5-5')
    at.write('wanted', 'here')
    const run = await at.holon('run', '--resume')
    assert.equal(run.exit, 0, run.err)
    assert.match(
      run.err,
      /agent without is left out: no model is set; give --model provider\/model/,
    )
    assert.match(run.err, /agent keyless is left out: .*ANTHROPIC_API_KEY/)
    assert.match(run.out, /Look: all 1 steps? done/)
    const alone = await at.holon('run', '--resume', '--agent', 'without')
    assert.deepEqual([alone.exit, alone.err.split(';')[0]], [2, 'holon: no model is set'])
  },
)

test('a daemon without the key of a shell says where it has its keys from', patience, async (t) => {
  const at = new ServedHome(t)
  await at.serve()
  const words = ['run', '--model', 'anthropic/claude-sonnet-5-5', 'Look.']
  const ended = await at.start(words, { ANTHROPIC_API_KEY: TEST_KEY }).ended
  assert.equal(ended.exit, 1)
  assert.match(
    ended.err,
    /environment it was started in: `holon stop && holon start` where it is set/,
  )
})
