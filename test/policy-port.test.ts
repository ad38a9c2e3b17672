/**
 * The policy that a running home judges calls by: its files as they are at the moment of the call,
 * and everything asked where they cannot be read.
 */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { policyPort } from '../src/main/homes/policy-port.ts'
import type { CallJudged } from '../src/runtime/ports.ts'

function placed(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-policy-')))
  t.after(() => rmSync(folder, { recursive: true }))
  const [home, workspace] = [join(folder, 'home'), join(folder, 'work')]
  for (const one of [home, workspace]) mkdirSync(one, { mode: 0o700 })
  const port = policyPort(home)
  const says = (policy: unknown) =>
    writeFileSync(
      join(home, 'policy.json'),
      typeof policy === 'string' ? policy : JSON.stringify(policy),
    )
  const judged = async (input: unknown, more: Partial<CallJudged> = {}) => {
    const asked: CallJudged = {
      tool_name: 'ExecCommand',
      class: 'reattachable',
      input,
      agent: 'main',
      item: null,
      origin: 'operator',
      workspace,
      confined: false,
      environment: {},
      ...more,
    }
    return port.judge(asked)
  }
  const decided = async (cmd: string) =>
    (await judged({ cmd, workdir: workspace }))?.decision.decide
  return { home, workspace, says, judged, decided }
}

test('a home without a policy asks nothing', async (t) => {
  const { judged } = placed(t)
  assert.equal(await judged({ cmd: 'git push -f' }), null)
})

test('a rule holds from the call on that follows it', async (t) => {
  const { says, decided } = placed(t)
  says({ rules: [{ decide: 'deny', run: ['git', 'push'], why: 'never' }] })
  assert.equal(await decided('git push'), 'deny')
  says({ rules: [{ decide: 'allow', run: ['git', 'push'] }] })
  assert.equal(await decided('git push'), 'allow')
})

test('a file that is refused asks about everything and says why; what only looks goes on', async (t) => {
  const { says, judged, decided, home } = placed(t)
  for (const broken of ['{', { rules: [{ decide: 'allow', run: ['ls'], match: ['git push'] }] }]) {
    says(broken)
    assert.equal(await decided('ls'), 'ask')
    const found = await judged({ cmd: 'ls' })
    assert.match(found?.decision.why ?? '', new RegExp(`^${home}/policy.json, line 1 is refused: `))
    assert.match(found?.decision.why ?? '', /Until then everything is asked\.$/)
    const looks = await judged({ path: 'a.txt' }, { tool_name: 'ReadFile', class: 'pure' })
    assert.equal(looks?.decision.decide, 'allow')
  }
})

test('the same command is another action where its program is another', async (t) => {
  const { says, judged, workspace, home } = placed(t)
  says({ preset: 'watch' })
  const [first, second] = [join(home, 'first'), join(home, 'second')]
  for (const one of [first, second]) {
    mkdirSync(one)
    writeFileSync(join(one, 'deploy'), '#!/bin/sh\n')
    chmodSync(join(one, 'deploy'), 0o755)
  }
  const hash = async (PATH: string, cmd = 'deploy now') =>
    (await judged({ cmd, workdir: workspace }, { environment: { PATH } }))?.action.sha256
  const as = await hash(first)
  assert.equal(await hash(first), as)
  assert.notEqual(await hash(second), as)
  assert.notEqual(await hash(first, 'deploy  now #'), undefined)
  assert.notEqual(await hash(first, 'deploy later'), as)
})
