import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asks, hear } from '../testing/model-server/client.ts'
import type { Scripted } from '../testing/scripted-model.ts'
import { fails, says, scriptedModel } from '../testing/scripted-model.ts'
import { modelLimits } from './limits.ts'
import type { ModelFault } from './model.ts'
import type { RetryInfo } from './retry.ts'
import { delayMs, nextModel, withRetry } from './retry.ts'

const busy = fails({ kind: 'world', code: 'rate_limited' })
const after = (ms: number) => fails({ kind: 'world', code: 'rate_limited', retry_after_ms: ms })
const request = asks('scripted/model')

async function play(script: readonly Scripted[], attempts?: number) {
  const model = scriptedModel((_, n) => script[n - 1] ?? says('late'))
  const slept: number[] = []
  const told: RetryInfo[] = []
  const patient = withRetry(model, {
    ...(attempts !== undefined && { attempts }),
    sleep: (ms) => Promise.resolve(void slept.push(ms)),
    random: () => 0.5,
    on_retry: (info) => told.push(info),
  })
  const { outcome } = await hear(patient, request)
  return { outcome, slept, told, requests: model.requests.length }
}

test('a short trouble is slept through, longer each time', async () => {
  const { outcome, slept, told, requests } = await play([busy, busy, says('now')])
  assert.equal(outcome.ok && outcome.round.parts.length, 1)
  assert.deepEqual(slept, [500, 1_000])
  assert.deepEqual(told[1], {
    attempt: 2,
    attempts: modelLimits.retry.value,
    delay_ms: 1_000,
    fault: busy,
  })
  assert.equal(requests, 3)
})

test('after the last attempt the last fault is the outcome', async () => {
  const { outcome, requests } = await play([busy, busy, after(1)], 3)
  assert.deepEqual(outcome, { ok: false, fault: after(1) })
  assert.equal(requests, 3)
})

test('what cannot get better is not tried again', async () => {
  for (const fault of [
    fails({ kind: 'setup', code: 'unauthorized' }),
    fails({ kind: 'refused', code: 'bad_request' }),
    fails({ kind: 'world', code: 'quota' }),
    fails({ kind: 'aborted', code: 'aborted' }),
    after(modelLimits.retry_after.value + 1),
  ]) {
    const { outcome, slept, requests } = await play([fault])
    assert.deepEqual(
      { outcome, slept, requests },
      { outcome: { ok: false, fault }, slept: [], requests: 1 },
    )
  }
})

test('an abort while sleeping ends the request', async () => {
  for (const settle of [() => Promise.resolve(), () => Promise.reject(new Error('aborted'))]) {
    const abort = new AbortController()
    const model = scriptedModel(() => busy)
    const sleep = () => {
      abort.abort()
      return settle()
    }
    const patient = withRetry(model, { sleep, random: () => 0 })
    const { outcome } = await hear(patient, request, abort.signal)
    assert.equal(!outcome.ok && outcome.fault.kind, 'aborted')
    assert.equal(model.requests.length, 1)
  }
})

test('delays: full jitter under a doubling cap, or what the provider told', () => {
  const table: readonly (readonly [ModelFault, number, number, number | null])[] = [
    [busy, 1, 0, 0],
    [busy, 1, 0.999, 999],
    [busy, 2, 0.5, 1_000],
    [busy, 3, 0.5, 2_000],
    [busy, 30, 0.5, 10_000],
    [after(0), 1, 0, 0],
    [after(7_000), 1, 0, 7_000],
    [after(7_000), 4, 0.5, 7_125],
    [after(modelLimits.retry_after.value), 1, 0, modelLimits.retry_after.value],
    [after(modelLimits.retry_after.value + 1), 1, 0, null],
    [fails({ kind: 'world', code: 'quota' }), 1, 0, null],
  ]
  const delays = table.map(([fault, attempt, random]) => delayMs(fault, attempt, random))
  assert.deepEqual(
    delays,
    table.map(([, , , expected]) => expected),
  )
})

test('who is asked next, in order of precedence', () => {
  const world = busy
  const later = after(90_000)
  const setup = fails({ kind: 'setup', code: 'no_key' })
  const refused = fails({ kind: 'refused', code: 'bad_request' })
  const aborted = fails({ kind: 'aborted', code: 'aborted' })
  const both = ['a', 'b']
  const hold = (fault: ModelFault) => ({
    next: 'hold',
    retry_after_ms: fault.retry_after_ms,
    fault,
  })
  const table: readonly (readonly [string, readonly string[], readonly ModelFault[], object])[] = [
    ['an abort is final', both, [world, aborted], { next: 'abort', fault: aborted }],
    ['a refusal by the first is final', both, [refused], { next: 'fail', fault: refused }],
    ['the world: the fallback', both, [world], { next: 'request', model: 'b' }],
    ['the setup: the fallback', both, [setup], { next: 'request', model: 'b' }],
    ['no fallback: hold', ['a'], [world], hold(world)],
    ['both the world: the sooner one', both, [world, later], hold(later)],
    ['the world, then the setup: hold', both, [world, setup], hold(world)],
    ['the setup, then the world: hold', both, [setup, later], hold(later)],
    ['the world, then a refusal: the first may answer later', both, [world, refused], hold(world)],
    ['the setup, then a refusal: fail', both, [setup, refused], { next: 'fail', fault: refused }],
    ['only the setup', both, [setup, setup], { next: 'hold_for_setup', fault: setup }],
  ]
  for (const [name, models, faults, expected] of table) {
    const tried = faults.map((fault, at) => ({ model: both[at] ?? '', fault }))
    assert.deepEqual(nextModel(models, tried), expected, name)
  }
  assert.throws(() => nextModel(both, []), /Nothing was tried/)
})

test('a request that takes too long is tried once more, and then held for its setting', async () => {
  const slow = fails({
    kind: 'world',
    code: 'too_slow',
    retryable: true,
    message: 'acme did not end its answer within 60 minutes.',
  })
  const { outcome, requests } = await play([slow, slow])
  assert.equal(requests, 2)
  assert.ok(!outcome.ok)
  const { kind, code, retryable, message } = outcome.fault
  assert.deepEqual([kind, code, retryable], ['setup', 'too_slow', false])
  const remedy = 'raise models["scripted/model"].request_minutes, or choose another model.'
  assert.equal(message, `acme did not end its answer within 60 minutes, twice: ${remedy}`)
})
