import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askedHost, hostPattern, matchHost, ruleOnHost } from './host.ts'
import type { PolicyRule } from './rule.ts'

const host = (name: string, port = 443) => ({ name, port })

test('a pattern is a name, a name with a port, or all names below one, and nothing else', () => {
  assert.deepEqual(hostPattern('a.example'), { is: 'one', name: 'a.example', port: null })
  assert.deepEqual(hostPattern('A.Example.:443'), { is: 'one', name: 'a.example', port: 443 })
  assert.deepEqual(hostPattern('*.a.example:22'), { is: 'below', name: 'a.example', port: 22 })
  assert.deepEqual(hostPattern('*:443'), { is: 'any', name: '', port: 443 })
  assert.deepEqual(hostPattern('[::1]:80'), { is: 'one', name: '[::1]', port: 80 })
  for (const text of [
    ...['', ':443', 'a:', 'a:0', 'a:65536', 'a:443:1', '::1', 'https://a', 'a/b', 'a?b', 'a@b'],
    ...['*.', '*.127.0.0.1', 'a.*', '*a.example', 'a b', 'a%2eb'],
  ]) {
    assert.equal(hostPattern(text), null, text)
  }
})

test('names below a pattern end in its labels, and a port is compared where one is written', () => {
  const rows: readonly (readonly [string, string, number, boolean])[] = [
    ['*.github.com:443', 'api.github.com', 443, true],
    ['*.github.com:443', 'a.b.github.com', 443, true],
    ['*.github.com:443', 'github.com', 443, false],
    ['*.github.com:443', 'evilgithub.com', 443, false],
    ['*.github.com:443', 'github.com.evil', 443, false],
    ['*.github.com:443', 'api.github.com', 80, false],
    ['github.com', 'github.com', 22, true],
    ['github.com', 'api.github.com', 22, false],
    ['bücher.example', 'xn--bcher-kva.example', 443, true],
    ['127.0.0.1', '127.0.0.1', 80, true],
    ['0x7f.1', '127.0.0.1', 80, true],
    ['*', 'whatever', 1, true],
    ['*:443', 'whatever', 80, false],
    ['no host at all', 'no', 80, false],
  ]
  for (const [pattern, name, port, fits] of rows) {
    assert.equal(matchHost(pattern, host(name, port)), fits, `${pattern} ${name}:${port}`)
  }
})

test('what is asked is a name with a port; an address is none, however it is written', () => {
  assert.deepEqual(askedHost('Bücher.Example.:443'), host('xn--bcher-kva.example'))
  for (const text of ['127.0.0.1:1', '0x7f.1:1', '2130706433:1', '127.1:1', '[::1]:1', 'a', 'a:']) {
    assert.equal(askedHost(text), null, text)
  }
})

const rule = (
  decide: PolicyRule['decide'],
  hosts: string[],
  more: Partial<PolicyRule> = {},
): PolicyRule => ({
  decide,
  subject: { kind: 'host', hosts },
  in: null,
  origin: null,
  agent: null,
  why: '',
  source: { from: 'home', file: 'policy.json', line: 1 },
  ...more,
})

test('a list and what the operator allows are one, and what anybody denies or asks takes from it', () => {
  const repository = { from: 'repository', file: '.holon/policy.json', line: 1 } as const
  const preset = { from: 'preset', preset: 'open' } as const
  const rows: readonly (readonly [string, PolicyRule[], boolean])[] = [
    ['listed.example', [], true],
    ['other.example', [], false],
    ['other.example', [rule('allow', ['other.example:443'])], true],
    ['other.example', [rule('allow', ['other.example:80'])], false],
    ['listed.example', [rule('deny', ['*.example'])], false],
    ['listed.example', [rule('deny', ['*.example']), rule('allow', ['listed.example'])], false],
    // Nobody is asked about a connection.
    ['listed.example', [rule('ask', ['listed.example'])], false],
    ['listed.example', [rule('deny', ['listed.example'], { source: repository })], false],
    // What allows is the operator's alone, and not what a preset says of calls.
    ['other.example', [rule('allow', ['*'], { source: repository })], false],
    ['other.example', [rule('allow', ['*'], { source: preset })], false],
    // Of one agent; and on whose words a command connects nobody knows.
    ['other.example', [rule('allow', ['*'], { agent: 'main' })], true],
    ['other.example', [rule('allow', ['*'], { agent: 'else' })], false],
    ['listed.example', [rule('deny', ['*'], { agent: 'else' })], true],
    ['other.example', [rule('allow', ['*'], { origin: 'operator' })], false],
    ['listed.example', [rule('deny', ['*'], { origin: 'external' })], false],
  ]
  for (const [name, rules, allow] of rows) {
    const ruling = ruleOnHost(host(name), ['listed.example:443'], { rules, agent: 'main' })
    assert.equal(ruling.allow, allow, JSON.stringify([name, rules]))
  }
})
