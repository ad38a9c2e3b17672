/**
 * Images that a person sends with words: what reaches the model and for how long, what stands for
 * them where they do not, what is refused, and that the bytes stay as long as the message.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Image } from '../src/domain/image.ts'
import { limits } from '../src/domain/limits.ts'
import { hour } from '../src/domain/time.ts'
import type { ModelRequest } from '../src/models/model.ts'
import { replayTurn } from '../src/runtime/replay/replay.ts'
import { requestTextOf, sentReadsOf } from '../src/runtime/replay/sent-text.ts'
import { gifOf, pngOf } from '../src/testing/images.ts'
import {
  calls,
  fails,
  says,
  scriptedModel,
  type Script,
  type Scripted,
} from '../src/testing/scripted-model.ts'
import { call } from './support/scripts.ts'
import { requestSnapshot } from './support/request-text.ts'
import { openStage, resultsOf, textOf, type StageOptions } from './support/stage.ts'

const given = (...images: readonly Uint8Array[]) =>
  images.map((bytes) => ({ base64: Buffer.from(bytes).toString('base64') }))

/** The images of the user's messages of a request, in order. */
const sentIn = (request: ModelRequest | undefined): Image[] =>
  (request?.messages ?? []).flatMap((message) =>
    message.role === 'user' ? (message.images ?? []).map(({ image }) => image) : [],
  )
const sidesOf = (request: ModelRequest | undefined) => sentIn(request).map(({ width }) => width)
/** Which of the messages of a request have images. */
const placesOf = (request: ModelRequest | undefined) =>
  (request?.messages ?? []).flatMap((one, at) => (one.role === 'user' && one.images ? [at] : []))

async function stageWith(
  t: Parameters<typeof openStage>[0],
  script: Script,
  more: Partial<StageOptions> = {},
) {
  const model = scriptedModel(script)
  const stage = await openStage(t, { model, vision: true, ...more })
  return { stage, model }
}

const steps =
  (...all: readonly Scripted[]): Script =>
  (_, n) =>
    all[n - 1] ?? says('That is all.')

test('an image stands with the message it came with, in every request of that turn', async (t) => {
  const { stage, model } = await stageWith(t, steps(calls(call('ListTasks'))))
  await stage.say('Which is larger?', { images: given(pngOf(800, 600), gifOf(50, 40)) })
  assert.deepEqual(model.requests.map(sidesOf), [
    [800, 50],
    [800, 50],
  ])
  assert.deepEqual(model.requests.map(placesOf), [[0], [0]])
  const [message] = await stage.rows('messages')
  assert.ok(message)
  const id = await stage.short(message.id)
  const text = textOf(model.requests[0])
  const file = `${stage.box.home}/outputs/${message.id}`
  assert.ok(text.includes(`With it: image 1, PNG, 800x600, file ${file}.1.png`), text)
  assert.ok(text.includes(`With it: image 2, GIF, 50x40, file ${file}.2.gif`), text)
  const labels = model.requests[0]?.messages.flatMap((one) =>
    one.role === 'user' ? (one.images ?? []).map(({ label }) => label) : [],
  )
  assert.deepEqual(labels, [`Image 1 of ${id}:`, `Image 2 of ${id}:`])
  for (const { sha256, bytes } of sentIn(model.requests[1])) {
    assert.equal(model.requests[1]?.images?.get(sha256)?.length, bytes)
  }
  // No row and no event has the bytes: the image is named.
  assert.doesNotMatch(JSON.stringify(await stage.events()), /iVBORw0KGgo|"0":137/)
  await stage.sound()
})

test('one that is said into a running turn stands with the note that brings it', async (t) => {
  const gate = Promise.withResolvers<void>()
  const script: Script = async (_, n) => {
    if (n > 1) return says('Seen.')
    await gate.promise
    return calls(call('ListTasks'))
  }
  const { stage, model } = await stageWith(t, script)
  await stage.act({ do: 'send', text: 'Begin.', images: given(pngOf(100, 100)) })
  while (model.requests.length < 1) await stage.clock.advance(0)
  const images = given(pngOf(300, 200))
  await stage.act({ do: 'send', text: 'Like this.', priority: 'interject', images })
  gate.resolve()
  await stage.rest()
  assert.deepEqual(model.requests.map(sidesOf), [[100], [100, 300]])
  const [, at = -1] = placesOf(model.requests[1])
  const note = model.requests[1]?.messages[at]
  assert.match(note?.role === 'user' ? note.content : '', /The operator wrote while you worked/)
  await stage.sound()
})

test('a model without vision is told in one sentence what came and is not seen', async (t) => {
  const { stage, model } = await stageWith(t, steps(), { vision: false })
  await stage.say('Look.', { images: given(pngOf(800, 600), pngOf(20, 20)) })
  const [message] = await stage.rows('messages')
  const id = await stage.short(message?.id ?? '')
  const sentence = `2 images were sent with ${id} and are not seen: this model takes no images.`
  assert.equal(textOf(model.requests[0]).split(sentence).length, 2)
  assert.deepEqual(model.requests.flatMap(sidesOf), [])
  assert.equal(model.requests[0]?.images, undefined)
  await stage.sound()
})

test('who sends an image is told when the model is not known to take any, and how to say it', async (t) => {
  const { stage } = await stageWith(t, steps(), { vision: false })
  const send = { do: 'send', text: 'Look.' } as const
  const one = await stage.act({ ...send, images: given(pngOf(800, 600)) })
  const two = await stage.act({ ...send, images: given(pngOf(800, 600), pngOf(20, 20)) })
  const none = await stage.act(send)
  const [agent] = await stage.rows('agents')
  const who = `${agent?.model}, the model of ${agent?.id}, is not known to take images`
  assert.deepEqual(
    [one, two, none].map(({ warnings }) => warnings),
    [
      [
        {
          kind: 'image_unseen',
          message:
            `the image is not seen: ${who}. The words are sent, and say that it came. ` +
            'Where it takes it, set models.<id>.vision in config.json.',
        },
      ],
      [
        {
          kind: 'image_unseen',
          message:
            `the images are not seen: ${who}. The words are sent, and say that they came. ` +
            'Where it takes them, set models.<id>.vision in config.json.',
        },
      ],
      [],
    ],
  )
})

test('nobody is warned of images that the model takes', async (t) => {
  const { stage } = await stageWith(t, steps())
  const reply = await stage.act({ do: 'send', text: 'Look.', images: given(pngOf(800, 600)) })
  assert.deepEqual(reply.warnings, [])
})

test('a provider that refuses the request is asked once more without, and the model is told', async (t) => {
  const refused = fails({ kind: 'refused', code: 'bad_request', message: 'no such image' })
  const { stage, model } = await stageWith(t, steps(refused))
  await stage.say('Look.', { images: given(pngOf(800, 600)) })
  assert.deepEqual(model.requests.map(sidesOf), [[800], []])
  const sentence = /An image was sent with \S+ and is not seen: the provider refused a request/
  assert.match(textOf(model.requests[1]), sentence)
  assert.deepEqual(
    (await stage.rows('turns')).map(({ outcome }) => outcome),
    ['completed'],
  )
})

test('a later turn is told that there was an image, and looks again at its file', async (t) => {
  const paths: string[] = []
  const { stage, model } = await stageWith(t, (_, n) =>
    n === 2 ? calls(call('ViewImage', { path: paths[0] ?? '' })) : says('Yes.'),
  )
  await stage.say('A sketch.', { images: given(pngOf(640, 480)) })
  const [message] = await stage.rows('messages')
  paths.push(`${stage.box.home}/outputs/${message?.id}.1.png`)
  await stage.say('Do you remember it?')
  assert.deepEqual(sidesOf(model.requests[1]), [])
  const mention = `[image 1, ViewImage shows it to you: PNG, 640x480, file ${paths[0]}]`
  assert.ok(textOf(model.requests[1]).includes(mention), textOf(model.requests[1]))
  const [result] = resultsOf(model.requests.at(-1))
  assert.match(result?.text ?? '', /^ViewImage: image .*, PNG, 640x480/)
  await stage.sound()
})

test('a recap takes it out of the request, and says so where the message stands', async (t) => {
  const script: Script = (request) => {
    if (textOf(request).includes('# Earlier rounds')) return says('That is all.')
    return calls(call('ReadFile', { path: 'long.txt' }))
  }
  const { stage, model } = await stageWith(t, script, { context_window: 32_000 })
  const text = 'a line of text, forty characters long...\n'.repeat(300)
  writeFileSync(join(stage.box.workspace, 'long.txt'), text)
  await stage.say('Look at it, then read.', { images: given(pngOf(101, 101)) })
  const at = (await stage.rows('rounds')).findIndex(({ recapped }) => recapped !== undefined)
  assert.ok(at > 0, 'it was compacted')
  assert.deepEqual([sidesOf(model.requests[at - 1]), sidesOf(model.requests[at])], [[101], []])
  const sentence = /An image was sent with \S+ and is not shown any more; ViewImage the file/
  assert.match(textOf(model.requests[at]), sentence)
  assert.doesNotMatch(textOf(model.requests[at - 1]), sentence)
  await stage.sound()
})

test('what it costs counts in the size of the request', async (t) => {
  const sizes: number[] = []
  for (const side of [20, 1_500]) {
    const { stage } = await stageWith(t, steps())
    await stage.say('Look.', { images: given(pngOf(side, side)) })
    sizes.push((await stage.rows('rounds'))[0]?.sent?.estimated ?? 0)
  }
  const [small = 0, large = 0] = sizes
  assert.ok(Math.abs(large - small - (3_000 - limits.image_tokens_least.value)) < 20, `${sizes}`)
})

test('a turn that another process goes on with sends the same images', async (t) => {
  const { stage, model } = await stageWith(t, steps('hang'))
  await stage.act({ do: 'send', text: 'Look.', images: given(pngOf(800, 600)) })
  while (model.requests.length < 1) await stage.clock.advance(0)
  await stage.box.close()
  const again = scriptedModel(() => says('Seen.'))
  const { home, workspace } = stage.box
  const next = await openStage(t, { model: again, vision: true, home, workspace })
  await next.rest()
  // Behind it a note says that it was interrupted.
  assert.deepEqual(again.requests[0]?.messages.slice(0, 1), model.requests[0]?.messages)
  assert.deepEqual(again.requests[0]?.images, model.requests[0]?.images)
  await next.sound()
})

test('a turn with such images is replayed as it was, and its text says where they stood', async (t) => {
  const { stage } = await stageWith(t, steps(calls(call('ListTasks'))))
  await stage.say('Look.', { images: given(pngOf(800, 600)) })
  const { ledger, home } = stage.box
  const [turn] = await stage.rows('turns')
  assert.ok(turn)
  const end = await replayTurn(ledger, home, turn)
  assert.ok(end.ok)
  assert.deepEqual([end.requests, end.divergence], [2, null])
  const sent = await requestTextOf(sentReadsOf(ledger), home, turn.id, 1)
  const opening = sent?.find(({ part }) => part === 'opening')?.text ?? ''
  assert.match(opening, /Image 1 of msg_\w+:\n\[the image, if the model takes images\]$/)
})

const heavy = (bytes: number): Uint8Array => {
  const image = new Uint8Array(bytes)
  image.set(pngOf(8, 8))
  return image
}

test('what cannot be taken refuses the message whole, and nothing is kept of it', async (t) => {
  const { stage, model } = await stageWith(t, steps())
  const { image_bytes, message_images, message_images_bytes: all } = limits
  const half = heavy(all.value / 2)
  for (const [images, code, says_] of [
    [given(Buffer.from('%PDF-1.7')), 'image_unknown', 'The image is no PNG, JPEG, GIF or WebP'],
    [given(pngOf(1, 1), Buffer.from('<svg/>')), 'image_unknown', 'Image 2 is no PNG'],
    [[{ base64: 'no base64!' }], 'image_unreadable', 'The image is not in base64.'],
    [given(pngOf(8_001, 10)), 'image_size', 'The image is larger than 8000 pixels on a side.'],
    [given(pngOf(0, 10)), 'image_size', 'The image has no pixels.'],
    [given(heavy(image_bytes.value + 1)), 'over_limit', 'image_bytes is 3932161 bytes'],
    [given(half, half, pngOf(1, 1)), 'over_limit', 'message_images_bytes is'],
    [
      given(...Array.from({ length: message_images.value + 1 }, () => pngOf(1, 1))),
      'over_limit',
      'message_images is 11 images',
    ],
  ] as const) {
    const reply = await stage.try({ do: 'send', text: 'Look.', images: [...images] })
    assert.ok(!reply.ok)
    assert.equal(reply.code, code)
    assert.ok(reply.message.startsWith(says_), reply.message)
  }
  assert.deepEqual(await stage.rows('messages'), [])
  assert.equal(existsSync(join(stage.box.home, 'outputs')), false)
  await stage.say('Look.', { images: given(half, half) })
  assert.equal(sentIn(model.requests[0]).length, 2)
  await stage.sound()
})

test('what comes by a trigger is words, whatever it calls an image', async (t) => {
  const { stage } = await stageWith(t, steps())
  const body = JSON.stringify({ text: 'Look.', images: given(pngOf(8, 8)) })
  await stage.act({ do: 'trigger', source: 'ci', body })
  await stage.rest()
  const [message] = await stage.rows('messages')
  assert.deepEqual([message?.body, message?.images], [body, undefined])
})

test('bytes stay as long as the message, as a blob and as a file, and go with it', async (t) => {
  const { stage, model } = await stageWith(t, steps())
  await stage.say('Look.', { images: given(pngOf(800, 600), pngOf(700, 500)) })
  await stage.pass(hour)
  const hashes = sentIn(model.requests[0]).map(({ sha256 }) => sha256)
  const { ledger, home } = stage.box
  const files = () => readdirSync(join(home, 'outputs'))
  const kept = async () =>
    Promise.all(hashes.map(async (sha256) => (await ledger.blob(sha256)) !== null))
  await ledger.retain({ before: '2000-01-01T00:00:00.000Z', dry_run: false })
  assert.deepEqual([await kept(), files().length], [[true, true], 2])
  await stage.say('Thank you.')
  await ledger.retain({ before: '2099-01-01T00:00:00.000Z', dry_run: false })
  assert.deepEqual([await kept(), files()], [[false, false], []])
  assert.deepEqual((await ledger.verify()).problems, [])
})

test('a damaged home is told which image of which message it lost', async (t) => {
  const { stage, model } = await stageWith(t, steps())
  await stage.say('Look.', { images: given(pngOf(800, 600)) })
  const [image] = sentIn(model.requests[0])
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(join(stage.box.home, 'ledger', 'ledger.sqlite'))
  database.prepare('delete from blobs where sha256 = ?').run(image?.sha256 ?? '')
  database.close()
  const { problems } = await stage.box.ledger.verify()
  assert.equal(problems.length, 1)
  assert.match(problems[0] ?? '', /^messages msg_\S+: its blob [0-9a-f]{64} is missing$/)
})

test('a model with vision after one without is told that it sees what that one could not', async (t) => {
  const blind = await stageWith(t, () => says('I cannot see it.'), { vision: false })
  await blind.stage.say('Look.', { images: given(pngOf(800, 600)) })
  await blind.stage.say('Now?')
  assert.match(textOf(blind.model.requests[1]), /^\[image 1, not shown here: PNG, 800x600, file /m)
  await blind.stage.box.close()
  const model = scriptedModel(() => says('I look.'))
  const { home, workspace } = blind.stage.box
  const next = await openStage(t, { model, vision: true, home, workspace })
  await next.say('I changed the model. And now?')
  const request = model.requests.at(-1)
  assert.match(textOf(request), /^\[image 1, ViewImage shows it to you: PNG, 800x600, file /m)
  requestSnapshot(t, request, home, workspace)
  await next.sound()
})
