// The command as a person starts it: the real program in a process of its own, on a scratch home.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test, type TestContext } from 'node:test'
import { startModelServer } from '../testing/model-server/server.ts'

const root = dirname(dirname(import.meta.dirname))
const main = join(root, 'src', 'main.ts')

type Ended = { exit: number | null; out: string; err: string }

class Scratch {
  readonly folder: string
  readonly env: Record<string, string>
  constructor(t: TestContext) {
    this.folder = mkdtempSync(join(tmpdir(), 'holon-cli-'))
    this.env = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.folder,
      HOLON_HOME: join(this.folder, 'h'),
      LANG: 'C.UTF-8',
      NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'holon'),
    }
    t.after(() => rmSync(this.folder, { recursive: true, force: true }))
  }

  file(name: string, content: string | Uint8Array): string {
    writeFileSync(join(this.folder, name), content)
    return name
  }

  start(args: readonly string[], env: Record<string, string> = {}) {
    const child = spawn(process.execPath, [main, ...args], {
      cwd: this.folder,
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const exit = Promise.withResolvers<number | null>()
    child.on('exit', exit.resolve)
    const ended = Promise.all([exit.promise, text(child.stdout), text(child.stderr)]).then(
      ([code, out, err]): Ended => ({ exit: code, out, err }),
    )
    return { child, ended }
  }

  holon(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
    return this.start(args, env).ended
  }

  async json<T>(...args: string[]): Promise<T> {
    const { exit, out, err } = await this.holon([...args, '--json'])
    assert.deepEqual([exit, err], [0, ''], args.join(' '))
    return JSON.parse(out) as T
  }
}

const runbook = `# Check this machine

## Say hello

\`\`\`sh
echo hello
\`\`\`

## Ask

ask: Shall I go on?
`

describe('what is wrong is said in one line, with exit 2', () => {
  const key = 'set OPENAI_API_KEY, or name a file that holds it in providers.openai.api_key_file'
  const nobody =
    'there is no agent "main" yet, and no model to make it with; holon init sets one up; or set ' +
    'HOLON_MODEL, or: holon config set model <provider/model>'
  const noModel =
    'no model is set; holon init sets one up; or give --model provider/model, or set ' +
    'HOLON_MODEL; a runbook file needs none'
  const cases: [args: string[], said: string][] = [
    [['run', '--modle', 'x', 'hi'], 'unknown option "--modle"; did you mean --model?'],
    [['wrok', 'list'], 'unknown command "wrok"; did you mean work?'],
    [['why'], 'missing required argument "item"; holon why --help shows how it is used'],
    [['run', 'missing.md'], 'there is no file missing.md; check the path'],
    [['run', 'binary.md'], 'binary.md is not a text in UTF-8; name a text file'],
    [['run', 'big.md'], 'big.md is larger than 65536 bytes; keep it within 65536 bytes'],
    [['run', 'empty.md'], 'empty.md is empty; write an objective and its steps into it'],
    [
      ['run', 'wrong.md'],
      'wrong.md has 2 errors; correct it and run it again\n' +
        '  wrong.md:5 "soon" is no duration: write 500ms, 2s, 5m, 1h30m or 2d.\n' +
        '  wrong.md:12 This step already has an action in line 9: one a step.',
    ],
    [
      ['run', ' '],
      'there is nothing to do; say it, like holon run "list what is slow in this build", ' +
        'or name a runbook file',
    ],
    [['run', 'do it'], noModel],
    [['run', 'do it', '--model', 'openai/gpt-5.2'], `provider openai needs a key; ${key}`],
    [
      ['run', 'do it', '--model', 'gpt'],
      '"gpt" is no model; write provider/model, like anthropic/claude-sonnet-5-5',
    ],
    [
      ['run', 'ok.md', '--workspace', '/nowhere'],
      'there is no folder /nowhere; make it, or name another',
    ],
    [
      ['run', '--resume', 'words'],
      '--resume goes on with what is open and sends nothing; leave the text out, or leave --resume out',
    ],
    [['send', 'hi'], nobody],
    [['work', 'create', 'hi'], nobody],
    [['schedule', 'add', 'hi', '--in', '1h'], nobody],
    [['trigger', 'create', 'CI'], nobody],
    [
      ['send', 'hi', '--agent', 'docs'],
      'there is no agent "docs"; there is none yet: holon init makes one',
    ],
    [
      ['search', 'x', '--home', '/nowhere/home'],
      'there is no home in /nowhere/home; holon init makes one, --home names another',
    ],
    [['help', 'tour'], 'unknown command "tour"; did you mean tui?'],
    [['help', 'wrok'], 'unknown command "wrok"; did you mean work?'],
    [
      ['schedule', 'add', '--every'],
      'unknown option "--every"; holon schedule add --help shows how it is used',
    ],
    [
      ['work', 'show'],
      'missing required argument "item"; holon work show --help shows how it is used',
    ],
    [['why', 'foo'], '"foo" is no id of a work item; ids look like work_7f3a'],
    [['why', 'work_7f3a'], 'there is no work item work_7f3a; holon work list --all shows them'],
    [
      ['events', '--after', 'x'],
      '--after x is not a whole number from 0 on; give a sequence number',
    ],
  ]
  test('each of them', async (t) => {
    const scratch = new Scratch(t)
    scratch.file('binary.md', new Uint8Array([0, 1, 2]))
    scratch.file('big.md', `# A\n${'a'.repeat(70_000)}`)
    scratch.file('empty.md', '\n')
    scratch.file('ok.md', runbook)
    scratch.file('wrong.md', '# A\n\n## B\n\nwait: soon\n\n## C\n\n```sh\na\n```\n```sh\nb\n```\n')
    for (const [args, said] of cases) {
      const ended = await scratch.holon(args)
      assert.deepEqual(ended, { exit: 2, out: '', err: `holon: ${said}\n` }, args.join(' '))
    }
  })

  test('an unknown key of the configuration, and as a problem document', async (t) => {
    const scratch = new Scratch(t)
    await scratch.holon(['config', 'set', 'model', 'a/b'])
    scratch.file('h/config.json', '{\n  "modle": "a/b"\n}\n')
    const path = join(scratch.folder, 'h', 'config.json')
    const detail = `unknown key "modle" in ${path} line 2`
    assert.deepEqual(await scratch.holon(['config', 'show']), {
      exit: 2,
      out: '',
      err: `holon: ${detail}; did you mean "model"?\n`,
    })
    const { exit, out, err } = await scratch.holon(['work', 'unblock', 'work_7f3a', '--json'])
    assert.deepEqual(
      [exit, out, JSON.parse(err)],
      [
        2,
        '',
        {
          type: 'urn:holon:problem:unknown_id',
          title: 'unknown id',
          status: 422,
          code: 'unknown_id',
          detail: 'there is no work item work_7f3a',
          hint: 'holon work list --all shows them',
        },
      ],
    )
  })
})

type Items = { work_items: { id: string; state: string; scheduling_state: string }[] }

describe('a run of a runbook', () => {
  test('asks, exits 3 with the command that answers, is answered, resumes and reports', async (t) => {
    const scratch = new Scratch(t)
    const file = scratch.file('check.md', runbook)
    const first = await scratch.holon(['run', file])
    assert.equal(first.exit, 3, first.err)
    assert.match(first.out, /Shall I go on\?/)
    const answer = /do {2,}holon answer (wait_[0-9a-f]{4,}) <text>/.exec(first.err)
    assert.ok(answer?.[1], first.err)

    const { attention } = await scratch.json<{ attention: { kind: string; text: string }[] }>(
      'inbox',
    )
    assert.deepEqual(
      attention.map(({ kind, text }) => ({ kind, text })),
      [{ kind: 'question', text: 'Shall I go on?' }],
    )
    const answered = await scratch.holon(['answer', answer[1], 'yes'])
    assert.equal(answered.exit, 0, answered.err)

    const second = await scratch.holon(['run', '--resume'])
    assert.equal(second.exit, 0, second.err)
    assert.match(second.out, /^Check this machine: all 2 steps done\./)
    const { work_items } = await scratch.json<Items>('work', 'list', '--all')
    assert.deepEqual(
      work_items.map(({ state }) => state),
      ['completed'],
    )
    const { briefs } = await scratch.json<{ briefs: { kind: string }[] }>('briefs')
    assert.deepEqual(
      briefs.map(({ kind }) => kind),
      ['question', 'result'],
    )
    const doctor = await scratch.holon(['doctor', '--verify'])
    assert.equal(doctor.exit, 0, doctor.out)
  })

  test('a failing step blocks the item; --resume runs that step again', async (t) => {
    const scratch = new Scratch(t)
    const gate = join(scratch.folder, 'gate')
    const file = scratch.file('gate.md', `# Gate\n\n## Open\n\n\`\`\`sh\ntest -f ${gate}\n\`\`\`\n`)
    const first = await scratch.holon(['run', file])
    assert.equal(first.exit, 3, first.err)
    assert.match(first.err, /Gate is blocked since .*ended with exit 1/)
    assert.match(first.err, /do {2,}holon run --resume/)
    scratch.file('gate', '')
    const second = await scratch.holon(['run', '--resume'])
    assert.deepEqual([second.exit, second.out.split('\n')[0]], [0, 'Gate: all 1 step done.'])
  })

  test('an interrupt ends it at a safe point, the command goes on, and it resumes', async (t) => {
    const scratch = new Scratch(t)
    const file = scratch.file('slow.md', '# Slow\n\n## Sleep\n\n```sh\necho begun; sleep 2\n```\n')
    const run = scratch.start(['run', file])
    await saidOn(run.child.stderr, /todos 0\/1/)
    run.child.kill('SIGINT')
    const first = await run.ended
    assert.equal(first.exit, 130, first.err)
    assert.match(first.err, /nothing is lost\. Go on with {3}holon run --resume\n$/)
    const second = await scratch.holon(['run', '--resume'])
    assert.deepEqual([second.exit, second.out.split('\n')[0]], [0, 'Slow: all 1 step done.'])
  })

  test('other terminals reach it through its door, and cannot take its home', async (t) => {
    const scratch = new Scratch(t)
    const go = join(scratch.folder, 'go')
    const step = `until [ -e '${go}' ] || [ ! -d '${scratch.folder}' ]; do sleep 0.1; done`
    const file = scratch.file('open.md', `# Open\n\n## Wait\n\n\`\`\`sh\n${step}\n\`\`\`\n`)
    const run = scratch.start(['run', file])
    await saidOn(run.child.stderr, /todos 0\/1/)
    const second = await scratch.holon(['run', file])
    assert.equal(second.exit, 4)
    assert.match(second.err, new RegExp(`already served by process ${run.child.pid} `))
    const sent = await scratch.holon(['send', '--agent', 'runbooks', 'one more thing', '--json'])
    assert.equal(sent.exit, 0, sent.err)
    const { message_id } = JSON.parse(sent.out) as { message_id: string }
    assert.match(message_id, /^msg_/)
    const { work_items } = await scratch.json<Items>('work', 'list')
    assert.equal(work_items.length, 1)
    writeFileSync(go, '')
    const ended = await run.ended
    assert.equal(ended.exit, 0, ended.err)
  })

  test('--json streams the events everybody reads, and ends in one summary', async (t) => {
    const scratch = new Scratch(t)
    const file = scratch.file('check.md', '# One\n\n## Step\n\n```sh\ntrue\n```\n')
    const { exit, out, err } = await scratch.holon(['run', file, '--json'])
    assert.deepEqual([exit, err], [0, ''])
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    const { out: read } = await scratch.holon(['events', '--after', '0', '--json'])
    const events = read
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    const made = events.findIndex((event) => JSON.stringify(event).includes('message_admitted'))
    assert.deepEqual(lines.slice(0, -1), events.slice(made))
    const { run } = lines.at(-1) as { run: { exit: number; turns: number; left: string[] } }
    assert.deepEqual([run.exit, run.turns, run.left], [0, 1, []])
  })
})

describe('a run with a model', () => {
  test('the reply is the answer on stdout, and its model is remembered', async (t) => {
    const scratch = new Scratch(t)
    const server = await startModelServer(() => ({ text: 'Seven files are here.' }))
    t.after(() => server.close())
    const env = {
      OPENAI_COMPATIBLE_BASE_URL: server.base_url,
      OPENAI_COMPATIBLE_API_KEY: 'test-key',
    }
    const first = await scratch.holon(
      ['run', 'How many files?', '--model', 'openai-compatible/test'],
      env,
    )
    assert.deepEqual([first.exit, first.out], [0, 'Seven files are here.\n'], first.err)
    const second = await scratch.holon(['run', 'And now?', '--quiet'], env)
    assert.deepEqual(second, { exit: 0, out: 'Seven files are here.\n', err: '' })
    assert.deepEqual([server.requests.length, server.violations], [2, []])
  })

  test('a provider that refuses the key holds the agent: exit 1', async (t) => {
    const scratch = new Scratch(t)
    const server = await startModelServer(() => ({ text: 'never' }))
    t.after(() => server.close())
    const env = { OPENAI_COMPATIBLE_BASE_URL: server.base_url, OPENAI_COMPATIBLE_API_KEY: 'wrong' }
    const run = await scratch.holon(['run', 'Hello', '--model', 'openai-compatible/test'], env)
    assert.equal(run.exit, 1, run.err)
    assert.match(run.err, /agent main is held: /)
    assert.match(run.err, /do {2,}holon run --resume/)
    const again = await scratch.holon(['run', '--resume'], {
      ...env,
      OPENAI_COMPATIBLE_API_KEY: 'test-key',
    })
    assert.deepEqual([again.exit, again.out], [0, 'never\n'], again.err)
  })
})

/**
 * Resolves when the stream has said something that matches; what came before is kept for others.
 */
function saidOn(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let said = ''
  stream.on('data', (chunk: Buffer | string) => {
    said += chunk.toString()
    if (pattern.test(said)) resolve()
  })
  stream.on('end', () => reject(new Error(`never said ${pattern}: ${said}`)))
  return promise
}

test('the first words make the agent they are for, with the model that is set, where one stands', async (t) => {
  const lines = [
    ['send', 'hi'],
    ['work', 'create', 'mend it'],
    ['schedule', 'add', 'look', '--in', '1h'],
    ['trigger', 'create', 'CI'],
  ]
  for (const line of lines) {
    const scratch = new Scratch(t)
    const { exit, err } = await scratch.holon(line, { HOLON_MODEL: 'openai/gpt-5.2' })
    assert.deepEqual([exit, err], [0, ''], line.join(' '))
    const { agents } = await scratch.json<{ agents: Record<string, unknown>[] }>('agents')
    const { folder: root } = scratch
    assert.deepEqual(
      agents.map(({ id, model, workspace }) => ({ id, model, workspace })),
      [{ id: 'main', model: 'openai/gpt-5.2', workspace: { mode: 'explicit_root', root } }],
    )
  }
})
