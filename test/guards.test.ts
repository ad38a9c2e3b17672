/**
 * What keeps an agent in, in every state that a home, its settings, its files and its machine can be
 * in: what is judged, and what the first run, `holon doctor` and `holon init` say of it. The states
 * are made from the types, so that a new one is one more row.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  asksHowToGoOn,
  firstRunLine,
  initLines,
  policyCheckOf,
  sandboxCheckOf,
  type Guards,
} from '../src/cli/command/guards.ts'
import { decideByAll } from '../src/domain/policy/decision.ts'
import { effectivePolicy } from '../src/domain/policy/effective.ts'
import {
  confiningOf,
  presetsInForce,
  type HomeAge,
  type PresetFile,
  type SandboxChoice,
} from '../src/domain/policy/in-force.ts'
import { presets } from '../src/domain/policy/presets.ts'
import type { PresetName, Verdict } from '../src/domain/policy/rule.ts'
import type { ConfinementState } from '../src/exec/ports.ts'
import { guardsFrom } from '../src/main/homes/sandbox.ts'
import { actionBody } from '../src/testing/action-body.ts'

const ages: Record<HomeAge, true> = { new: true, existing: true }
const choices: Record<SandboxChoice, true> = { unset: true, off: true, asked: true }
const names = Object.keys(presets) as PresetName[]
const files: PresetFile[] = [null, { preset: null }, ...names.map((preset) => ({ preset }))]

type State = {
  age: HomeAge
  choice: SandboxChoice
  can: boolean
  file: PresetFile
  guards: Guards
}

/** What the machine says where commands are to be confined so. */
function machineOf(age: HomeAge, choice: SandboxChoice, can: boolean): ConfinementState {
  const { whom } = confiningOf(age, choice)
  if (whom === 'nobody') return { state: 'off' }
  if (can) return { state: 'on', network: whom === 'models' ? 'open' : 'none', whom }
  return { state: whom === 'models' ? 'missing' : 'unavailable', why: 'there is no bwrap' }
}

const states: State[] = (Object.keys(ages) as HomeAge[]).flatMap((age) =>
  (Object.keys(choices) as SandboxChoice[]).flatMap((choice) =>
    [true, false].flatMap((can) =>
      files.map((file) => {
        const machine = machineOf(age, choice, can)
        const facts = { age, choice, machine, own: { written: file, refused: null } }
        return { age, choice, can, file, guards: guardsFrom(facts) }
      }),
    ),
  ),
)

const command = (...argv: string[]) => ({
  commands: [
    {
      ...{ argv, env_names: [], redirects: [], wrapped_by: [], certain: true as const },
      program: { kind: 'found', real_path: '/x', area: 'outside', by: 'search' } as const,
      cwd: { real_path: '/w', area: 'workspace' } as const,
    },
  ],
})
const edit = { op: 'write', real_path: '/w/a', area: 'workspace' } as const
const acts = {
  test: command('npm', 'test'),
  commit: command('git', 'commit'),
  unknown: command('frobnicate'),
  curl: command('curl', 'x'),
  edit: { tool: 'EditFile', class: 'content_checked', paths: [edit] } as const,
}
type Act = keyof typeof acts

function judged(act: Act, { policy, sandbox }: Guards): Verdict | 'unjudged' {
  const home = policy.is === 'in_force' ? policy.preset : null
  const policies = presetsInForce([null], home).map((preset) =>
    effectivePolicy({ preset, rules: [], otherwise: {}, narrower: [] }, (text) => text),
  )
  const action = actionBody({ ...acts[act], confined: sandbox.state === 'on' })
  return policies.length === 0 ? 'unjudged' : decideByAll(action, policies).decide
}

const inWords = ({ age, choice, can, file }: State) =>
  `${age} home, sandbox ${choice}, ${can ? 'can' : 'cannot'}, ` +
  (file === null ? 'no policy.json' : `policy.json with ${file.preset ?? 'no preset'}`)

test('in every state the first run, the doctor and init say what holds', (t) => {
  t.assert.snapshot(
    states.map((state) => {
      const { guards, file } = state
      const doctor = [sandboxCheckOf(guards), policyCheckOf(guards, [])]
      return {
        state: inWords(state),
        judged: (Object.keys(acts) as Act[]).map((act) => `${act} ${judged(act, guards)}`),
        first_run: firstRunLine(guards),
        doctor: doctor.map(({ level, says }) => `${level} ${says}`),
        init: initLines(guards)[0],
        on_a_terminal: asksHowToGoOn(guards, file !== null) ? 'asks' : 'tells',
      }
    }),
  )
})

const where = (fits: (state: State) => boolean) => states.filter(fits)

test('a home that was there does as it did until somebody chooses, and the doctor says so', () => {
  const kept = where(({ age, choice, file }) => age === 'existing' && choice === 'unset' && !file)
  assert.equal(kept.length, 2)
  for (const { guards } of kept) {
    for (const act of Object.keys(acts) as Act[]) assert.equal(judged(act, guards), 'unjudged')
    assert.equal(guards.sandbox.state, 'off')
    assert.equal(firstRunLine(guards), null)
    const { level, says, do: choose } = sandboxCheckOf(guards)
    assert.equal(level, 'warn')
    assert.match(says, /made before/)
    assert.match(choose ?? '', /choose:/)
    assert.equal(policyCheckOf(guards, []).level, 'warn')
  }
})

test('where a new home cannot confine and nobody chose, all is asked, and it is said', () => {
  const open = where(
    ({ age, choice, can, file }) => age === 'new' && choice === 'unset' && !can && !file?.preset,
  )
  assert.equal(open.length, 2)
  for (const { guards, file } of open) {
    for (const act of Object.keys(acts) as Act[]) assert.equal(judged(act, guards), 'ask')
    assert.match(firstRunLine(guards) ?? '', /not confined: there is no bwrap.*preset watch/)
    assert.equal(sandboxCheckOf(guards).level, 'warn')
    assert.equal(asksHowToGoOn(guards, file !== null), file === null)
  }
})

test('the first hour of a confined home asks nothing of tests, commits and edits', () => {
  const first = where(
    ({ age, choice, can, file }) => age === 'new' && choice === 'unset' && can && file === null,
  )
  assert.equal(first.length, 1)
  for (const { guards } of first) {
    const verdicts = (Object.keys(acts) as Act[]).map((act) => judged(act, guards))
    assert.deepEqual(verdicts, ['allow', 'allow', 'allow', 'ask', 'allow'])
    assert.match(firstRunLine(guards) ?? '', /^its commands are confined, with an open network;/)
  }
})

test('the first run says a line where nobody chose in a new home, and only there', () => {
  for (const { age, choice, guards } of states) {
    const isUnchosen = age === 'new' && choice === 'unset'
    assert.equal(firstRunLine(guards) !== null, isUnchosen)
    assert.doesNotMatch(firstRunLine(guards) ?? '', /\n/)
  }
})

test('the doctor names every home, and each agent, of which nothing is asked', () => {
  for (const { guards } of states) {
    const { policy } = guards
    const isOpen = policy.is === 'none' || (policy.is === 'in_force' && policy.preset === 'open')
    assert.equal(policyCheckOf(guards, []).level, isOpen ? 'warn' : 'ok')
    const named = policyCheckOf(guards, ['docs', 'ci'])
    assert.equal(named.level, 'warn')
    assert.match(named.says, /docs, ci/)
  }
})
