import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HTTPException } from 'hono/http-exception'
import { z } from 'zod'
import { problemIn } from '../../testing/http/http-home.ts'
import { invalidRequest, problemOfError, refuse } from './problem.ts'

const failing = (fields: object) => Object.assign(new Error('secret detail'), fields)

test('what a request threw is told by what it is, and an unexpected error only by its being one', async () => {
  const rows: [thrown: unknown, status: number, code: string, after: string | null][] = [
    [new HTTPException(400), 400, 'not_json', null],
    [new HTTPException(415), 415, 'unsupported_media_type', null],
    [failing({ code: 'disk_full', retry: 'later' }), 503, 'degraded', '30'],
    [failing({ code: 'read_only', retry: 'never' }), 503, 'degraded', '30'],
    [failing({ code: 'scarce', retry: 'now' }), 503, 'degraded', '30'],
    [failing({ code: 'io', retry: 'now' }), 503, 'fault', '5'],
    [failing({ code: 'io', retry: 'later' }), 503, 'fault', '5'],
    [failing({ code: 'io', retry: 'never' }), 503, 'fault', '5'],
    [failing({ code: 'EMFILE' }), 503, 'degraded', '30'],
    [failing({ code: 'ENFILE' }), 503, 'degraded', '30'],
    [failing({ code: 'ENOMEM' }), 503, 'degraded', '30'],
    // What looks like a fault of a port and is none of ours.
    [failing({ code: 'disk_full' }), 500, 'internal', null],
    [failing({ code: 'disk_full', retry: 'soon' }), 500, 'internal', null],
    [failing({ code: 28, retry: 'later' }), 500, 'internal', null],
    [failing({ retry: 'later' }), 500, 'internal', null],
    [{ code: 'disk_full', retry: 'later' }, 500, 'internal', null],
    ['disk_full', 500, 'internal', null],
    [null, 500, 'internal', null],
  ]
  for (const [thrown, status, code, after] of rows) {
    const answer = problemOfError(thrown)
    const text = await answer.clone().text()
    assert.deepEqual(
      [...(await problemIn(answer)), answer.headers.get('retry-after')],
      [status, code, after],
    )
    assert.ok(!text.includes('secret'), text)
  }
})

test('a refusal that will pass says when to come again, in its own words or by a default', () => {
  const after = (code: string, headers?: Record<string, string>) =>
    refuse({ code, message: '' }, headers).headers.get('retry-after')
  assert.deepEqual(
    [
      after('degraded'),
      after('rate_limited'),
      after('degraded', { 'retry-after': '30' }),
      after('not_found'),
      after('not_found', { 'retry-after': '7' }),
    ],
    ['5', '5', '30', null, '7'],
  )
})

test('a request that does not fit is told each field, at most twenty, and the first in a sentence', async () => {
  const fields = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`f${n}`, z.string()]))
  const { error } = z.object({ of: z.object(fields) }).safeParse({ of: {} })
  assert.ok(error)
  const body = async (target: string) =>
    (await invalidRequest(error, target).json()) as {
      detail: string
      errors: { field: string; message: string }[]
    }
  const { detail, errors } = await body('json')
  const [first] = errors
  assert.deepEqual([errors.length, first?.field], [20, 'body.of.f0'])
  assert.equal(detail, `body.of.f0: ${first?.message}`)
  assert.equal((await body('query')).errors.at(-1)?.field, 'query.of.f19')
})
