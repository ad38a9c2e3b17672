// The rules that are found by the names of a command: all that are about it, in their order.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { actionBody, actionCommand } from '../../testing/action-body.ts'
import type { ShellWord } from '../shell/command.ts'
import type { ActionProgram } from './action.ts'
import { partsOf } from './decision.ts'
import { matchRule } from './match.ts'
import type { PolicyRule, RuleSubject, RunToken } from './rule.ts'
import { rulesAbout } from './rules-about.ts'

const names = ['git', 'ls', 'forbid', 'echo', 'sudo', '/usr/bin/git', '/w/git']
const inText = names.flatMap((name) => [
  `x ${name}`,
  `a=${name};b`,
  `(/opt/${name} y)`,
  `--by=${name}`,
])
const word: fc.Arbitrary<ShellWord> = fc.oneof(
  fc.constantFrom(...names, ...inText, 'push', '-f', 'x'),
  fc.constantFrom('', 'fo', 'src/', 'zz').map((starts) => ({ starts })),
)
const plain = fc.constantFrom(...names, 'push', '-f', 'xargs')
const found = (path: string): ActionProgram => ({
  kind: 'found',
  real_path: path,
  area: path.startsWith('/w/') ? 'workspace' : 'outside',
  by: path.startsWith('/usr/') ? 'search' : 'path',
})
const program = fc.constantFrom<ActionProgram>(
  { kind: 'absent' },
  { kind: 'builtin' },
  ...['/usr/bin/git', '/usr/bin/forbid', '/usr/bin/other', '/w/git', '/w/forbid'].map(found),
)
const command = fc
  .record({
    argv: fc.oneof(
      fc.tuple(plain, fc.array(plain, { maxLength: 3 })).map(([first, rest]) => [first, ...rest]),
      fc.array(word, { maxLength: 4 }),
    ),
    program,
    wrapped_by: fc.subarray(['sudo', 'env', 'forbid'], { maxLength: 2 }),
  })
  .map(({ argv, ...more }) => actionCommand(argv, more))

const token: fc.Arbitrary<RunToken> = fc.oneof(
  fc.constantFrom(...names, '*', 'push', '-f'),
  fc.array(fc.constantFrom(...names, '*'), { minLength: 1, maxLength: 3 }),
  fc.record({ any: fc.array(fc.constantFrom(...names, '-f'), { minLength: 1, maxLength: 2 }) }),
)
const run = fc
  .array(token, { maxLength: 3 })
  .map((tokens): RuleSubject => ({ kind: 'run', tokens }))
const others = fc.constantFrom<RuleSubject>(
  { kind: 'write', globs: ['**'] },
  { kind: 'host', hosts: ['*'] },
  { kind: 'call', tools: [], classes: [] },
)
const subject = fc.oneof({ weight: 5, arbitrary: run }, { weight: 1, arbitrary: others })
const rule: fc.Arbitrary<PolicyRule> = fc.record({
  decide: fc.constantFrom('allow', 'ask', 'deny'),
  subject,
  in: fc.constant(null),
  origin: fc.constant(null),
  agent: fc.constant(null),
  why: fc.constant(''),
  source: fc.constant({ from: 'preset', preset: 'work' }),
})

test('a rule that is left out is about nothing of the part, and the others keep their order', () => {
  const seen = { out: 0, about: 0 }
  fc.assert(
    fc.property(command, fc.array(rule, { maxLength: 8 }), (one, rules) => {
      const action = actionBody({
        commands: [one],
        paths: [{ op: 'write', real_path: '/w/a', area: 'workspace' }],
        hosts: [{ name: 'a.example', port: 443 }],
      })
      for (const part of partsOf(action)) {
        const kept = rulesAbout(rules, part)
        assert.deepEqual(
          kept,
          rules.filter((each) => kept.includes(each)),
        )
        for (const each of rules) {
          const { is } = matchRule(each, action, part)
          if (!kept.includes(each)) assert.equal(is, 'no')
          if (part.kind === 'run' && is !== 'no') seen.about += 1
          if (part.kind === 'run' && !kept.includes(each)) seen.out += 1
        }
      }
    }),
    { numRuns: 3_000 },
  )
  assert.ok(seen.out > 1_000 && seen.about > 1_000, JSON.stringify(seen))
})
