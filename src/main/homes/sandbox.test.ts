// What the list of the configuration and the files of a policy say of one host, as they are now.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hostGate } from './sandbox.ts'
import { policyPort } from './policy-port.ts'

test('the list and both files of a policy are read at each connection', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'holon-gate-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const [home, workspace] = [join(root, 'state'), join(root, 'app')]
  mkdirSync(home)
  mkdirSync(join(workspace, '.holon'), { recursive: true })
  const policy = policyPort(home, { age: 'new', choice: 'asked' }, null)
  const gate = hostGate(['a.example:443'], () => policy.rules(workspace))
  const why = async (asked: string) => {
    const verdict = await gate.judge('main', asked)
    return verdict.ok ? `${verdict.name} ${verdict.port}` : verdict.why.replaceAll(root, '')
  }
  const write = (path: string, rules: object[]) =>
    writeFileSync(path, JSON.stringify({ rules }, null, 1))
  const [own, narrowing] = [join(home, 'policy.json'), join(workspace, '.holon/policy.json')]

  assert.equal(await why('A.example.:443'), 'a.example 443')
  assert.equal(
    await why('b.example:443'),
    'b.example:443 is not among the hosts that commands may reach. The operator can add it to ' +
      'sandbox.network.allow in config.json, or to policy.json: ' +
      '{ "decide": "allow", "host": ["b.example:443"] }',
  )
  assert.equal(
    await why('127.1:443'),
    '"127.1:443" is not the name of a host and a port; addresses are not reached',
  )
  // A home without a policy has none of a repository either.
  write(narrowing, [{ decide: 'deny', host: ['a.example'], why: 'not from here' }])
  assert.equal(await why('a.example:443'), 'a.example 443')
  write(own, [{ decide: 'allow', host: ['b.example:443'] }])
  assert.equal(await why('b.example:443'), 'b.example 443')
  assert.equal(
    await why('a.example:443'),
    'a.example:443 is not reached: /app/.holon/policy.json:3 denies: not from here',
  )
  write(narrowing, [])
  write(own, [{ decide: 'ask', host: ['a.example'] }])
  assert.equal(
    await why('a.example:443'),
    'a.example:443 is not reached: /state/policy.json:3 asks about, and nobody is asked of a connection',
  )
  write(own, [{ decide: 'allow', host: ['https://b.example'] }])
  assert.match(
    await why('a.example:443'),
    /^no host is reached: \/state\/policy\.json line 3 is refused: .*https:\/\/b\.example is no host/,
  )
})
