/** `holon policy` on a home that has lived a little: what it says, and which files it refuses. */
import assert from 'node:assert/strict'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { PolicyDecisionRecord, PoliciesRecord } from '../src/protocol/records/policy-record.ts'
import { ServedHome } from './support/served-home.ts'

const patience = { timeout: 120_000 }

test('a line, a call that was made, and all of them are told', patience, async (t) => {
  const at = new ServedHome(t)
  const step = '# Look\n\n## Look\n\n```sh\necho here && git push -f\n```\n'
  await at.holon('run', '--agent', 'main', at.write('look.md', step))
  const asked = await at.holon('policy', 'check', 'git push -f', '--json')
  assert.equal(asked.exit, 3)
  const decision = JSON.parse(asked.out) as PolicyDecisionRecord
  assert.deepEqual(
    [decision.decide, decision.by, decision.rule?.from],
    ['ask', 'rule', 'preset work'],
  )
  assert.equal((await at.holon('policy', 'check', 'ls')).exit, 0)
  const rule = { decide: 'deny', run: ['git', 'push', { any: ['--force'] }], why: 'it is shared' }
  const stricter = at.write('stricter.json', JSON.stringify({ rules: [rule] }))
  const denied = await at.holon('policy', 'check', 'git push -f', '--file', stricter)
  assert.equal(denied.exit, 1)
  assert.match(denied.out, /^denied: git push -f\n {2}why {3}git push -f: it is shared\./)
  type Tested = {
    calls: number
    decided: Record<string, number>
    groups: { example: { id: string } }[]
  }
  const now = await at.json<Tested>('policy', 'test')
  assert.equal(now.decided['ask'], 1)
  const then = await at.json<Tested>('policy', 'test', stricter)
  assert.deepEqual([then.calls, then.decided['deny']], [now.calls, 1])
  const id = then.groups[0]?.example.id ?? ''
  const explained = await at.json<PolicyDecisionRecord>('policy', 'explain', id)
  assert.equal(explained.part, 'git push -f')
})

test('a file is refused whole, with its line and what is wrong', patience, async (t) => {
  const at = new ServedHome(t)
  const file = (text: string) => at.write('policy-of-mine.json', text)
  const says = async (text: string) => {
    const { exit, err } = await at.holon('policy', 'check', 'ls', '--file', file(text))
    assert.equal(exit, 2, text)
    return err
  }
  assert.match(await says('{ "rules": [\n{ "decide": "deny" } ] }'), /line 2.*one of run, write/)
  assert.match(await says('{ "rules":\n[ }'), /line 2/)
  assert.match(await says('{ "rule": [] }'), /Unrecognized key: "rule"/)
  const example =
    '{ "rules": [\n\n{ "decide": "ask", "run": ["git"], "not_match": ["git log"] } ] }'
  assert.match(await says(example), /line 3: not_match: .*"git log"/)
  const missed = '{ "rules": [{ "decide": "ask", "run": ["git"], "match": ["ls"] }] }'
  assert.match(await says(missed), /match: the rule is not about "ls"/)
  const link = join(at.folder, 'link.json')
  symlinkSync(file('{}'), link)
  const { err } = await at.holon('policy', 'check', 'ls', '--file', link)
  assert.match(err, /it is a link, and none is followed/)
})

test(
  'where the file is refused, inbox, doctor and show say which rules are in force',
  patience,
  async (t) => {
    const at = new ServedHome(t)
    await at.holon(
      'run',
      '--agent',
      'main',
      at.write('a.md', '# L\n\n## L\n\n```sh\necho x\n```\n'),
    )
    const policy = join(at.home, 'policy.json')
    assert.match((await at.holon('inbox')).out, /^nothing needs you/)
    writeFileSync(policy, '{\n "rules": [ }')
    const said = /policy\.json line 2 is refused: .*; everything is asked until it holds/
    assert.match((await at.holon('inbox')).out, said)
    const doctor = await at.holon('doctor')
    assert.deepEqual([doctor.exit, said.test(doctor.out)], [1, true])
    assert.match(doctor.out, /do: correct the file/)
    assert.equal((await at.holon('policy', 'show')).exit, 2)
    writeFileSync(join(at.home, 'policy.good.json'), '{ "preset": "watch" }')
    const kept = /the last good rules stay in force until it holds \(.*policy\.good\.json\)/
    for (const command of [['inbox'], ['doctor'], ['policy', 'show']]) {
      assert.match((await at.holon(...command)).out, kept, command.join(' '))
    }
    const shown = await at.json<PoliciesRecord>('policy', 'show')
    assert.deepEqual([shown.policies[0]?.preset, shown.refused?.line], ['watch', 2])
  },
)

test("a repository's file asks and denies, and one that allows is refused", patience, async (t) => {
  const at = new ServedHome(t)
  await at.holon(
    'run',
    '--agent',
    'main',
    at.write('look.md', '# L\n\n## L\n\n```sh\necho x\n```\n'),
  )
  const { agents } = await at.json<{ agents: { workspace: { root: string } }[] }>('agents', 'list')
  const root = agents[0]?.workspace.root ?? ''
  const write = (rules: unknown[]) => {
    mkdirSync(join(root, '.holon'), { recursive: true })
    writeFileSync(join(root, '.holon/policy.json'), JSON.stringify({ rules }))
  }
  const check = () => at.holon('policy', 'check', 'ls', '--agent', 'main')
  t.after(() => rmSync(join(root, '.holon'), { recursive: true, force: true }))
  assert.equal((await check()).exit, 0)
  write([{ decide: 'deny', run: ['ls'], why: 'not here' }])
  assert.equal((await check()).exit, 1)
  const { policies } = await at.json<PoliciesRecord>('policy', 'show', '--agent', 'main')
  assert.match(policies[0]?.rules.at(-1)?.from ?? '', /\.holon\/policy\.json:1$/)
  write([{ decide: 'allow', run: ['curl'] }])
  const refused = await check()
  assert.deepEqual([refused.exit, /rules\.0\.decide/.test(refused.err)], [2, true])
})
