import assert from 'node:assert/strict'
import { test } from 'node:test'
import { providerOf, statusClass } from './label.ts'

test('a status is counted by its hundred, from 100 to 599', () => {
  const statuses = [0, 99, 100, 101, 199, 200, 404, 500, 599, 600, 777]
  assert.deepEqual(
    statuses.map((status) => `${status} ${statusClass(status)}`),
    [
      ...['0 other', '99 other', '100 1xx', '101 1xx', '199 1xx', '200 2xx', '404 4xx'],
      ...['500 5xx', '599 5xx', '600 other', '777 other'],
    ],
  )
})

test('the provider of a model ends at the first slash: names of models have slashes, too', () => {
  assert.deepEqual(
    ['acme/first', 'router/acme/first', 'router/acme/first/2', 'runbook'].map(providerOf),
    ['acme', 'router', 'router', 'runbook'],
  )
})
