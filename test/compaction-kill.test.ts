/**
 * Killed around a compaction. What was decided is in the ledger before it is sent, so the
 * request that goes out after a recovery is the one that went out before it, but for the note of
 * the interruption; and one that was not yet decided is decided then.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { ModelMessage } from '../src/ports/model-message.ts'
import type { ModelRequest } from '../src/models/model.ts'
import { openBox, temporaryHome } from '../src/testing/host/host-fixture.ts'
import { compactedReader, longFile, readsUntil, smallWindow } from './crash/compaction.ts'
import { Killer, type Point } from './support/killer.ts'

type Places = { home: string; workspace: string }

async function open(t: TestContext, places: Places, killer: Killer) {
  const model = compactedReader()
  const box = await openBox(t, {
    models: { default: model },
    ...places,
    context_window: smallWindow,
    ...killer.seams,
  })
  return { box, model }
}

/** Runs until killed, or to the end; the requests that were sent. */
async function lived(t: TestContext, places: Places, point: Point | null) {
  const killer = new Killer(point)
  const { box, model } = await open(t, places, killer)
  const { rounds, problems } = await readsUntil(box, killer)
  return { requests: [...model.requests], rounds, problems, counts: killer.counts }
}

/** Without the note that there was an interruption, which may stand behind others. */
function uninterrupted(message: ModelMessage): ModelMessage[] {
  if (message.role !== 'user') return [message]
  const [first, ...rest] = message.content.split(/(?:\n\n)?Runtime note: The runtime stopped/)
  if (rest.length === 0) return [message]
  return first === '' ? [] : [{ ...message, content: first ?? '' }]
}

/** What of a request must not change. */
const bytes = (request: ModelRequest | undefined): string => {
  assert.ok(request, 'nothing was sent')
  return JSON.stringify([request.system, request.messages.flatMap(uninterrupted)])
}

const isCompacted = ({ messages }: ModelRequest): boolean =>
  JSON.stringify(messages[0]).includes('recap of rounds 1 to')

function place(t: TestContext): Places {
  const places = temporaryHome(t)
  longFile(places.workspace)
  return places
}

/** The counts of the points around the first compaction, from a run that notes them. */
async function aroundCompaction(t: TestContext) {
  const { requests, counts, rounds, problems } = await lived(t, place(t), null)
  const at = requests.findIndex(isCompacted)
  assert.ok(at > 0 && requests.filter(isCompacted).length > at, 'it was compacted')
  assert.deepEqual(problems, [])
  return { at, requests, counts, rounds }
}

const options = { timeout: 300_000 }

test('a compacted request that was sent is sent again as it was', options, async (t) => {
  const { requests } = await aroundCompaction(t)
  for (const n of requests.keys()) {
    if (!isCompacted(requests[n] as ModelRequest)) continue
    const places = place(t)
    // Effects are: the request of each round, and the read behind it.
    const killed = await lived(t, places, { kind: 'effect', n: 2 * n + 1, when: 'after' })
    assert.equal(killed.requests.length, n + 1)
    const after = await lived(t, places, null)
    assert.equal(bytes(after.requests[0]), bytes(killed.requests.at(-1)), `request ${n + 1}`)
    assert.deepEqual(after.problems, [])
  }
})

test('killed before or after a compaction is recorded, it is made once', options, async (t) => {
  const whole = await aroundCompaction(t)
  const recapped = whole.rounds.map((round) => round.recapped ?? null)
  for (let n = 2; n <= whole.counts.commit; n += 1) {
    for (const when of ['before', 'after'] as const) {
      const places = place(t)
      await lived(t, places, { kind: 'commit', n, when })
      const after = await lived(t, places, null)
      assert.deepEqual(after.problems, [], `killed ${when} commit ${n}`)
      const found = after.rounds.map((round) => round.recapped ?? null)
      assert.deepEqual(found, recapped, `killed ${when} commit ${n}`)
    }
  }
})
