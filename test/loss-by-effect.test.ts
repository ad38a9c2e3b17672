/**
 * A power cut, and a backup that is brought back into another home, while a command of the agent
 * runs and a call of each effect class is at work: before its effect, and between the effect and
 * its outcome. What may be repeated is, and counts once; what may not is `outcome_unknown`; the
 * command that ran is not begun again, and the model is told of both.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { EffectClass } from '../src/domain/effect-class.ts'
import { violations } from '../src/domain/invariants/of-an-agent.ts'
import { openLedger } from '../src/ledger/store/open.ts'
import { restoreHome } from '../src/ledger/backup/restore.ts'
import { openBox, temporaryHome, type HostFixture } from '../src/testing/host/host-fixture.ts'
import { endCommand } from '../src/testing/end-command.ts'
import { calls, says, scriptedModel, type ScriptedCall } from '../src/testing/scripted-model.ts'
import { toolNamed } from '../src/tools/registry.ts'
import { call, runs } from './support/scripts.ts'
import { Killer } from './support/killer.ts'
import { endProcesses } from './support/processes.ts'

type Places = { home: string; workspace: string }
type Told = 'success' | 'outcome_unknown'
type Scene = {
  call: (task_id: string) => ScriptedCall
  /** What the call comes to, whether its effect had been carried out or not. */
  told: Told
  /** How often it took effect: at most once, and once where it is told to have. */
  times: (box: HostFixture, places: Places) => Promise<number>
}

const linesOf = ({ workspace }: Places, word: string): number => {
  const log = join(workspace, 'log')
  const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : []
  return lines.filter((line) => line === word).length
}

/** One of each class; a class without a scene does not compile. */
const scenes: Record<EffectClass, Scene> = {
  pure: {
    call: () => call('ReadFile', { path: 'read.txt' }),
    told: 'success',
    times: async (box) => (await callsOf(box, 'ReadFile')).length,
  },
  idempotent: {
    call: () => call('CreateWorkItem', { objective: 'Made once' }),
    told: 'success',
    times: async ({ ledger }) => (await ledger.list('work_items', { limit: 10 })).length,
  },
  content_checked: {
    call: () => call('EditFile', { path: 'read.txt', old_text: 'one', new_text: 'one one' }),
    told: 'success',
    times: async (_, { workspace }) =>
      readFileSync(join(workspace, 'read.txt'), 'utf8').split('one').length - 2,
  },
  keyed: {
    call: () => call('SpawnAgent', { initial_message: 'Look around.', model: 'test/child' }),
    told: 'success',
    times: async ({ ledger }) => (await ledger.list('delegations', { limit: 10 })).length,
  },
  reattachable: {
    call: () => runs('echo call >> log'),
    told: 'outcome_unknown',
    times: async (_, places) => linesOf(places, 'call'),
  },
  non_repeatable: {
    call: (task_id) => call('TaskInput', { task_id, text: 'given\n', wait_ms: 0 }),
    told: 'outcome_unknown',
    times: async (_, places) => linesOf(places, 'given'),
  },
}

const losses = ['power cut', 'backup restored'] as const
const moments = ['before', 'after'] as const
type Loss = (typeof losses)[number]
type Moment = (typeof moments)[number]

/** Dies at the effect of the one call of a tool, before it or after it. */
class Cut extends Killer {
  readonly tool: string
  readonly moment: Moment
  #passed = 0

  constructor(tool: string, moment: Moment) {
    super(null)
    this.tool = tool
    this.moment = moment
  }

  #strike(what: string, moment: Moment): void {
    if (this.dead || moment !== this.moment || !what.startsWith(`${this.tool} call_`)) return
    // The command that runs was the first of its tool.
    if (this.tool === 'ExecCommand' && this.#passed++ === 0) return
    this.dead = true
    throw new Error(`cut ${moment} ${what}`)
  }

  override before_effect(what = ''): void {
    this.#strike(what, 'before')
  }

  override after_effect(what = ''): void {
    this.#strike(what, 'after')
  }
}

const open = (
  t: TestContext,
  places: Places,
  killer: Killer,
  model: ReturnType<typeof scriptedModel>,
) => openBox(t, { models: { default: model }, ...places, ...killer.seams })

const callsOf = async ({ ledger }: HostFixture, tool: string) =>
  (await ledger.list('calls', { limit: 20 })).filter(({ tool_name }) => tool_name === tool)

/** A command that runs for good and hears what it is told; then the call. */
async function cutDown(t: TestContext, places: Places, scene: Scene, cut: Cut) {
  writeFileSync(join(places.workspace, 'read.txt'), 'one\n')
  let task_id = ''
  const model = scriptedModel(async (request, n) => {
    if (request.model === 'test/child') return says('There is nothing.')
    if (n === 1) {
      return calls(runs('echo run >> log; cat >> log', { accepts_input: true, yield_ms: 0 }))
    }
    const [task] = await box.ledger.list('tasks', { limit: 1 })
    task_id = task?.id ?? ''
    while (linesOf(places, 'run') === 0) await new Promise((again) => setImmediate(again))
    return calls(scene.call(task_id))
  })
  const box = await open(t, places, cut, model)
  await box.makeAgent('test/one')
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Do it.' })
  await box.host.open()
  await assert.rejects(
    box.until(() => false),
    /cut/,
  )
  const running = await box.ports.processes.observe(task_id)
  assert.ok(running.state === 'running')
  const { pid } = running
  t.after(() => endCommand(pid))
  if (scene.call('').name === 'TaskInput' && cut.moment === 'after') {
    while (linesOf(places, 'given') === 0) await new Promise((again) => setImmediate(again))
  }
  await box.close().catch((error: unknown) => {
    if (!cut.dead) throw error
  })
  return task_id
}

/** What is there afterwards: the same home without what was not on the disk, or another one. */
async function lose(loss: Loss, places: Places): Promise<Places> {
  const { home, workspace } = places
  switch (loss) {
    case 'power cut': {
      // All that runs of it at once: a runner would write its task's end once more.
      await endProcesses(join(workspace, '..'))
      rmSync(join(home, 'tasks'), { recursive: true, force: true })
      mkdirSync(join(home, 'tasks'), { mode: 0o700 })
      return places
    }
    case 'backup restored': {
      const ids = { clock_now: () => Date.now(), mint: (prefix: string) => `${prefix}_of_a_backup` }
      const ledger = await openLedger(home, ids)
      const to = join(workspace, '..', 'backups')
      const now = new Date().toISOString()
      const { path } = await ledger.backup({ to, now, with_secrets: false })
      await ledger.close()
      const restored = join(workspace, '..', 'restored')
      await restoreHome(path, restored)
      return { home: restored, workspace }
    }
  }
}

async function tried(t: TestContext, name: EffectClass, loss: Loss, moment: Moment) {
  const scene = scenes[name]
  const { name: tool } = scene.call('')
  assert.equal(toolNamed(tool)?.effect_class, name)
  const places = temporaryHome(t)
  const running = await cutDown(t, places, scene, new Cut(tool, moment))
  const after = await lose(loss, places)
  const model = scriptedModel(() => says('Understood.'))
  const box = await open(t, after, new Killer(null), model)
  await box.host.open()
  const isOver = () => {
    const rests = ['sleep', 'wait'].includes(box.host.next('main')?.do ?? '')
    return rests && (box.host.facts('main.1') === null || name !== 'keyed')
  }
  await box.until((notice) => notice.kind === 'resting' && isOver(), 'the end')

  const [result] = (await callsOf(box, tool)).filter(({ task_id }) => task_id !== running)
  const told =
    result?.result?.status === 'error' ? result.result.error.kind : result?.result?.status
  assert.equal(told, scene.told)
  const times = await scene.times(box, after)
  const isDone = scene.told === 'success' || moment === 'after'
  assert.equal(times, isDone ? 1 : 0)
  // The command that ran was not begun again, and nobody says how it ended.
  assert.equal(linesOf(after, 'run'), 1)
  const task = await box.ledger.row('tasks', running)
  assert.deepEqual([task?.status, task?.reason], ['interrupted', 'its runner folder is gone'])
  const said = JSON.stringify(model.requests)
  assert.match(said, /its runner folder is gone/)
  if (scene.told === 'outcome_unknown') assert.match(said, /outcome_unknown/)
  const facts = box.host.facts('main')
  assert.ok(facts)
  const events = await box.ledger.events({ after: 0, limit: 10_000 })
  const mine = events.filter(({ agent_id }) => agent_id === 'main')
  assert.deepEqual(violations(facts, mine), [])
  assert.deepEqual((await box.ledger.verify()).problems, [])
  await box.close()
}

test(
  'each effect class × power cut, restore × before and after the effect, under a running command',
  { concurrency: 3, timeout: 120_000 },
  async (t) => {
    const names = Object.keys(scenes) as EffectClass[]
    const rows = names.flatMap((name) =>
      losses.flatMap((loss) => moments.map((moment) => ({ name, loss, moment }))),
    )
    assert.equal(rows.length, 24)
    await Promise.all(
      rows.map(({ name, loss, moment }) =>
        t.test(`${name}, ${loss}, ${moment} it took effect`, (t) => tried(t, name, loss, moment)),
      ),
    )
  },
)
