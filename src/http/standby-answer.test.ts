import assert from 'node:assert/strict'
import { test } from 'node:test'
import { securityHeaders } from './request/security-headers.ts'
import { standbyAnswer } from './standby-answer.ts'

const host = '127.0.0.1:7777'
const state = { silent_ms: 4_210, own_hosts: new Set([host]) }

const asked: [method: string, target: string, host: string | undefined, is: unknown][] = [
  ['GET', '/healthz', host, [200, 'ok', null]],
  ['HEAD', '/healthz', host, [200, 'ok', null]],
  ['GET', '/healthz?a=/readyz', host, [200, 'ok', null]],
  ['GET', '/healthz', 'evil.example', [421, 'wrong_host', null]],
  ['GET', '/healthz', undefined, [421, 'wrong_host', null]],
  ['POST', '/healthz', host, [503, 'unresponsive', '1']],
  ['GET', '/healthz/', host, [503, 'unresponsive', '1']],
  ['GET', '/x?/healthz', host, [503, 'unresponsive', '1']],
  ['GET', '/readyz', host, [503, 'unresponsive', '1']],
  ['GET', '/state', host.toUpperCase(), [503, 'unresponsive', '1']],
  ['POST', '/callbacks/token', host, [503, 'unresponsive', '1']],
  ['OPTIONS', '*', host, [503, 'unresponsive', '1']],
]
for (const [method, target, from, is] of asked) {
  test(`the standby answers ${method} ${target} for ${from ?? 'no host'}`, () => {
    const { status, headers, body } = standbyAnswer({ method, target, host: from }, state)
    const value = JSON.parse(body) as Record<string, unknown>
    const code = value['ok'] === true ? 'ok' : value['code']
    assert.deepEqual([status, code, headers['retry-after'] ?? null], is)
    const type = status === 200 ? 'application/json' : 'application/problem+json'
    assert.deepEqual([headers['content-type'], headers['connection']], [type, 'close'])
    assert.deepEqual({ ...headers, ...securityHeaders }, headers)
  })
}

test('it says for how long the daemon has been silent, and nothing of the home', () => {
  const ask = (target: string) => {
    const { body } = standbyAnswer({ method: 'GET', target, host }, state)
    return JSON.parse(body) as unknown
  }
  assert.deepEqual(ask('/healthz'), { ok: true, silent_ms: 4_210 })
  assert.deepEqual(ask('/readyz'), {
    type: 'urn:holon:problem:unresponsive',
    title: 'unresponsive',
    status: 503,
    code: 'unresponsive',
    detail: 'The daemon has not answered for 4 s; most often its disk hangs.',
    hint: 'Look at its disk; it goes on by itself when that answers.',
  })
})
