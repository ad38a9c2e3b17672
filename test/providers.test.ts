/**
 * What the provider does to a turn: it is held and goes on, falls back, is refused, asked again,
 * cut, or aborted; no message dies of it and no attempt is counted.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { calls, fails, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { call, completes, creates, inOrder, picks, runs, until } from './support/scripts.ts'
import { hour, minute, openStage, resultsOf, textOf, type Stage } from './support/stage.ts'

/** A fault that is not worth sending the same request again for: the agent is held at once. */
const down = fails({ kind: 'world', code: 'server_error', status: 500, retryable: false })
const unauthorized = fails({ kind: 'setup', code: 'unauthorized', status: 401 })
const refusal = fails({ kind: 'refused', code: 'bad_request', status: 400 })

const holdsOf = async (stage: Stage) =>
  (await stage.rows('waits')).filter((wait) => wait.wake === 'system')

const fates = async (stage: Stage) =>
  (await stage.rows('messages')).map(({ status, attempts }) => [status, attempts])

const endings = async (stage: Stage) =>
  (await stage.rows('turns')).map(({ state, outcome, reason }) => [state, outcome, reason])

const kindsOf = async (stage: Stage) => (await stage.briefs()).map(({ kind }) => kind)

/** The message as input of a turn; what was said lately quotes it all the same. */
const asInput = / operator_prompt>>\nBegin\./

test('an outage holds the agent 1, 5, 15, then 60 minutes, and the turn goes on', async (t) => {
  const times: number[] = []
  const model = scriptedModel((_, n) => {
    times.push(stage.now)
    if (n === 1) return calls(runs('echo kept'))
    return n <= 6 ? down : says('Back again.')
  })
  const stage: Stage = await openStage(t, { model })
  await stage.say('Begin.')
  const [turn] = await stage.rows('turns')
  for (const minutes of [1, 5, 15, 60, 60]) {
    const from = stage.now
    assert.deepEqual([stage.next.do === 'wait' && stage.next.for, turn?.state], ['system', 'open'])
    await stage.passOn()
    assert.equal(stage.now - from, minutes * minute)
  }

  assert.deepEqual(times.length, 7)
  assert.deepEqual(
    (await stage.rows('turns')).map(({ id }) => id),
    [turn?.id],
  )
  assert.deepEqual(await endings(stage), [['ended', 'completed', null]])
  assert.deepEqual(await fates(stage), [['consumed', 0]])
  assert.deepEqual(await kindsOf(stage), [...Array(5).fill('failure'), 'reply'])
  const holds = await holdsOf(stage)
  assert.deepEqual(
    holds.map(({ work_item_id, status, by }) => ({ work_item_id, status, by })),
    holds.map(() => ({ work_item_id: null, status: 'resolved', by: 'runtime' })),
  )
  const last = textOf(model.requests.at(-1))
  assert.match(last, /This turn was held for 1 h/)
  assert.equal(last.split('This turn was held').length, 2, 'one note, the newest')
  assert.match(last, /kept/)
  await stage.sound()
})

test('a request is given the minutes that are set for its model, and else none of its own', async (t) => {
  for (const request_minutes of [5, undefined]) {
    const model = scriptedModel(() => says('Done.'))
    const set = request_minutes === undefined ? {} : { request_minutes }
    const stage = await openStage(t, { model, ...set })
    await stage.say('Begin.')
    const given = request_minutes === undefined ? undefined : request_minutes * minute
    assert.deepEqual(
      model.requests.map((request) => request.time_limit_ms),
      [given],
    )
  }
})

test('a provider that served again begins with the shortest hold', async (t) => {
  const model = scriptedModel(inOrder(down, down, says('One.'), down, says('Two.')))
  const stage = await openStage(t, { model })
  await stage.say('Begin.')
  await stage.passOn()
  await stage.passOn()
  await stage.say('Again.')
  const from = stage.now
  await stage.passOn()
  assert.equal(stage.now - from, minute)
  assert.deepEqual(await fates(stage), [
    ['consumed', 0],
    ['consumed', 0],
  ])
  await stage.sound()
})

test('a retry-after is honoured, a short one in place and a long one as a hold', async (t) => {
  const busy = (ms: number) =>
    fails({ kind: 'world', code: 'rate_limited', status: 429, retry_after_ms: ms })
  const times: number[] = []
  const answers = [busy(30_000), busy(90 * minute), says('Served.')]
  const model = scriptedModel((_, n) => {
    times.push(stage.now)
    return answers[n - 1] ?? says('?')
  })
  const stage: Stage = await openStage(t, { model })
  const from = stage.now
  await stage.say('Begin.')
  assert.equal((await holdsOf(stage)).length, 1, 'the first was slept through')
  await stage.passOn()
  const [first = 0, second = 0, third = 0] = times
  assert.equal(first, from)
  assert.ok(second - first >= 30_000 && second - first < 30_250, `${second - first} ms`)
  assert.equal(third - second, 90 * minute)
  assert.deepEqual(await kindsOf(stage), ['failure', 'reply'])
  await stage.sound()
})

test('messages that come while the agent is held wait and are all served', async (t) => {
  const model = scriptedModel(inOrder(down, says('One.'), says('Two.')))
  const stage = await openStage(t, { model })
  await stage.say('First.')
  await stage.say('Second.')
  assert.equal(model.requests.length, 1)
  await stage.passOn()
  assert.deepEqual(await fates(stage), [
    ['consumed', 0],
    ['consumed', 0],
  ])
  assert.match(textOf(model.requests[1]), /First\./)
  assert.match(textOf(model.requests[2]), /Second\./)
  await stage.sound()
})

test('a refused key holds the agent until the operator starts it again', async (t) => {
  const model = scriptedModel(inOrder(unauthorized, says('Thank you.')))
  const stage = await openStage(t, { model })
  await stage.say('Begin.')
  assert.deepEqual(stage.next.do === 'wait' && [stage.next.for, stage.next.until], ['system', null])
  await stage.pass(48 * hour)
  assert.equal(model.requests.length, 1)
  assert.deepEqual(await kindsOf(stage), ['failure'])

  await stage.does({ do: 'start_agent' })
  assert.deepEqual(await kindsOf(stage), ['failure', 'reply'])
  assert.deepEqual(await endings(stage), [['ended', 'completed', null]])
  assert.deepEqual(await fates(stage), [['consumed', 0]])
  await stage.sound()
})

test('a model that cannot be opened holds the agent until the setting is changed', async (t) => {
  const model = scriptedModel(inOrder(says('Now it works.')))
  const models = { 'test/good': model }
  const stage = await openStage(t, { models, setting: { model: 'test/missing' } })
  await stage.say('Begin.')
  assert.deepEqual(stage.next.do === 'wait' && [stage.next.for, stage.next.until], ['system', null])
  assert.match((await stage.briefs())[0]?.text ?? '', /test\/missing/)
  const [turn] = await stage.rows('turns')

  await stage.box.host.ensureAgent({ id: 'main', model: 'test/good' })
  await stage.rest()
  assert.deepEqual(
    (await stage.rows('turns')).map(({ id }) => id),
    [turn?.id],
  )
  assert.deepEqual(await kindsOf(stage), ['failure', 'reply'])
  assert.deepEqual(await fates(stage), [['consumed', 0]])
  await stage.sound()
})

test('a refused request ends the turn failed, with one brief; what an answer saw stays used up', async (t) => {
  const model = scriptedModel(inOrder(calls(runs('echo one')), refusal, says('A new turn.')))
  const stage = await openStage(t, { model })
  await stage.say('Begin.')
  assert.deepEqual(await endings(stage), [['ended', 'failed', 'bad_request']])
  assert.deepEqual(await fates(stage), [['consumed', 0]])
  assert.deepEqual(await kindsOf(stage), ['failure'])
  assert.deepEqual(await holdsOf(stage), [])

  await stage.say('Again.')
  assert.deepEqual(await fates(stage), [
    ['consumed', 0],
    ['consumed', 0],
  ])
  assert.doesNotMatch(textOf(model.requests[2]), asInput, 'a failed message is not replayed')
  await stage.sound()
})

test('the fallback finishes the turn, and the next turn tries the first again', async (t) => {
  const provider_metadata = { first: { signature: 'only-mine' } }
  const thought = { type: 'reasoning', text: 'My own thought.', provider_metadata } as const
  const [part] = calls(runs('echo one')).parts
  const opening = {
    ...calls(),
    parts: [thought, ...(part ? [{ ...part, provider_metadata }] : [])],
  }
  const first = scriptedModel(inOrder(opening, down, says('First again.')))
  const second = scriptedModel(inOrder(calls(runs('echo two')), says('Finished by the second.')))
  const stage = await openStage(t, {
    models: { 'test/first': first, 'test/second': second },
    setting: { fallback_model: 'test/second' },
  })
  await stage.say('Begin.')
  assert.deepEqual([first.requests.length, second.requests.length], [2, 2])
  const handed = JSON.stringify(second.requests[0])
  assert.doesNotMatch(handed, /only-mine|My own thought/)
  assert.deepEqual(resultsOf(second.requests[0]).length, 1)
  assert.deepEqual(await holdsOf(stage), [])

  await stage.say('Again.')
  assert.deepEqual([first.requests.length, second.requests.length], [3, 2])
  assert.deepEqual(await stage.briefs(), [
    { kind: 'reply', text: 'Finished by the second.' },
    { kind: 'reply', text: 'First again.' },
  ])
  await stage.sound()
})

test('when both models are spent the agent is held once', async (t) => {
  const first = scriptedModel(inOrder(down, says('First is back.')))
  const second = scriptedModel(inOrder(down))
  const stage = await openStage(t, {
    models: { 'test/first': first, 'test/second': second },
    setting: { fallback_model: 'test/second' },
  })
  await stage.say('Begin.')
  assert.equal((await holdsOf(stage)).length, 1)
  await stage.passOn()
  assert.deepEqual(await kindsOf(stage), ['failure', 'reply'])
  assert.deepEqual(await fates(stage), [['consumed', 0]])
  await stage.sound()
})

for (const [what, models] of [
  ['missing', {}],
  ['without a key', { 'test/second': scriptedModel(inOrder(unauthorized)) }],
] as const) {
  test(`a fallback that is ${what} does not turn an outage into a standstill`, async (t) => {
    const busy = fails({ kind: 'world', code: 'rate_limited', retry_after_ms: 90 * minute })
    const first = scriptedModel(inOrder(busy, says('First is back.')))
    const stage = await openStage(t, {
      models: { ...models, 'test/first': first },
      setting: { fallback_model: 'test/second' },
    })
    await stage.say('Begin.')
    const from = stage.now
    await stage.passOn()
    assert.equal(stage.now - from, 90 * minute, 'held as long as the first model said')
    assert.deepEqual(await kindsOf(stage), ['failure', 'reply'])
    assert.deepEqual(await fates(stage), [['consumed', 0]])
    await stage.sound()
  })
}

test('a fallback that refuses is not the last word while the first is only down', async (t) => {
  const first = scriptedModel(inOrder(down, says('First is back.')))
  const second = scriptedModel(inOrder(refusal))
  const stage = await openStage(t, {
    models: { 'test/first': first, 'test/second': second },
    setting: { fallback_model: 'test/second' },
  })
  await stage.say('Begin.')
  assert.equal(stage.next.do, 'wait')
  await stage.passOn()
  assert.deepEqual(await kindsOf(stage), ['failure', 'reply'])
  assert.deepEqual(await fates(stage), [['consumed', 0]])
  await stage.sound()
})

test('an empty answer is asked again once', async (t) => {
  const model = scriptedModel(inOrder(says(''), says('Here.'), says(''), says('')))
  const stage = await openStage(t, { model })
  await stage.say('Begin.')
  assert.match(textOf(model.requests[1]), /Your last answer was empty/)
  await stage.say('Again.')
  assert.deepEqual(await endings(stage), [
    ['ended', 'completed', null],
    ['ended', 'completed', 'empty_answer'],
  ])
  assert.deepEqual(await stage.briefs(), [{ kind: 'reply', text: 'Here.' }])
  assert.equal((await stage.rows('turns'))[1]?.progress, false)
  await stage.sound()
})

test('an answer cut by length is continued once and delivered as one text', async (t) => {
  const cut = (text: string) => says(text, { finish: 'length' })
  const model = scriptedModel(
    inOrder(cut('The answer is forty'), says('-two.'), cut('Fif'), cut('tee')),
  )
  const stage = await openStage(t, { model })
  await stage.say('Begin.')
  assert.match(textOf(model.requests[1]), /cut off at the output limit/)
  await stage.say('Count.')
  assert.equal(model.requests.length, 4)
  assert.deepEqual(await endings(stage), [
    ['ended', 'completed', null],
    ['ended', 'completed', 'cut_by_length'],
  ])
  assert.deepEqual(await stage.briefs(), [
    { kind: 'reply', text: 'The answer is forty-two.' },
    { kind: 'reply', text: 'Fiftee' },
  ])
  await stage.sound()
})

test('an answer cut between two words keeps the space between them', async (t) => {
  const model = scriptedModel(inOrder(says('One, ', { finish: 'length' }), says('two.')))
  const stage = await openStage(t, { model })
  await stage.say('Count.')
  assert.deepEqual(await stage.briefs(), [{ kind: 'reply', text: 'One, two.' }])
})

test('ten rounds in a row that fail in every call end the turn', async (t) => {
  const model = scriptedModel(() => calls(call('LaunchRocket')))
  const stage = await openStage(t, { model })
  await stage.say('Begin.')
  assert.equal(model.requests.length, 10)
  assert.deepEqual(await endings(stage), [['ended', 'completed', 'errors']])
  assert.deepEqual(await fates(stage), [['consumed', 0]])
  await stage.sound()
})

test('one success among the failures begins the count of ten anew', async (t) => {
  const model = scriptedModel((_, n) =>
    n === 20 ? says('Enough.') : calls(call(n === 10 ? 'ListTasks' : 'LaunchRocket')),
  )
  const stage = await openStage(t, { model })
  await stage.say('Begin.')
  assert.equal(model.requests.length, 20)
  assert.deepEqual(await endings(stage), [['ended', 'completed', null]])
  await stage.sound()
})

test('a round too long for any request ends the turn; the item goes on in a new one', async (t) => {
  const long = runs('seq 10000 19000')
  const model = scriptedModel((_, n) => {
    if (n === 1) return creates('Read much')
    if (n === 2) return picks(stage.id('Read much'))
    const turns = new Set(stage.box.notices.flatMap(startedTurn))
    if (turns.size > 1) return completes(stage.id('Read much'), 'I read enough of it. Done.')
    assert.ok(n < 20, 'the turn never ended')
    return calls(long, long, long, long)
  })
  const stage: Stage = await openStage(t, { model, context_window: 30_000 })
  await stage.say('Read much.')
  assert.deepEqual(await endings(stage), [
    ['ended', 'completed', 'context_limit'],
    ['ended', 'completed', 'work_item_completed'],
  ])
  assert.deepEqual(await kindsOf(stage), ['result'])
  assert.deepEqual(await fates(stage), [['consumed', 0]])
  await stage.sound()
})

const startedTurn = (notice: Stage['box']['notices'][number]): string[] =>
  notice.kind === 'committed'
    ? notice.events.flatMap(({ event }) => (event.type === 'turn_started' ? [event.id] : []))
    : []

test('a model too small for any turn is told to the operator, not passed over', async (t) => {
  const model = scriptedModel(inOrder())
  const stage = await openStage(t, { model, context_window: 3_000 })
  await stage.say('Begin.')
  assert.deepEqual(await endings(stage), [['ended', 'failed', 'context_length']])
  assert.deepEqual(await fates(stage), [['failed', 0]])
  assert.deepEqual(await kindsOf(stage), ['failure'])
  await stage.sound()
})

test('an abort ends the open request, and its message is not replayed', async (t) => {
  const asked = Promise.withResolvers<void>()
  const model = scriptedModel((_, n) => {
    asked.resolve()
    return n === 1 ? 'hang' : says('New.')
  })
  const stage = await openStage(t, { model })
  await stage.act({ do: 'send', text: 'Begin.' })
  await asked.promise
  await stage.does({ do: 'stop_agent' })
  assert.equal(stage.next.do, 'stop')
  assert.deepEqual(await endings(stage), [['ended', 'aborted', 'operator_aborted']])
  assert.deepEqual(await fates(stage), [['aborted', 0]])

  await stage.does({ do: 'start_agent' })
  assert.equal(model.requests.length, 1)
  await stage.say('Anew.')
  assert.doesNotMatch(textOf(model.requests[1]), asInput)
  await stage.sound()
})

test('an abort stops a foreground command with proof and runs nothing after it', async (t) => {
  const model = scriptedModel(
    inOrder(
      calls(
        runs(`echo begun; touch running; ${until('never')}; touch finished`),
        runs('touch second'),
        call('CreateWorkItem', { objective: 'never' }),
      ),
    ),
  )
  const stage = await openStage(t, { model })
  const there = (name: string) => existsSync(join(stage.box.workspace, name))
  await stage.act({ do: 'send', text: 'Begin.' })
  while (!there('running')) await stage.clock.advance(0)
  await stage.does({ do: 'stop_agent' })

  const results = (await stage.rows('calls')).map(({ result }) => result)
  assert.deepEqual(
    results.map((result) => (result?.status === 'error' ? result.error.kind : result?.status)),
    ['aborted', 'not_executed', 'not_executed'],
  )
  assert.match(JSON.stringify(results[0]), /begun/)
  assert.deepEqual([there('finished'), there('second')], [false, false])
  assert.deepEqual(
    (await stage.rows('tasks')).map(({ status }) => status),
    ['cancelled'],
  )
  assert.deepEqual(await stage.rows('work_items'), [])
  assert.deepEqual(await endings(stage), [['ended', 'aborted', 'operator_aborted']])
  assert.deepEqual(await fates(stage), [['consumed', 0]])
  await stage.sound()
})

test('a stop aborts a turn that is held, and a start does not replay it', async (t) => {
  const model = scriptedModel(inOrder(unauthorized, says('Anew.')))
  const stage = await openStage(t, { model })
  await stage.say('Begin.')
  await stage.does({ do: 'stop_agent' })
  assert.deepEqual(await endings(stage), [['ended', 'aborted', 'operator_aborted']])
  assert.deepEqual(await fates(stage), [['aborted', 0]])

  await stage.does({ do: 'start_agent' })
  assert.equal(model.requests.length, 1)
  await stage.say('Again.')
  assert.doesNotMatch(textOf(model.requests[1]), asInput)
  await stage.sound()
})
