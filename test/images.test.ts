/**
 * Images that an agent looks at: what reaches the model and for how long, what a model without
 * vision gets, and that the bytes stay as long as the turn that names them.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { imageTokens, type Image } from '../src/domain/image.ts'
import { limits } from '../src/domain/limits.ts'
import { hour } from '../src/domain/time.ts'
import type { ModelRequest } from '../src/models/model.ts'
import { inlineBlobBytes } from '../src/ledger/blobs/blobs.ts'
import { replayTurn } from '../src/runtime/replay/replay.ts'
import { requestTextOf, sentReadsOf } from '../src/runtime/replay/sent-text.ts'
import { pngOf } from '../src/testing/images.ts'
import {
  calls,
  fails,
  says,
  scriptedModel,
  type Script,
  type Scripted,
} from '../src/testing/scripted-model.ts'
import { call } from './support/scripts.ts'
import { openStage, resultsOf, textOf, type Stage, type StageOptions } from './support/stage.ts'

const looks = (path: string) => call('ViewImage', { path })

/** The images of a request, in order. */
const imagesOf = (request: ModelRequest | undefined): Image[] =>
  (request?.messages ?? []).flatMap((message) =>
    message.role === 'tool' ? message.results.flatMap(({ image }) => image ?? []) : [],
  )

const sidesOf = (request: ModelRequest | undefined): number[] =>
  imagesOf(request).map(({ width }) => width)

async function stageWith(
  t: Parameters<typeof openStage>[0],
  script: Script,
  more: Partial<StageOptions> = {},
) {
  const model = scriptedModel(script)
  const stage = await openStage(t, { model, vision: true, ...more })
  const put = (name: string, bytes: Uint8Array | string) =>
    writeFileSync(join(stage.box.workspace, name), bytes)
  return { stage, model, put }
}

const steps =
  (...given: readonly Scripted[]): Script =>
  (_, n) =>
    given[n - 1] ?? says('That is all.')

/** As many bytes as make a blob a file. */
const large = (width: number): Uint8Array => {
  const bytes = new Uint8Array(inlineBlobBytes + 1)
  bytes.set(pngOf(width, width))
  return bytes
}

test('an image stays in every later request of its turn, and the ledger has its bytes', async (t) => {
  const script = steps(calls(looks('a.png'), looks('b.png')), calls(call('ListTasks')))
  const { stage, model, put } = await stageWith(t, script)
  put('a.png', pngOf(800, 600))
  put('b.png', large(500))
  await stage.say('Look at a.png and b.png.')
  assert.deepEqual(model.requests.map(sidesOf), [[], [800, 500], [800, 500]])
  for (const request of model.requests.slice(1)) {
    const bytes = imagesOf(request).map(({ sha256 }) => request.images?.get(sha256)?.length)
    assert.deepEqual(bytes, [pngOf(1, 1).length, large(1).length])
  }
  assert.equal(model.requests[0]?.images, undefined)
  for (const { sha256 } of imagesOf(model.requests[1])) {
    assert.ok((await stage.box.ledger.blob(sha256)) !== null)
  }
  // No row has the bytes: the image is named.
  assert.doesNotMatch(JSON.stringify(await stage.events()), /iVBORw0KGgo|"0":137/)
  await stage.say('And now?')
  assert.deepEqual(sidesOf(model.requests.at(-1)), [])
  await stage.sound()
})

test('a model without vision gets one sentence, and the same turn on one with vision the image', async (t) => {
  const { stage, model, put } = await stageWith(t, steps(calls(looks('a.png'))), { vision: false })
  put('a.png', pngOf(800, 600))
  await stage.say('Look at a.png.')
  const [result] = resultsOf(model.requests.at(-1))
  assert.match(
    result?.text ?? '',
    /^ViewImage: image ".*a\.png", PNG, 800x600, sha256 [0-9a-f]{8}…\n/,
  )
  const sentence = 'The image itself is not shown, because this model takes no images.'
  assert.deepEqual(result?.text.split('\n').slice(1), [sentence])
  assert.ok(model.requests.every((request) => request.images === undefined))
  assert.deepEqual(model.requests.flatMap(imagesOf), [])
  await stage.sound()
})

test('what an image costs counts in the size of the request', async (t) => {
  const { stage, put } = await stageWith(t, steps(calls(looks('a.png')), calls(looks('b.png'))))
  put('a.png', pngOf(20, 20))
  put('b.png', pngOf(1_500, 1_500))
  await stage.say('Look.')
  const sizes = (await stage.rows('rounds')).map(({ sent }) => sent?.estimated ?? 0)
  const grown = (at: number) => (sizes[at] ?? 0) - (sizes[at - 1] ?? 0)
  const [small, big] = [pngOf(20, 20), pngOf(1_500, 1_500)].map((_, at) => grown(at + 1))
  const differ = imageTokens({ media_type: 'image/png', width: 1_500, height: 1_500 })
  const more = (big ?? 0) - (small ?? 0) - differ + limits.image_tokens_least.value
  assert.ok(Math.abs(more) <= 3, `${more}`)
  await stage.sound()
})

test('a provider that refuses a request with images is asked once more without them', async (t) => {
  const refused = fails({ kind: 'refused', code: 'bad_request', message: 'no such image' })
  const script = steps(calls(looks('a.png')), refused, calls(looks('b.png')), says('I see none.'))
  const { stage, model, put } = await stageWith(t, script)
  put('a.png', pngOf(800, 600))
  put('b.png', pngOf(10, 10))
  await stage.say('Look at a.png.')
  assert.deepEqual(model.requests.map(sidesOf), [[], [800], [], []])
  const because = /not shown, because the provider refused a request with it\./
  for (const request of model.requests.slice(2)) {
    assert.ok(resultsOf(request).every(({ text }) => because.test(text)))
  }
  const turns = await stage.rows('turns')
  assert.deepEqual(
    turns.map(({ outcome, reason }) => [outcome, reason]),
    [['completed', null]],
  )
  await stage.sound()
})

test('a refused request without images fails as it did', async (t) => {
  const refused = fails({ kind: 'refused', code: 'bad_request' })
  const { stage, model } = await stageWith(t, steps(refused))
  await stage.say('Say something.')
  assert.equal(model.requests.length, 1)
  assert.deepEqual(
    (await stage.rows('turns')).map(({ outcome }) => outcome),
    ['failed'],
  )
})

test('a turn with images is replayed as it was', async (t) => {
  const script = steps(calls(looks('a.png')), calls(call('ListTasks')))
  const { stage, put } = await stageWith(t, script, { vision: false })
  put('a.png', pngOf(800, 600))
  await stage.say('Look at a.png.')
  const { ledger, home } = stage.box
  const [turn] = await stage.rows('turns')
  assert.ok(turn)
  const end = await replayTurn(ledger, home, turn)
  assert.ok(end.ok)
  assert.deepEqual([end.requests, end.divergence], [3, null])
  const sent = await requestTextOf(sentReadsOf(ledger), home, turn.id, 3)
  const looked = sent?.find(({ part }) => part === 'round 1')?.text ?? ''
  assert.match(looked, /ViewImage: image .*\n\[the image, if the model takes images\]$/)
})

/** Requests of a turn that reads until it is compacted, with an image in its first round. */
async function compacted(t: Parameters<typeof openStage>[0]) {
  const reads = calls(call('ReadFile', { path: 'long.txt' }))
  const script: Script = (request, n) => {
    if (n === 1) return calls(looks('first.png'))
    if (n === 2) return calls(looks('second.png'))
    if (textOf(request).includes('# Earlier rounds')) return says('That is all.')
    // An image with every text: the newest round has one that nobody saw when it is compacted.
    return calls(...reads.parts.map(() => call('ReadFile', { path: 'long.txt' })), looks('new.png'))
  }
  const staged = await stageWith(t, script, { context_window: 32_000 })
  staged.put('first.png', pngOf(101, 101))
  staged.put('second.png', pngOf(102, 102))
  staged.put('new.png', pngOf(103, 103))
  staged.put('long.txt', 'a line of text, forty characters long...\n'.repeat(300))
  await staged.stage.say('Look at it, then read.')
  return staged
}

test('a recap takes the images of older rounds out of the request, and says so', async (t) => {
  const { stage, model } = await compacted(t)
  const rounds = await stage.rows('rounds')
  const at = rounds.findIndex(({ recapped }) => recapped !== undefined)
  assert.ok(at > 2, 'it was compacted')
  const [before, after] = [model.requests[at - 1], model.requests[at]]
  assert.deepEqual(sidesOf(before).slice(0, 2), [101, 102])
  assert.deepEqual(sidesOf(after), [103])
  const text = textOf(after)
  for (const name of ['first.png', 'second.png']) {
    const line = new RegExp(`${name}.*(; ViewImage again to see it|\\n.*not shown any more)`)
    assert.match(text, line)
  }
  await stage.sound()
})

test('a turn that another process goes on with sends the same request', async (t) => {
  const script = steps(calls(looks('a.png')), 'hang')
  const { stage, model, put } = await stageWith(t, script)
  put('a.png', pngOf(800, 600))
  await stage.act({ do: 'send', text: 'Look at a.png.' })
  while (model.requests.length < 2) await stage.clock.advance(0)
  await stage.box.close()
  const again = scriptedModel(() => says('Seen.'))
  const { home, workspace } = stage.box
  const next = await openStage(t, { model: again, vision: true, home, workspace })
  await next.rest()
  // Behind them a note says that it was interrupted.
  const sent = model.requests[1]?.messages ?? []
  assert.deepEqual(again.requests[0]?.messages.slice(0, sent.length), sent)
  assert.deepEqual(again.requests[0]?.images, model.requests[1]?.images)
  await next.sound()
})

test('retention keeps an image while its turn is kept, and takes it with that', async (t) => {
  const { stage, model, put } = await stageWith(t, steps(calls(looks('a.png'), looks('b.png'))))
  put('a.png', pngOf(800, 600))
  put('b.png', pngOf(700, 500))
  await stage.say('Look.')
  await stage.pass(hour)
  const hashes = imagesOf(model.requests[1]).map(({ sha256 }) => sha256)
  const kept = async () =>
    Promise.all(hashes.map(async (sha256) => (await stage.box.ledger.blob(sha256)) !== null))
  await stage.box.ledger.retain({ before: '2000-01-01T00:00:00.000Z', dry_run: false })
  assert.deepEqual(await kept(), [true, true])
  await stage.sound()
  await stage.say('Thank you.')
  await stage.box.ledger.retain({ before: '2099-01-01T00:00:00.000Z', dry_run: false })
  assert.deepEqual(await kept(), [false, false])
  assert.deepEqual((await stage.box.ledger.verify()).problems, [])
})

test('a damaged home is told which image it lost', async (t) => {
  const { stage, put } = await stageWith(t, steps(calls(looks('a.png'))))
  put('a.png', pngOf(800, 600))
  await stage.say('Look.')
  const problems = await lost(stage)
  assert.deepEqual(problems.length, 1)
  assert.match(problems[0] ?? '', /^calls call_\S+: its blob [0-9a-f]{64} is missing$/)
})

/** What verify says when the image of the only call is not there. */
async function lost(stage: Stage): Promise<readonly string[]> {
  const { DatabaseSync } = await import('node:sqlite')
  const [look] = await stage.rows('calls')
  const sha256 = /"sha256":"([0-9a-f]{64})"/.exec(JSON.stringify(look?.result))?.[1] ?? ''
  const database = new DatabaseSync(join(stage.box.home, 'ledger', 'ledger.sqlite'))
  database.prepare('delete from blobs where sha256 = ?').run(sha256)
  database.close()
  return (await stage.box.ledger.verify()).problems
}
