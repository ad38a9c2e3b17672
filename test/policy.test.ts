/**
 * The policy on shell lines: a table of what is decided, lines of a grammar against bash itself,
 * and that a repository's rules only narrow.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { covers, grantableOf } from '../src/domain/approvals/scope.ts'
import { decideAction } from '../src/domain/policy/decision.ts'
import { effectivePolicy } from '../src/domain/policy/effective.ts'
import { openShellParser } from '../src/exec/shell/parser.ts'
import { drawing, lineOf } from './policy/lines.ts'
import { readPairs } from './policy/pairs.ts'
import { tryLines } from './policy/try-lines.ts'
import { sha256 } from '../src/tools/tool/sha256.ts'
import { actionOfLine, judgeLine, policyOf, rulesOf } from './policy/judge-line.ts'

const { read } = await openShellParser({ monotonic: () => performance.now() })

test('every line of the table is decided as it says', () => {
  const pairs = readPairs()
  const wrong = pairs.flatMap(({ rules, otherwise, decide, line }) => {
    const policy = policyOf(rules, otherwise === null ? {} : { otherwise })
    const found = judgeLine(line, policy, read)
    return found.decide === decide ? [] : [`${line}: ${found.decide}, not ${decide}: ${found.why}`]
  })
  assert.deepEqual(wrong, [])
  assert.ok(pairs.length >= 400, `${pairs.length} pairs`)
})

const hasBash = spawnSync('bash', ['-c', ':']).status === 0

test(
  'no line that runs what is denied is allowed, whatever stands around it',
  { skip: hasBash ? false : 'there is no bash', timeout: 300_000 },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'holon-lines-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const tried = await tryLines(folder, 150, 1)
    assert.deepEqual(tried.wrong, [])
    assert.ok(tried.ran > 50, `${tried.ran} ran it`)
    assert.ok(tried.decided.allow > 5, `${tried.decided.allow} were allowed`)
  },
)

test('a line in doubt is never allowed, even where everything is', () => {
  const open = policyOf(rulesOf([{ decide: 'allow', run: ['*'] }]), { preset: 'open' })
  const dead = () => ({ ok: false, doubt: 'no_parser' }) as const
  assert.equal(judgeLine('ls', open, read).decide, 'allow')
  assert.equal(judgeLine('ls', open, dead).decide, 'ask')
  assert.equal(judgeLine(`echo ${'x'.repeat(100_001)}`, open, read).decide, 'ask')
  for (const line of ['$X', 'eval x', 'PATH=/x ls', 'ls() { :; }', 'ls "', 'env $X']) {
    assert.equal(judgeLine(line, open, read).decide, 'ask', line)
  }
})

/** A word of a rule, and of a line of the grammar. */
const token = fc.constantFrom('forbid', 'ls', 'echo', 'git', 'x', '-f', '*', 'sudo')
const ruleOf = (decide: fc.Arbitrary<'deny' | 'ask' | 'allow'>) =>
  fc.record(
    {
      decide,
      run: fc.array(
        fc.oneof(
          token,
          fc.array(token, { minLength: 1, maxLength: 3 }),
          fc.record({ any: fc.array(token, { minLength: 1, maxLength: 2 }) }),
        ),
        { minLength: 1, maxLength: 3 },
      ),
      in: fc.constantFrom('workspace', 'outside'),
      origin: fc.constantFrom('operator', 'external'),
    },
    { requiredKeys: ['decide', 'run'] },
  )
const anyRule = ruleOf(fc.constantFrom('deny', 'ask', 'allow'))
const numRuns = Number(process.env['HOLON_POLICY_PAIRS'] ?? 1_000)

test('whatever was granted, what a denial is about is not allowed, nor what a repository asks', () => {
  const firm = ruleOf(fc.constantFrom('deny', 'ask'))
  const pushes = [
    'git push origin v1',
    'git push origin v2',
    'ls && git push origin v1',
    'git push',
  ]
  let covered = 0
  fc.assert(
    fc.property(
      fc.array(anyRule, { maxLength: 3 }),
      fc.array(firm, { maxLength: 2 }),
      fc.constantFrom('watch', 'work', 'alone', 'open'),
      fc.option(fc.constantFrom(...pushes)),
      fc.nat(),
      (own, theirs, preset, push, seed) => {
        const line = push ?? lineOf(drawing(seed))
        const action = actionOfLine(line, read)
        const parts = { preset, otherwise: {}, rules: rulesOf(own), narrower: [] } as const
        const narrower = rulesOf(theirs, 'repository')
        const policy = effectivePolicy({ ...parts, narrower }, sha256)
        const found = decideAction(action, policy)
        // All that could ever have been said yes to, by anybody, of this and of a push.
        const commands = [action, ...pushes.map((one) => actionOfLine(one, read))]
        const isCovered = commands.some((given) => {
          const lifts = given.commands.map((command) => ({ kind: 'run', command }) as const)
          const like = lifts.flatMap((part) => grantableOf(given, [part])?.like ?? [])[0]
          return (
            covers({ kind: 'same_for_item', action: given }, action, found.lifts) ||
            (like !== undefined && covers({ kind: 'like_for_agent', like }, action, found.lifts))
          )
        })
        if (!isCovered) return
        covered += 1
        assert.equal(found.decide, 'ask', line)
        const denying = rulesOf([...own, ...theirs].filter(({ decide }) => decide === 'deny'))
        const allAsked = policyOf(denying)
        assert.equal(decideAction(action, allAsked).decide, 'allow', `${line}: denied`)
        const asking = rulesOf(theirs)
        assert.equal(decideAction(action, policyOf(asking)).decide, 'allow', `${line}: narrowed`)
      },
    ),
    { numRuns },
  )
  assert.ok(covered > numRuns / 50, `${covered} were covered`)
})

test("a repository's rules turn no decision looser", () => {
  const strictness = { allow: 0, ask: 1, deny: 2 }
  fc.assert(
    fc.property(
      fc.array(anyRule, { maxLength: 4 }),
      fc.array(anyRule, { maxLength: 4 }),
      fc.constantFrom('watch', 'work', 'alone', 'open'),
      fc.nat(),
      (own, theirs, preset, seed) => {
        const line = lineOf(drawing(seed))
        const rules = rulesOf(own)
        const narrower = rulesOf(
          theirs.map((one) => ({ ...one, decide: one.decide === 'allow' ? 'ask' : one.decide })),
          'repository',
        )
        // What a schema refuses is no rule here either.
        const allowing = rulesOf(theirs).map((one) => ({
          ...one,
          source: { ...one.source, from: 'repository' as const, file: '', line: 1 },
        }))
        const parts = { preset, rules, otherwise: {}, narrower: [] } as const
        const before = judgeLine(line, effectivePolicy(parts, sha256), read)
        for (const given of [narrower, allowing]) {
          const after = judgeLine(
            line,
            effectivePolicy({ ...parts, narrower: given }, sha256),
            read,
          )
          assert.ok(strictness[after.decide] >= strictness[before.decide], line)
        }
      },
    ),
    { numRuns },
  )
})
