/**
 * What a power cut, or a restore, makes of commands: a run dies at each commit and effect, the
 * files of its tasks are gone with it, and the next owner opens what the ledger says. Nothing that
 * cannot be repeated begins a second time, what nobody can know is said to be unknown, and the rest
 * goes on.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { CheckGiven } from '../src/domain/checks/spec.ts'
import { isUnderWay } from '../src/domain/state/check.ts'
import { violations } from '../src/domain/invariants/of-an-agent.ts'
import { ANOTHER_PLACE } from '../src/domain/agents/task-end.ts'
import { isTerminal } from '../src/domain/state/task.ts'
import { restoreHome } from '../src/ledger/backup/restore.ts'
import { openBox, temporaryHome, type HostFixture } from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel, type ScriptedModel } from '../src/testing/scripted-model.ts'
import { Killer, pointsOf, type Point } from './support/killer.ts'
import { endProcesses } from './support/processes.ts'

type Places = { home: string; workspace: string }

const agent_id = 'main'
const checks: CheckGiven[] = [{ kind: 'command', name: 'good', cmd: 'echo check >> log' }]

/** The first life: a command and an edit in one round. */
const busy = () =>
  scriptedModel((_, n) =>
    n > 1
      ? says('Done.')
      : calls(
          { name: 'ExecCommand', input: { cmd: 'echo call >> log' } },
          { name: 'EditFile', input: { path: 'once.txt', new_text: 'once\n' } },
        ),
  )
const quiet = () => scriptedModel(() => says('Understood.'))

const open = (t: TestContext, places: Places, killer: Killer, model: ScriptedModel) =>
  openBox(t, { models: { default: model }, ...places, ...killer.seams })

/** All that the first life is asked; a later one is asked nothing. */
async function ask(box: HostFixture): Promise<void> {
  const made = await box.host.act({ do: 'create_item', agent_id, objective: 'Checked', checks })
  assert.ok(made.ok && made.id !== null)
  await box.host.act({ do: 'complete', agent_id, work_item_id: made.id, report: 'It is done.' })
  await box.host.act({ do: 'start_task', agent_id, cmd: 'echo started >> log' })
  await box.host.act({ do: 'send', agent_id, text: 'Do it.', surface: 'http_control' })
}

async function life(box: HostFixture, asked: boolean): Promise<void> {
  await box.makeAgent('test/one', agent_id)
  if (!asked) await ask(box)
  else {
    // An item that was not completed yet would keep the agent at work.
    for (const { id, state } of await box.ledger.list('work_items', { limit: 10 })) {
      if (state === 'open')
        await box.host.act({ do: 'complete', agent_id, work_item_id: id, report: 'It is done.' })
    }
  }
  await box.host.open()
  const isOver = () => {
    const facts = box.host.facts(agent_id)
    if (facts === null || box.host.next(agent_id)?.do !== 'sleep') return false
    const checked = [...facts.rows('work_items')].flatMap((item) => item.checks)
    const owed = checked.some((one) => isUnderWay(one))
    return !owed && [...facts.rows('tasks')].every(isTerminal)
  }
  await box.until((notice) => notice.kind === 'resting' && isOver(), 'the end')
}

async function killed(t: TestContext, places: Places, killer: Killer): Promise<void> {
  const unlessDead = (error: unknown) => {
    if (!killer.dead) throw error
  }
  try {
    const box = await open(t, places, killer, busy())
    await life(box, false).catch(unlessDead)
    await box.close().catch(unlessDead)
  } catch (error) {
    unlessDead(error)
  }
}

/** No process outlives a power cut; but for Linux one that is slow to end may write once more. */
async function losePower({ home }: Places): Promise<void> {
  await endProcesses(home)
  rmSync(join(home, 'tasks'), { recursive: true, force: true })
  mkdirSync(join(home, 'tasks'), { mode: 0o700 })
}

const linesIn = ({ workspace }: Places): string[] => {
  const log = join(workspace, 'log')
  return existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []
}

/** What is wrong with a home after the loss, as sentences. */
async function judge(box: HostFixture, places: Places): Promise<string[]> {
  const lines = linesIn(places)
  const count = (word: string) => lines.filter((line) => line === word).length
  const wrong = ['call', 'started'].flatMap((word) =>
    count(word) > 1 ? [`"${word}" ran ${count(word)} times`] : [],
  )
  for (const { label, status, reason } of await box.ledger.list('tasks', { limit: 100 })) {
    const word = /echo (\w+)/.exec(label)?.[1] ?? ''
    if (status === 'completed' && count(word) === 0) wrong.push(`${label} did not run: ${status}`)
    if (status !== 'completed' && status !== 'interrupted') wrong.push(`${label} is ${status}`)
    if (status === 'interrupted' && reason === null) wrong.push(`${label} does not say why`)
  }
  for (const { tool_name, result } of await box.ledger.list('calls', { limit: 100 })) {
    if (tool_name !== 'ExecCommand' || result === null) continue
    const kind = result.status === 'error' ? result.error.kind : result.status
    if (kind !== 'success' && kind !== 'outcome_unknown') wrong.push(`the call says ${kind}`)
    if (kind === 'success' && count('call') === 0) wrong.push('the call says that it ran')
  }
  const facts = box.host.facts(agent_id)
  assert.ok(facts)
  wrong.push(...violations(facts, await box.ledger.events({ after: 0, limit: 10_000 })))
  return [...wrong, ...(await box.ledger.verify()).problems]
}

test(
  'power lost at any commit or effect repeats no command, and what may have run is unknown',
  { concurrency: 4, timeout: 600_000 },
  async (t) => {
    const counting = new Killer(null)
    const calm = temporaryHome(t)
    await killed(t, calm, counting)
    assert.deepEqual(linesIn(calm).toSorted(), ['call', 'check', 'started'])
    const points = pointsOf({ ...counting.counts, blob: 0 })
    assert.ok(points.length > 30, `only ${points.length} points`)
    await Promise.all(
      points.map((point: Point) =>
        t.test(`${point.when} ${point.kind} ${point.n}`, async (t) => {
          const places = temporaryHome(t)
          await killed(t, places, new Killer(point))
          await losePower(places)
          const box = await open(t, places, new Killer(null), quiet())
          await life(box, true)
          assert.deepEqual(await judge(box, places), [])
          await box.close()
        }),
      ),
    )
  },
)

test('a command that ran after the backup was taken is not run by the restored home', async (t) => {
  const places = temporaryHome(t)
  const go = join(places.workspace, 'go')
  const wait = `until [ -e '${go}' ] || [ ! -d '${places.workspace}' ]; do sleep 0.02; done`
  const paying = scriptedModel((_, n) =>
    n > 1
      ? says('Paid.')
      : calls({ name: 'ExecCommand', input: { cmd: `${wait}; echo paid >> log` } }),
  )
  const box = await open(t, places, new Killer(null), paying)
  await box.makeAgent('test/one', agent_id)
  await box.host.act({ do: 'send', agent_id, text: 'Pay.', surface: 'http_control' })
  await box.host.open()
  await box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.events.some(({ event }) => event.type === 'call_started'),
  )
  const now = '2026-11-22T00:00:00.000Z'
  const to = join(places.workspace, '..', 'backups')
  const { path } = await box.ledger.backup({ to, now, with_secrets: false })
  writeFileSync(go, '')
  await box.until(
    (notice) =>
      notice.kind === 'committed' && notice.events.some(({ event }) => event.type === 'turn_ended'),
  )
  await box.close()
  assert.deepEqual(linesIn(places), ['paid'])
  const again = { home: join(places.workspace, '..', 'restored'), workspace: places.workspace }
  await restoreHome(path, again.home)
  const model = quiet()
  const restored = await open(t, again, new Killer(null), model)
  await life(restored, true)
  assert.deepEqual(linesIn(places), ['paid'])
  const [call] = await restored.ledger.list('calls', { limit: 1 })
  const [task] = await restored.ledger.list('tasks', { limit: 1 })
  assert.equal(call?.result?.status === 'error' && call.result.error.kind, 'outcome_unknown')
  assert.deepEqual([task?.status, task?.reason], ['interrupted', ANOTHER_PLACE])
  assert.match(JSON.stringify(model.requests), /outcome_unknown/)
  await restored.close()
})
