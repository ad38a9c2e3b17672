/**
 * Each turn opens with where the agent works: the machine, and the repository as it is then. What
 * was said stays said, through recaps too, and a look that takes long is left out.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ModelRequest } from '../src/models/model.ts'
import { openBox, temporaryHome, type BoxOptions } from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { git, makeRepository } from './support/repository.ts'

const openingOf = (request: ModelRequest | undefined): string => {
  const [first] = request?.messages ?? []
  assert.equal(first?.role, 'user')
  return first.content
}
const placeIn = (request: ModelRequest | undefined): string | undefined =>
  /^# Where you work\n\n(.*)$/m.exec(openingOf(request))?.[1]

async function turns(t: Parameters<typeof openBox>[0], more: Partial<BoxOptions>, rounds: number) {
  const places = temporaryHome(t)
  makeRepository(places.workspace)
  writeFileSync(join(places.workspace, 'new'), 'new\n')
  const cmd = `echo x >>more-$RANDOM; head -c 12000 /dev/zero | tr '\\0' x`
  const model = scriptedModel((_, n) =>
    n < rounds ? calls({ name: 'ExecCommand', input: { cmd } }) : says('That is all.'),
  )
  const box = await openBox(t, { models: { default: model }, ...places, ...more })
  await box.makeAgent('test/scripted')
  await box.host.open()
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Go.' })
  await box.rests('main', () => model.requests.length >= rounds)
  return { box, model, places }
}

test('an opening names the machine, and branch, changes and last commit of the repository', async (t) => {
  // Under load a look may take longer than a turn would wait: here it may take its time.
  const { model, places } = await turns(t, { sees_place: 'patiently' }, 1)
  const place = placeIn(model.requests[0]) ?? ''
  const commit = git(places.workspace, 'log', '-1', '--format=%h')
  assert.match(place, /^(Linux|Darwin) \d.*, (bash|sh).*, git \d.*, node \d/)
  assert.match(place, /Git: branch "main", 1 path not committed, last commit /)
  assert.ok(place.includes(`${commit} "begin"`), place)
})

test('what was sent of the repository stands until a recap, which looks at it anew', async (t) => {
  const { model } = await turns(t, { sees_place: 'patiently', context_window: 24_000 }, 8)
  const recapped = model.requests.filter((one) => openingOf(one).includes('recapped'))
  assert.ok(recapped.length > 0, 'nothing was recapped')
  const [first] = recapped
  const before = model.requests.slice(
    0,
    model.requests.findIndex((one) => one === first),
  )
  const [said, ...others] = new Set(before.map(placeIn))
  assert.deepEqual(others, [])
  assert.match(said ?? '', / 1 path not committed/)
  const now = new Set(recapped.map(placeIn))
  assert.ok(!now.has(said), [...now].join('\n'))
  for (const one of now) assert.match(one ?? '', / \d+ paths not committed/)
})

test('a look that is late or finds nothing is left out of the opening', async (t) => {
  const inspect = {
    get: async () => ({ ok: false, why: 'no' }) as const,
    tree: async () => ({ hash: null, problem: 'no' }) as const,
    machine: async () => null,
    repository: async () => null,
  }
  const { model } = await turns(t, { inspect }, 1)
  assert.equal(placeIn(model.requests[0]), undefined)
})
