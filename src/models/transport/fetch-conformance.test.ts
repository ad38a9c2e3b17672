/**
 * The trimmed `Headers` and `Response` against Node's own, over what the provider libraries do with
 * them: the bundle gives the libraries ours in place of the global one (scripts/build.mjs).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PlainHeaders, PlainResponse } from './fetch-response.ts'

type AnyHeaders = Headers | PlainHeaders

const name = fc.constantFrom('Accept', 'accept', 'X-Request-Id', 'user-agent', 'User-Agent', 'b')
const value = fc.stringMatching(/^[ -~]{0,12}$/)
const step = fc.oneof(
  fc.record({ do: fc.constant('append' as const), name, value }),
  fc.record({ do: fc.constant('set' as const), name, value }),
  fc.record({ do: fc.constant('delete' as const), name, value }),
)

/** Everything that can be read of headers. */
const readOf = (headers: AnyHeaders) => {
  const visited: string[] = []
  headers.forEach((value, name) => visited.push(`${name}: ${value}`))
  return {
    entries: [...headers.entries()],
    iterated: [...headers],
    keys: [...headers.keys()],
    values: [...headers.values()],
    visited,
    got: ['ACCEPT', 'x-request-id', 'User-Agent', 'none'].map((name) => headers.get(name)),
    has: ['ACCEPT', 'none'].map((name) => headers.has(name)),
    object: Object.fromEntries(headers.entries()),
  }
}

test('headers say the same as the real ones after any steps', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), fc.array(step), (pairs, steps) => {
      const [real, ours] = [new Headers(pairs), new PlainHeaders(pairs)]
      for (const one of steps) {
        for (const headers of [real, ours]) {
          if (one.do === 'delete') headers.delete(one.name)
          else headers[one.do](one.name, one.value)
        }
      }
      assert.deepEqual(readOf(ours), readOf(real))
    }),
  )
})

test('headers are made from a record, from pairs, from headers and from nothing', () => {
  const record = { 'X-B': ' 2 ', 'x-a': '1' }
  for (const from of [record, Object.entries(record), undefined]) {
    const [real, ours] = [new Headers(from), new PlainHeaders(from)]
    assert.deepEqual(readOf(ours), readOf(real))
    assert.deepEqual(readOf(new PlainHeaders(ours)), readOf(new Headers(real)))
    assert.deepEqual(readOf(new PlainHeaders(real)), readOf(real))
  }
})

test('a response is read like the real one', async () => {
  for (const [status, text] of [
    [200, '{"a":"ä"}'],
    [503, '[]'],
  ] as const) {
    const made = () => {
      const headers = new PlainHeaders({ 'content-type': 'application/json' })
      const body = new Blob([text]).stream()
      return new PlainResponse({ url: '', status, status_text: 'why', headers, body })
    }
    const real = () => new Response(text, { status, statusText: 'why' })
    assert.deepEqual(
      [made().ok, made().status, made().statusText, await made().text(), await made().json()],
      [real().ok, real().status, real().statusText, await real().text(), await real().json()],
    )
    const twice = made()
    await twice.text()
    assert.equal(twice.bodyUsed, true)
    await assert.rejects(twice.text(), TypeError)
  }
})
