// What a policy says of an action: the strictest part, the longest match, nothing by guess.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { actionBody, actionCommand as command } from '../../testing/action-body.ts'
import { canonical } from '../canonical.ts'
import { sealAction, type ActionBody } from './action.ts'
import { decideAction } from './decision.ts'
import type { Policy, PolicyRule, RuleSubject, Verdict } from './rule.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const body = (more: Partial<ActionBody> = {}) => actionBody({ confined: true, ...more })

const rule = (
  decide: Verdict,
  subject: RuleSubject,
  more: Partial<PolicyRule> = {},
): PolicyRule => ({
  decide,
  subject,
  in: null,
  origin: null,
  agent: null,
  why: '',
  source: { from: 'home', file: 'policy.json', line: 1 },
  ...more,
})
const run = (...tokens: (RuleSubject & { kind: 'run' })['tokens'][number][]): RuleSubject => ({
  kind: 'run',
  tokens,
})

const policy = (rules: PolicyRule[], more: Partial<Policy> = {}): Policy => ({
  revision: 'r1',
  preset: 'work',
  rules,
  otherwise: { run: 'sandboxed', write: 'workspace', host: 'ask', mcp: 'ask' },
  asking: 'operator',
  ...more,
})

const decides = (given: Partial<ActionBody>, of: Policy) =>
  decideAction(sealAction(body(given), sha256), of)

const pushes = policy([
  rule('deny', run('git', 'push', { any: ['--force', '-f'] }), { why: 'history is shared' }),
  rule('ask', run('git', 'push'), { why: 'remote writes ask' }),
  rule('allow', run('git')),
])

test('a denial is stronger than a question, and that than a permission', () => {
  const of = (...argv: string[]) => decides({ commands: [command(argv)] }, pushes).decide
  assert.equal(of('git', 'push', '-f'), 'deny')
  assert.equal(of('git', '--no-pager', 'push', '-vf', 'origin'), 'deny')
  assert.equal(of('git', 'push', 'origin', '+main'), 'deny')
  assert.equal(of('git', 'push', 'origin', 'v2'), 'ask')
  assert.equal(of('git', 'log'), 'allow')
})

test('the strictest part decides, and has the words', () => {
  const commands = [command(['git', 'log']), command(['git', 'push', '--force'])]
  const { decide, why } = decides({ commands }, pushes)
  assert.deepEqual([decide, why], ['deny', 'git push --force: history is shared.'])
})

test('what could be denied once it runs is asked', () => {
  const { decide, because } = decides(
    { commands: [command(['git', { starts: '' }])] },
    policy([rule('deny', run('git', 'push'))]),
  )
  assert.equal(decide, 'ask')
  assert.equal(because.by === 'rule' && because.match, 'could_be')
})

test('what nobody can say is never allowed', () => {
  const doubtful = command(['eval', 'x'], { certain: false, doubt: 'runs_text', in_doubt: null })
  const open = policy([rule('allow', run('*'))], {
    preset: 'open',
    otherwise: { run: 'allow', write: 'allow', host: 'allow', mcp: 'allow' },
  })
  assert.equal(decides({ commands: [doubtful] }, open).decide, 'ask')
})

test('a program of the same name in the workspace is not the one that is allowed', () => {
  const own = command(['./git', 'log'], {
    program: { kind: 'found', real_path: '/w/git', area: 'workspace', by: 'path' },
  })
  const asking = { ...pushes, otherwise: { ...pushes.otherwise, run: 'ask' } } as const
  assert.equal(decides({ commands: [own] }, asking).decide, 'ask')
})

test('where nobody is asked a question is a denial that says why', () => {
  const alone = policy(pushes.rules.slice(), { preset: 'alone', asking: 'nobody' })
  const { decide, why } = decides({ commands: [command(['git', 'push'])] }, alone)
  assert.equal(decide, 'deny')
  assert.match(why, /Nobody is asked with the preset alone.*remote writes ask/)
})

test('files, hosts and tools of servers have their own rules', () => {
  const of = policy([
    rule('ask', { kind: 'write', globs: ['**/.github/**', 'package.json'] }),
    rule('allow', { kind: 'host', hosts: ['*.github.com:443'] }),
    rule('allow', { kind: 'mcp', tools: ['linear/*'], unless: {} }),
  ])
  const writes = (real_path: string) =>
    decides({ paths: [{ op: 'write', real_path, area: 'workspace' }] }, of).decide
  assert.deepEqual(
    ['/w/package.json', '/w/a/package.json', '/w/.github/x/y.yml', '/w/a.ts'].map(writes),
    ['ask', 'allow', 'ask', 'allow'],
  )
  const host = (name: string, port = 443) => decides({ hosts: [{ name, port }] }, of).decide
  assert.deepEqual(
    [host('api.github.com'), host('github.com'), host('api.github.com', 80)],
    ['allow', 'ask', 'ask'],
  )
  const mcp = { server: 'linear', tool: 'list', args_sha: '', pinned: true, read_only: true }
  assert.equal(decides({ mcp }, of).decide, 'allow')
})

test('the hash is of what is done, whatever the order of the fields', () => {
  const [one, other] = [sealAction(body(), sha256), sealAction({ ...body() }, sha256)]
  assert.equal(one.sha256, other.sha256)
  const moved = sealAction(body({ workspace: '/v' }), sha256)
  assert.notEqual(one.sha256, moved.sha256)
  assert.equal(canonical({ b: 1, a: [undefined, 'x'] }), '{"a":[null,"x"],"b":1}')
})
