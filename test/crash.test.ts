/**
 * Killed at every point: the two-jobs scenario dies before and after each commit, blob and effect,
 * in process, and is opened again; the end state is that of the undisturbed run. Nothing here knows
 * what a point does: the seams count, and the test walks the count.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { violations } from '../src/domain/invariants.ts'
import { openBox, temporaryHome, type Box } from '../src/testing/box.ts'
import { endState, type EndState } from '../src/testing/end-state.ts'
import { calls, scriptedModel } from '../src/testing/scripted-model.ts'
import { letsGo, logLines, twoJobs, twoJobsPolicy } from '../src/testing/two-jobs.ts'
import { Killer, pointsOf, type Point } from './support/killer.ts'

/** Answers from the text of the request alone. */
const model = (places: Places) =>
  scriptedModel((request) => {
    const text = request.messages
      .flatMap((message) => {
        switch (message.role) {
          case 'user':
            return [message.content]
          case 'assistant':
            return message.parts.map((part) => (part.type === 'text' ? part.text : ''))
          case 'tool':
            return message.results.map((result) => result.text)
        }
      })
      .join('\n')
    const answer = twoJobsPolicy(text)
    if (letsGo(answer)) writeFileSync(join(places.workspace, 'go'), '')
    return calls(answer.text, ...answer.calls)
  })

type Places = { home: string; workspace: string }

const open = (t: TestContext, places: Places, killer: Killer) =>
  openBox(t, {
    models: { default: model(places) },
    ...places,
    fault: killer,
    effect_seam: killer,
    is_dead: () => killer.dead,
  })

/** Does the scenario on a home until the agent sleeps, or the killer strikes. */
async function run(box: Box, places: Places): Promise<void> {
  await box.host.ensureAgent({
    id: 'main',
    model: 'test/two-jobs',
    workspace: { mode: 'explicit_root', root: places.workspace },
  })
  const asked = await box.ledger.list('messages', { limit: 1 })
  if (asked.length === 0) {
    const sent = await box.host.act({ do: 'send', agent_id: 'main', text: twoJobs })
    assert.equal(sent.ok, true)
  }
  await box.host.open()
  await box.until((notice) => notice.kind === 'resting' && notice.next.do === 'sleep', 'the end')
}

/** Runs until killed; whatever the death throws is the expected thing. */
async function runKilled(t: TestContext, places: Places, killer: Killer): Promise<void> {
  try {
    const box = await open(t, places, killer)
    await run(box, places).catch((error: unknown) => {
      if (!killer.dead) throw error
    })
    await box.close().catch((error: unknown) => {
      if (!killer.dead) throw error
    })
  } catch (error) {
    if (!killer.dead) throw error
  }
}

async function undisturbed(t: TestContext) {
  const places = temporaryHome(t)
  const killer = new Killer(null)
  const box = await open(t, places, killer)
  await run(box, places)
  const end = await endState(box.ledger, places.workspace)
  await box.close()
  return { end, counts: killer.counts }
}

async function killedAt(t: TestContext, ...points: Point[]): Promise<EndState> {
  const places = temporaryHome(t)
  for (const point of points) await runKilled(t, places, new Killer(point))
  const box = await open(t, places, new Killer(null))
  await run(box, places)
  const end = await endState(box.ledger, places.workspace)
  const facts = box.host.facts('main')
  assert.ok(facts)
  assert.deepEqual(violations(facts, await box.ledger.events({ after: 0, limit: 10_000 })), [])
  await box.close()
  return end
}

/** What must be equal, whichever of the two jobs came first. */
const comparable = ({ log, results, waits, messages, ...rest }: EndState) => ({
  ...rest,
  log: log.toSorted(),
  results: results.toSorted(),
  waits: waits.map((wait) => JSON.stringify(wait)).toSorted(),
  messages: messages.map((message) => JSON.stringify(message)).toSorted(),
})

const options = { concurrency: 4, timeout: 600_000 }

test(
  '§6 a run killed at any commit, blob or effect ends as the undisturbed one',
  options,
  async (t) => {
    const { end, counts } = await undisturbed(t)
    assert.deepEqual(end.log.toSorted(), logLines.toSorted())
    assert.deepEqual(end.problems, [])
    assert.equal(end.results.length, 2)
    const points = pointsOf(counts)
    assert.ok(points.length > 60, `only ${points.length} points`)
    await Promise.all(
      points.map((point) =>
        t.test(`killed ${point.when} ${point.kind} ${point.n}`, async (t) => {
          assert.deepEqual(comparable(await killedAt(t, point)), comparable(end))
        }),
      ),
    )
  },
)

test('§6 a run killed again while it recovers ends as the undisturbed one', options, async (t) => {
  const { end, counts } = await undisturbed(t)
  const first: Point[] = [2, 4, 7, 10, 13, 15, 16, 18, 22, counts.commit].map((n) => ({
    kind: 'commit',
    n,
    when: n % 2 === 0 ? 'before' : 'after',
  }))
  const again: Point[] = [
    { kind: 'commit', n: 1, when: 'before' },
    { kind: 'commit', n: 1, when: 'after' },
    { kind: 'commit', n: 2, when: 'after' },
    { kind: 'effect', n: 1, when: 'before' },
    { kind: 'effect', n: 1, when: 'after' },
  ]
  await Promise.all(
    first.flatMap((one) =>
      again.map((two) => {
        const name = `killed ${one.when} commit ${one.n}, then ${two.when} ${two.kind} ${two.n}`
        return t.test(name, async (t) => {
          assert.deepEqual(comparable(await killedAt(t, one, two)), comparable(end))
        })
      }),
    ),
  )
})
