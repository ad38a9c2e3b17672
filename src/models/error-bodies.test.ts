/**
 * Error bodies as providers, gateways and local servers send them, each through the adapter that
 * meets it: what it is, whether and when it is tried again, and what the operator reads.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adapters, asks, hear, openAdapter } from '../testing/model-server/client.ts'
import bodies from './error-bodies.json' with { type: 'json' }
import type { FetchFunction } from './transport/fetch.ts'

type Row = {
  who: string
  wire: string
  status: number
  headers?: Record<string, string>
  body: unknown
  /** Kind and code; `again`: the same request is sent again soon. */
  is: string
  retry_after_ms?: number
  reads: string
}

const rows = bodies as readonly Row[]

async function faultOf({ wire, status, headers, body }: Row) {
  const adapter = adapters.find(({ endpoint }) => endpoint === wire)
  assert.ok(adapter, wire)
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const type = status === 200 ? 'text/event-stream' : 'application/json'
  const fetch: FetchFunction = () =>
    Promise.resolve(new Response(text, { status, headers: { 'content-type': type, ...headers } }))
  const { model, id } = await openAdapter(adapter, { base_url: 'http://127.0.0.1:9/v1', fetch })
  const { outcome } = await hear(model, asks(id))
  assert.ok(!outcome.ok, 'it passed for an answer')
  return outcome.fault
}

test('every dialect of an error is read as what it is', async () => {
  for (const row of rows) {
    const { kind, code, retryable, retry_after_ms, message } = await faultOf(row)
    const found = {
      is: `${kind} ${code}${retryable ? ' again' : ''}`,
      retry_after_ms,
      reads: message,
    }
    const { is, reads } = row
    const expected = { is, retry_after_ms: row.retry_after_ms ?? null, reads }
    assert.deepEqual(found, expected, `${row.who} ${row.status}`)
  }
})

test('the table has bodies of many makers and every wire', () => {
  assert.ok(rows.length >= 120, `${rows.length} bodies`)
  assert.ok(new Set(rows.map(({ who }) => who)).size >= 20)
  assert.deepEqual(
    new Set(rows.map(({ wire }) => wire)),
    new Set(adapters.map(({ endpoint }) => endpoint)),
  )
})
