/**
 * Runbooks on the real host: a run to its report through every kind of step, and the same report
 * when the process dies after any commit.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { activeWaits } from '../src/domain/facts/facts.ts'
import type { FaultSeam } from '../src/ledger/store/open.ts'
import { runbookModel } from '../src/models/runbook/runbook-model.ts'
import { openBox, temporaryHome, type HostFixture } from '../src/testing/host/host-fixture.ts'
import { endState, type EndState } from '../src/testing/scenarios/end-state.ts'

const text = [
  '# Try every kind of step',
  '## Say something',
  '```sh',
  'echo said >> log.txt; echo hello',
  '```',
  '## Wait a moment',
  'wait: 20ms',
  '## Fail (optional)',
  '```sh',
  'echo failed >> log.txt; exit 4',
  '```',
  '## Want a file',
  '```sh',
  'cat wanted',
  '```',
  '## Ask',
  'ask: Shall it end?',
  '## End',
  '```sh',
  'echo ended >> log.txt',
  '```',
].join('\n')

type Places = { home: string; workspace: string }

/** Dies after the nth commit. */
class DiesAfter implements FaultSeam {
  readonly #n: number
  commits = 0
  dead = false

  constructor(n: number) {
    this.#n = n
  }

  before_commit(n: number): void {
    if (this.dead) throw new Error('already dead')
    this.commits = n
  }

  after_commit(n: number): void {
    if (n !== this.#n) return
    this.dead = true
    throw new Error(`died after commit ${n}`)
  }
}

/** Goes on until the report, doing what the run asks of its operator. */
async function run(box: HostFixture, { workspace }: Places): Promise<void> {
  const { host, ledger } = box
  await host.ensureAgent({
    id: 'main',
    model: 'runbook',
    workspace: { mode: 'explicit_root', root: workspace },
  })
  if ((await ledger.list('messages', { limit: 1 })).length === 0) {
    await host.act({ do: 'send', agent_id: 'main', text, surface: 'run_once' })
  }
  await host.open()
  for (;;) {
    const resting = await box.until(
      (notice) =>
        notice.kind === 'resting' &&
        (notice.next.do === 'sleep' || notice.next.do === 'wait') &&
        box.notices.lastIndexOf(notice) === box.notices.length - 1,
      'the run to rest',
    )
    const [item] = await ledger.list('work_items', { limit: 1 })
    if (item?.state === 'completed') return
    assert.equal(resting.kind, 'resting')
    if (item && item.blocked_by !== null) {
      writeFileSync(join(workspace, 'wanted'), 'here it is\n')
      await host.act({ do: 'unblock', agent_id: 'main', work_item_id: item.id })
      continue
    }
    const facts = host.facts('main')
    const wait = facts ? [...activeWaits(facts)].find((w) => w.wake === 'operator_input') : null
    if (wait) await host.act({ do: 'send', agent_id: 'main', text: 'yes', wait_id: wait.id })
    else await box.rests('main')
  }
}

const open = (t: TestContext, places: Places, seam: DiesAfter) =>
  openBox(t, {
    models: { runbook: runbookModel() },
    ...places,
    fault: seam,
    is_dead: () => seam.dead,
  })

async function whole(t: TestContext, places: Places): Promise<{ end: EndState; commits: number }> {
  const seam = new DiesAfter(0)
  const box = await open(t, places, seam)
  await run(box, places)
  const end = await endState(box.ledger, places.workspace)
  await box.close()
  return { end, commits: seam.commits }
}

/** Runs until the death; what dies with it is expected. */
async function dying(t: TestContext, places: Places, seam: DiesAfter): Promise<void> {
  const box = await open(t, places, seam)
  await run(box, places).catch((error: unknown) => {
    if (!seam.dead) throw error
  })
  await box.close().catch((error: unknown) => {
    if (!seam.dead) throw error
  })
}

const options = { concurrency: 4, timeout: 600_000 }

test('a runbook goes through every kind of step to its report', options, async (t) => {
  const { end, commits } = await whole(t, temporaryHome(t))
  assert.deepEqual(end.log, ['said', 'failed', 'ended'])
  assert.deepEqual(end.problems, [])
  assert.match(end.results[0] ?? '', /5 of 6 steps done/)
  assert.match(end.results[0] ?? '', /you answered "yes"/)
  assert.match(end.results[0] ?? '', /here it is/)
  await Promise.all(
    Array.from({ length: commits }, (_, i) => i + 1).map((n) =>
      t.test(`the report is the same when it dies after commit ${n}`, async (t) => {
        const places = temporaryHome(t)
        await dying(t, places, new DiesAfter(n))
        const after = await whole(t, places)
        assert.deepEqual(after.end.log, end.log)
        assert.deepEqual(after.end.results, end.results)
        assert.deepEqual(after.end.problems, [])
        assert.deepEqual(after.end.unanswered_calls, [])
      }),
    ),
  )
})
