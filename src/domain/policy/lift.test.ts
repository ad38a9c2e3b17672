// Which questions a standing yes may answer: the preset's and the operator's, of what is certain.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionBody } from '../../testing/action-body.ts'
import { aPush } from '../../testing/world/held.ts'
import type { ActionBody, ActionCommand } from './action.ts'
import { decideAction, decideByAll } from './decision.ts'
import { joinHooks } from './hook.ts'
import { presets } from './presets.ts'
import type { Policy, PolicyRule, RuleSource, RunToken, Verdict } from './rule.ts'

const home = { from: 'home', file: 'policy.json', line: 1 } as const
const repository = { from: 'repository', file: '.holon/policy.json', line: 1 } as const

const rule = (decide: Verdict, source: RuleSource, ...tokens: RunToken[]): PolicyRule => ({
  decide,
  subject: { kind: 'run', tokens },
  in: null,
  origin: null,
  agent: null,
  why: '',
  source,
})
const policy = (...rules: PolicyRule[]): Policy => ({
  ...presets.work,
  revision: 'r',
  preset: 'work',
  rules: [...presets.work.rules, ...rules],
})

const push = actionBody({ confined: true, commands: [aPush('v1')] })
const parts = (action: ActionBody, of: Policy) =>
  decideAction(action, of).lifts?.map(({ kind }) => kind) ?? null

test('a question of the preset, or of the operator’s own file, may be answered by a grant', () => {
  assert.deepEqual(parts(push, policy()), ['run'])
  assert.deepEqual(parts(push, policy(rule('ask', home, 'git'))), ['run'])
})

test('none where a repository asks, in any part, or could', () => {
  assert.equal(parts(push, policy(rule('ask', repository, 'git', 'push'))), null)
  const status = { ...aPush('v1'), argv: ['git', 'status'] }
  const two = { ...push, commands: [status, aPush('v1')] }
  assert.deepEqual(parts(two, policy()), ['run'])
  assert.equal(parts(two, policy(rule('ask', repository, 'git', 'status'))), null)
  const open: ActionCommand = { ...aPush('v1'), argv: ['git', 'push', { starts: '' }] }
  const could = policy(rule('ask', repository, 'git', 'push', 'prod'))
  assert.equal(parts({ ...push, commands: [open] }, could), null)
})

test('none where a denial could be about it, and a denial is none to be lifted', () => {
  const denies = policy(rule('deny', home, 'git', 'push', 'prod'))
  assert.deepEqual(parts(push, denies), ['run'])
  const open: ActionCommand = { ...aPush('v1'), argv: ['git', 'push', { starts: '' }] }
  const found = decideAction({ ...push, commands: [open] }, denies)
  assert.deepEqual([found.decide, found.lifts], ['ask', null])
  const denied = decideAction(push, policy(rule('deny', home, 'git', 'push')))
  assert.deepEqual([denied.decide, denied.lifts], ['deny', null])
})

test('none of a line in doubt, and none where nobody is asked', () => {
  const doubt: ActionCommand = {
    ...aPush('v1'),
    certain: false,
    doubt: 'runs_text',
    in_doubt: null,
  }
  assert.equal(parts({ ...push, commands: [aPush('v1'), doubt] }, policy()), null)
  const alone = decideAction(push, { ...policy(), asking: 'nobody' })
  assert.deepEqual([alone.decide, alone.lifts], ['deny', null])
})

test('every part that asks is named', () => {
  const path = { op: 'write', real_path: '/etc/x', area: 'outside' } as const
  const found = decideAction({ ...push, paths: [path] }, policy())
  assert.deepEqual(
    found.lifts?.map(({ kind }) => kind),
    ['run', 'write'],
  )
})

test('none where a hook asks too, and none of a question that is a hook’s alone', () => {
  const asks = { program: '/opt/look', word: { decide: 'ask', why: 'it is late' } } as const
  const silent = { program: '/opt/silent', word: null }
  for (const by of [policy(), policy(rule('allow', home, 'git', 'push'))]) {
    const found = decideAction(push, by)
    assert.equal(joinHooks(found, [silent], [by]), found)
    const joined = joinHooks(found, [silent, asks], [by])
    assert.deepEqual([joined.decide, joined.lifts], ['ask', null])
  }
})

test('what a hook says takes nothing from a denial', () => {
  const denies = policy(rule('deny', home, 'git', 'push'))
  const asks = { program: '/opt/look', word: { decide: 'ask', why: 'it is late' } } as const
  const found = decideAction(push, denies)
  assert.deepEqual(joinHooks(found, [asks], [denies]), found)
})

test('of several policies all that any of them asks about, and none where one lets none', () => {
  const path = { op: 'write', real_path: '/etc/x', area: 'outside' } as const
  const action = { ...push, paths: [path] }
  const kinds = (...of: Policy[]) => decideByAll(action, of).lifts?.map(({ kind }) => kind) ?? null
  const lets = (write: 'allow' | 'ask', decide: 'allow' | 'ask'): Policy => {
    const own = policy(rule(decide, home, 'git', 'push'))
    return { ...own, otherwise: { ...own.otherwise, write } }
  }
  const [ofRun, ofWrite] = [lets('allow', 'ask'), lets('ask', 'allow')]
  assert.deepEqual([kinds(ofRun), kinds(ofWrite)], [['run'], ['write']])
  assert.deepEqual(kinds(ofRun, ofWrite), ['run', 'write'])
  assert.deepEqual(kinds(ofWrite, ofRun), ['run', 'write'])
  // One that allows it all has no say.
  assert.deepEqual(kinds(ofRun, lets('allow', 'allow')), ['run'])
  const firm = policy(rule('ask', repository, 'git', 'push'))
  assert.equal(kinds(ofRun, firm), null)
  assert.equal(kinds(firm, ofRun), null)
})

test('what a hook asks is refused where one of several policies asks nobody', () => {
  const asks = { program: '/opt/look', word: { decide: 'ask', why: 'it is late' } } as const
  const allows = policy(rule('allow', home, 'git', 'push'))
  const found = decideByAll(push, [allows])
  const alone: Policy = { ...allows, preset: 'alone', asking: 'nobody' }
  assert.equal(joinHooks(found, [asks], [allows, alone]).decide, 'deny')
  assert.equal(joinHooks(found, [asks], [allows]).decide, 'ask')
})
