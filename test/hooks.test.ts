/**
 * Hooks as real programs: what one says narrows what the policy says, and whatever else it does is
 * a question.
 */
import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createRedactor } from '../src/domain/secrets/redact.ts'
import { systemClock } from '../src/exec/clock.ts'
import { hookPrograms } from '../src/exec/commands/hook-program.ts'
import { HOOK_ANSWER_MS } from '../src/exec/limits.ts'
import { findProgram } from '../src/exec/program.ts'
import { hookProblems, hooksOf } from '../src/main/homes/hooks.ts'
import { policyPort } from '../src/main/homes/policy-port.ts'
import type { Config } from '../src/protocol/config.ts'
import type { CallJudged } from '../src/runtime/ports.ts'

const secret = 'hunter2-hunter2-hunter2'

const standing = { age: 'existing', choice: 'unset' } as const

function placed(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-hooks-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [home, workspace] = [join(folder, 'home'), join(folder, 'work')]
  for (const one of [home, workspace]) mkdirSync(one, { mode: 0o700 })
  const hook = (text: string, name = 'hook', within = folder): string => {
    const path = join(within, name)
    writeFileSync(path, `#!/bin/sh\n${text}\n`)
    chmodSync(path, 0o755)
    return path
  }
  const says = (policy: object) => writeFileSync(join(home, 'policy.json'), JSON.stringify(policy))
  const { redactor } = createRedactor([{ name: 'db', value: secret }])
  /** The clock of the programs: `late` comes to the limit as soon as a program was started. */
  const judging = (config: Pick<Config, 'hooks' | 'sandbox'>, late = false) => {
    const real = systemClock()
    const clock = late
      ? {
          ...real,
          after: (ms: number, fn: () => void) => real.after(ms === HOOK_ANSWER_MS ? 0 : ms, fn),
        }
      : real
    const deny = [home]
    const confined =
      config.sandbox === undefined
        ? null
        : ({ folder: join(home, 'sandbox'), whom: 'everyone', deny } as const)
    const parent_env = { PATH: '/usr/bin:/bin', HOME: '/nowhere', DB_PASSWORD: secret }
    const ask = hookPrograms({ clock, parent_env, confined })
    const port = policyPort(
      home,
      standing,
      hooksOf({ home, config, age: standing.age, redactor, ask }),
    )
    return async (cmd: string, more: Partial<CallJudged> = {}) => {
      const call: CallJudged = {
        tool_name: 'ExecCommand',
        class: 'reattachable',
        input: { cmd, workdir: workspace },
        agent: 'main',
        item: null,
        origin: 'operator',
        workspace,
        confined: true,
        presets: [],
        environment: {},
        ...more,
      }
      const judged = await port.judge(call)
      return { decide: judged?.decision.decide, why: judged?.decision.why ?? '' }
    }
  }
  const answers = (decide: string, why = 'because') =>
    hook(`cat >/dev/null; echo '${JSON.stringify({ decide, why })}'`, decide)
  return { folder, home, workspace, hook, answers, says, judging }
}

test('a hook denies and asks with its words, also where there is no policy', async (t) => {
  const { answers, judging } = placed(t)
  for (const decide of ['deny', 'ask']) {
    const program = answers(decide, 'not on a Friday.')
    const judged = await judging({ hooks: [{ run: [program] }] })('ls')
    const why = `the call: the hook ${program} says not on a Friday.`
    assert.deepEqual(judged, { decide, why })
  }
})

test('a hook makes nothing looser: an allow of it is a question', async (t) => {
  const { answers, hook, says, judging } = placed(t)
  const judge = judging({ hooks: [{ run: [answers('allow')] }] })
  const judged = await judge('ls')
  assert.equal(judged.decide, 'ask')
  assert.match(judged.why, /it says allow, which no hook may/)
  says({ rules: [{ decide: 'deny', run: ['ls'], why: 'no looks' }] })
  assert.deepEqual(await judge('ls'), { decide: 'deny', why: 'ls: no looks.' })
  const silent = judging({ hooks: [{ run: [hook('cat >/dev/null')] }] })
  assert.equal((await silent('ls')).decide, 'deny')
  assert.equal((await silent('cat a')).decide, 'allow')
})

test('what is no answer is a question that says why', async (t) => {
  const { hook, judging } = placed(t)
  const table: [string, RegExp][] = [
    ['exit 3', /it ended with 3/],
    ['kill -9 $$', /SIGKILL ended it/],
    ['head -c 100000 /dev/zero', /it wrote more than 16384 bytes/],
    ['echo nonsense', /what it wrote is no JSON/],
    [String.raw`printf '\357\273\277'`, /what it wrote is no JSON/],
    ['echo \'["deny"]\'', /what it wrote is no object/],
    ['echo \'{"decide":"maybe","why":"x"}\'', /its "decide" is not ask or deny/],
    ['echo \'{"decide":"ask"}\'', /it gives no reason in "why"/],
    ['echo \'{"decide":"deny","why":"x","sure":true}\'', /a field that is not known, sure/],
  ]
  for (const [text, why] of table) {
    const judged = await judging({ hooks: [{ run: [hook(text)] }] })('ls')
    assert.equal(judged.decide, 'ask', text)
    assert.match(judged.why, why)
  }
  const gone = await judging({ hooks: [{ run: ['/nowhere/hook'] }] })('ls')
  assert.match(`${gone.decide} ${gone.why}`, /^ask .*could not be started/)
})

test('a hook that hangs is ended with all that it started, and is a question', async (t) => {
  const { hook, judging, folder } = placed(t)
  const program = hook(`(trap '' TERM; exec sleep 1000) & cat >/dev/null; wait`)
  const judged = await judging({ hooks: [{ run: [program, folder] }] }, true)('ls')
  assert.equal(judged.decide, 'ask')
  assert.match(judged.why, /it did not answer within 5 s/)
})

test('it gets the action as JSON, and nothing of the environment or of secrets', async (t) => {
  const { hook, judging, folder } = placed(t)
  const program = hook(`cat >"$1/asked"; env >"$1/env"; pwd >"$1/pwd"`)
  const judge = judging({ hooks: [{ run: [program, folder] }] })
  assert.equal((await judge(`mysql -p ${secret}`)).decide, 'allow')
  const asked = JSON.parse(readFileSync(join(folder, 'asked'), 'utf8')) as {
    tool: string
    commands: { argv: unknown }[]
  }
  assert.deepEqual(
    [asked.tool, asked.commands[0]?.argv],
    ['ExecCommand', ['mysql', '-p', '{{secret:db}}']],
  )
  assert.doesNotMatch(readFileSync(join(folder, 'env'), 'utf8'), /DB_PASSWORD|hunter2/)
  assert.equal(readFileSync(join(folder, 'pwd'), 'utf8'), '/\n')
})

test('it is asked anew each time, and only about the calls it is for', async (t) => {
  const { hook, judging, folder } = placed(t)
  const program = hook(`cat >/dev/null; cat "$1/says"`)
  const judge = judging({ hooks: [{ run: [program, folder], for: { tool: ['ExecCommand'] } }] })
  const said: unknown[] = []
  for (const text of ['', '{"decide":"deny","why":"now"}', '']) {
    writeFileSync(join(folder, 'says'), text)
    said.push((await judge('ls')).decide)
  }
  assert.deepEqual(said, ['allow', 'deny', 'allow'])
  rmSync(join(folder, 'says'))
  const elsewhere = await judge('', { tool_name: 'WebFetch', input: { url: 'https://a.b/' } })
  assert.equal(elsewhere.decide, 'allow')
})

test('of many the strictest has the words, and nobody is asked where nobody is there', async (t) => {
  const { answers, says, judging } = placed(t)
  const hooks = [{ run: [answers('ask')] }, { run: [answers('deny', 'the second')] }] as const
  const judged = await judging({ hooks: hooks.map(({ run: [one] }) => ({ run: [one] })) })('ls')
  assert.match(`${judged.decide} ${judged.why}`, /^deny .*the second/)
  says({ preset: 'alone' })
  const alone = await judging({ hooks: [{ run: [answers('ask')] }] })('ls')
  assert.match(`${alone.decide} ${alone.why}`, /^deny Nobody is asked with the preset alone/)
})

test('a program that the agent can write is not run, and doctor names it', async (t) => {
  const { hook, judging, home, workspace, folder } = placed(t)
  const program = hook(`echo ran >"$1/ran"`, 'hook', workspace)
  const judged = await judging({ hooks: [{ run: [program, folder] }] })('ls')
  assert.match(`${judged.decide} ${judged.why}`, /^ask .*it stands where the agent can write/)
  const mate = join(home, 'agents', 'mate')
  mkdirSync(mate, { recursive: true })
  for (const script of [program, hook(`echo ran >"$1/ran"`, 'hook', mate)]) {
    const given = await judging({ hooks: [{ run: ['/bin/sh', script, folder] }] })('ls')
    assert.match(`${given.decide} ${given.why}`, /^ask .*it stands where the agent can write/)
  }
  assert.throws(() => readFileSync(join(folder, 'ran')), /ENOENT/)
  const open = hook('', 'open')
  chmodSync(open, 0o777)
  const runs = [program, open, '/nowhere/hook', hook('', 'good')]
  assert.equal((await judging({ hooks: [{ run: [open] }] })('ls')).decide, 'ask')
  const problems = hookProblems({ hooks: runs.map((run) => ({ run: [run] })) }, [workspace])
  assert.deepEqual(
    problems.map(({ message }) => message),
    [
      `it stands in ${workspace}, where agents can write`,
      'others can write it',
      'it is not there, or not executable',
    ],
  )
})

test('a program that others can write, or can put another in the place of, is not run', async (t) => {
  const { hook, judging, folder, home } = placed(t)
  const above = join(folder, 'above')
  const within = join(above, 'within')
  mkdirSync(within, { recursive: true })
  const program = hook(`echo ran >"$1/ran"`, 'hook', within)
  const judge = judging({ hooks: [{ run: [program, folder] }] })
  const given = judging({ hooks: [{ run: ['/bin/sh', program, folder] }] })
  const table: [string, number, number, RegExp][] = [
    [program, 0o757, 0o755, /others can write it/],
    [program, 0o775, 0o755, /others can write it/],
    [within, 0o777, 0o755, /others can write .*within, above it/],
    [above, 0o757, 0o755, /others can write .*above, above it/],
  ]
  for (const [path, mode, usual, why] of table) {
    chmodSync(path, mode)
    for (const asked of [await judge('ls'), await given('ls')]) {
      assert.equal(asked.decide, 'ask', path)
      assert.match(asked.why, why)
    }
    const [problem] = hookProblems({ hooks: [{ run: [program] }] }, [home])
    assert.match(problem?.message ?? '', why)
    chmodSync(path, usual)
  }
  assert.equal(existsSync(join(folder, 'ran')), false)
  // In a folder with the sticky bit nobody takes away what is another's.
  chmodSync(above, 0o1777)
  assert.equal((await judge('ls')).decide, 'allow')
  assert.equal(existsSync(join(folder, 'ran')), true)
})

const confines = findProgram(['bwrap'], '') !== null
const skip = confines || process.env['CI'] ? false : 'bubblewrap is not there'

test(
  'where commands are confined a hook is, too: it writes nothing and reaches nothing',
  { skip },
  async (t) => {
    const { hook, judging, folder, home, workspace } = placed(t)
    writeFileSync(join(home, 'kept'), 'mine')
    const program = hook(
      [
        'cat >/dev/null',
        `out=$(cat ${home}/kept 2>/dev/null)`,
        `echo x 2>/dev/null >${folder}/w; echo x 2>/dev/null >${workspace}/w`,
        `printf '{"decide":"ask","why":"got(%s) nets(%s)"}' "$out" "$(grep -c : /proc/net/dev)"`,
      ].join('\n'),
      'hook',
      home,
    )
    const judged = await judging({ hooks: [{ run: [program] }], sandbox: {} })('ls')
    assert.match(judged.why, /got\(\) nets\(1\)/)
    for (const one of [folder, workspace]) assert.equal(existsSync(join(one, 'w')), false)
  },
)

test('where nothing can be confined a hook runs as commands do: not where that was asked for', async (t) => {
  const { home, hook } = placed(t)
  const program = hook('cat')
  writeFileSync(join(home, 'file'), '')
  const ends = (['models', 'everyone'] as const).map((whom) => {
    // No folder can be made in a file.
    const confined = { folder: join(home, 'file', 'x'), whom, deny: [] }
    const parent_env = { PATH: '/usr/bin:/bin' }
    return hookPrograms({ clock: systemClock(), parent_env, confined })([program], 'so')
  })
  const [unasked, asked] = await Promise.all(ends)
  assert.deepEqual(unasked, { state: 'ended', stdout: 'so' })
  assert.match(asked?.state === 'failed' ? asked.why : '', /cannot be confined/)
})
