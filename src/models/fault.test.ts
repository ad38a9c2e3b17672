import { APICallError } from '@ai-sdk/provider'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultOf } from './fault.ts'

const context = { provider: 'acme', now: 0, secrets: ['hunter22'] }

const call = (more: Partial<ConstructorParameters<typeof APICallError>[0]>) =>
  new APICallError({ message: 'It failed.', url: 'http://x', requestBodyValues: {}, ...more })

const coded = (code: string) => Object.assign(new Error('socket'), { code })

test('errors of every class and shape, by kind and code', () => {
  const table: readonly (readonly [string, unknown, string, boolean])[] = [
    ['no connection', call({ cause: coded('ECONNREFUSED') }), 'world network', true],
    ['a bare socket error', coded('ENOTFOUND'), 'world network', true],
    ['a wrapped one', new Error('x', { cause: coded('ETIMEDOUT') }), 'world network', true],
    ['a body that broke', call({ statusCode: 200 }), 'world stream_broken', true],
    ['a nameless error', new Error('odd'), 'world stream_broken', true],
    ['no error at all', undefined, 'world stream_broken', true],
    ['text', 'went away', 'world stream_broken', true],
    ['a number in the stream', { code: 529, message: 'x' }, 'world overloaded', true],
    ['a number as text', { code: '429' }, 'world rate_limited', true],
    ['a name in the stream', { type: 'rate_limit_error' }, 'world rate_limited', true],
    ['an overload by name', { type: 'overloaded_error' }, 'world overloaded', true],
    ['a server error by name', { error: { type: 'server_error' } }, 'world server_error', true],
    ['google, by name', { status: 'RESOURCE_EXHAUSTED' }, 'world rate_limited', true],
    ['google, too late', { status: 'DEADLINE_EXCEEDED' }, 'world server_error', true],
    ['no credit in the stream', { code: 'insufficient_quota' }, 'world quota', false],
    ['a wrong key in the stream', { type: 'authentication_error' }, 'setup unauthorized', false],
    ['no permission', { type: 'permission_error' }, 'setup unauthorized', false],
    ['an unknown model', { type: 'not_found_error' }, 'setup unknown_model', false],
    ['too long', { code: 'context_length_exceeded' }, 'refused context_length', false],
    ['a bad request', { type: 'invalid_request_error' }, 'refused bad_request', false],
    [
      'policy',
      call({ statusCode: 400, data: { error: { code: 'content_filter' } } }),
      'refused policy',
      false,
    ],
    [
      'a failed response',
      { type: 'response.failed', response: { error: { code: 'server_error', message: 'x' } } },
      'world server_error',
      true,
    ],
  ]
  for (const [name, error, expected, retryable] of table) {
    const fault = faultOf(error, context)
    assert.equal(`${fault.kind} ${fault.code}`, expected, name)
    assert.equal(fault.retryable, retryable, name)
  }
})

test('the sentence names the provider, the status and its words, and no secret', () => {
  const words = 'Key hunter22 of sk-proj-abcdefgh12345 (Bearer abc.def)\n is   wrong.'
  assert.deepEqual(faultOf(call({ statusCode: 401, message: words }), context), {
    kind: 'setup',
    code: 'unauthorized',
    message: 'acme does not accept this key (401): Key [key] of [key] (Bearer [key] is wrong.',
    status: 401,
    retry_after_ms: null,
    retryable: false,
  })
  const long = faultOf(call({ statusCode: 500, message: 'x'.repeat(5_000) }), context)
  assert(long.message.length < 400)
})
