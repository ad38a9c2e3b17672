/**
 * A home on a full disk (docs/spec/recovery.md#disk-full): no turn starts, nothing is accepted,
 * reads and running commands go on, and when there is room again everything goes on by itself,
 * nothing lost or done twice. The disk is full in the middle of a commit, of a blob, and of a
 * command's result.
 */
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { FileFault } from '../src/exec/files/file-fault.ts'
import { systemFiles } from '../src/exec/files/files.ts'
import { ProcessFault } from '../src/exec/commands/process-fault.ts'
import type { Files } from '../src/exec/ports.ts'
import { LedgerFault, type Ledger } from '../src/ledger/port.ts'
import { deliver } from '../src/testing/host/outside-events.ts'
import { calls, says, scriptedModel, type Script } from '../src/testing/scripted-model.ts'
import { virtualClock } from '../src/testing/virtual-clock.ts'
import { happens, openFamily, spawn, steps, tell } from './support/parent-and-child.ts'
import { report } from './support/scene.ts'
import { call, creates, picks, runs, until } from './support/scripts.ts'
import { agent, hour, minute, openStage, textOf, type Stage } from './support/stage.ts'

const second = 1_000

/** A disk that has room or has none, as the store and the files see it. */
class Disk {
  room = true
  /** How often somebody tried to write while there was none. */
  refused = 0

  readonly files: Files = {
    ...systemFiles(),
    write_atomic: async (path, ...how) => {
      this.#check(() => new FileFault('disk_full', path, 'the disk is full'))
      await systemFiles().write_atomic(path, ...how)
    },
  }

  readonly over = (ledger: Ledger): Ledger => ({
    ...ledger,
    commit: async (...changes) => {
      this.#check(() => new LedgerFault('disk_full', 'Committing: the disk is full', 'later'))
      return ledger.commit(...changes)
    },
  })

  #check(fault: () => Error): void {
    if (this.room) return
    this.refused += 1
    throw fault()
  }
}

async function onDisk(t: TestContext, script: Script) {
  const disk = new Disk()
  const model = scriptedModel(script)
  const { files, over } = disk
  const stage = await openStage(t, { model, files, over, waits_for_room: true })
  return { stage, disk, model }
}

const kindsOf = (stage: Stage) =>
  stage.box.notices.flatMap(({ kind }) => (kind.startsWith('degraded') ? [kind] : []))

const entered = (stage: Stage) =>
  stage.box.until(({ kind }) => kind === 'degraded_entered', 'degraded mode')

/** Room again, and time for the next look. */
async function recovers(stage: Stage, disk: Disk, ms = minute): Promise<void> {
  disk.room = true
  await stage.clock.advance(ms)
  await stage.box.until(({ kind }) => kind === 'degraded_left', 'the way back')
}

test('an act on a full disk is refused, reads go on, and it comes back', async (t) => {
  const { stage, disk } = await onDisk(t, () => says('Done.'))
  await stage.say('Before.')
  const { host, ledger } = stage.box
  disk.room = false
  const first = await stage.try({ do: 'send', text: 'Into a full disk.' })
  assert.deepEqual([first.ok, !first.ok && first.code], [false, 'degraded'])
  const tries = disk.refused
  const reply = await deliver(host, {
    agent_id: agent,
    via: { kind: 'webhook', webhook: 'ci' },
    sender_id: 'run-1',
    source: 'ci',
    resource: null,
    summary: null,
    body: '{}',
    content_type: null,
  })
  assert.deepEqual([reply.ok, !reply.ok && reply.code], [false, 'degraded'])
  assert.equal(disk.refused, tries, 'while it is so, nobody tries')
  const shortage = host.degraded()
  assert.equal(shortage?.code, 'disk_full')
  assert.equal(shortage?.retry_after_s, 5)
  assert.equal((await ledger.list('messages', { limit: 10 })).length, 1, 'reads go on')

  await recovers(stage, disk, 5 * second)
  assert.equal(host.degraded(), null)
  await stage.say('Is there room again?')
  assert.deepEqual(kindsOf(stage), ['degraded_entered', 'degraded_left'])
  assert.equal((await stage.rows('messages')).length, 2)
  await stage.sound()
})

test('the looks for room grow rarer, to one a minute', async (t) => {
  const { stage, disk } = await onDisk(t, () => says('Done.'))
  disk.room = false
  await stage.try({ do: 'send', text: 'x' })
  const from = disk.refused
  const looks: number[] = []
  for (let at = 0; at < 300; at += 5) {
    const before = disk.refused
    await stage.clock.advance(5 * second)
    if (disk.refused > before) looks.push(at + 5)
  }
  assert.deepEqual(looks, [5, 15, 35, 75, 135, 195, 255])
  assert.equal(disk.refused - from, looks.length)
  await recovers(stage, disk)
})

const points = [
  ['the commit of its answer', (stage: Stage) => stage.committed('request_sent')],
  ['the start of the turn', (stage: Stage) => stage.committed('message_admitted')],
] as const
for (const [what, reached] of points) {
  test(`a turn whose disk is full at ${what} goes on from its rows`, async (t) => {
    const { stage, disk, model } = await onDisk(t, (request) =>
      /file it/.test(textOf(request)) ? says('Filed.') : says('?'),
    )
    const there = reached(stage)
    const sent = stage.act({ do: 'send', text: 'Please file it.' })
    await there
    disk.room = false
    await sent
    await entered(stage)
    const asked = model.requests.length
    await stage.clock.advance(hour)
    assert.equal(model.requests.length, asked, 'no turn starts and no request is sent')
    await recovers(stage, disk)
    await stage.rest()
    const turns = await stage.rows('turns')
    assert.deepEqual(
      turns.filter(({ outcome }) => outcome === 'completed').map(({ outcome }) => outcome),
      ['completed'],
    )
    assert.deepEqual(
      (await stage.rows('messages')).map(({ status }) => status),
      ['consumed'],
    )
    await stage.sound()
  })
}

test('a command that ran into a full disk is joined, not run again', async (t) => {
  const answers = [
    () => creates('A'),
    (s: Stage) => picks(s.id('A')),
    () => calls(runs(`${until('go')}; echo ran >> log.txt`, { yield_ms: 60_000 })),
    (s: Stage) => calls(report('A'), call('CompleteWorkItem', { work_item_id: s.id('A') })),
  ]
  const { stage, disk } = await onDisk(t, (_, n) => answers[n - 1]?.(stage) ?? says('Nothing.'))
  const { workspace } = stage.box
  const running = stage.committed('task_queued')
  await stage.act({ do: 'send', text: 'Do A.' })
  await running
  disk.room = false
  writeFileSync(join(workspace, 'go'), '')
  await entered(stage)
  assert.ok(existsSync(join(workspace, 'log.txt')), 'the command went on')
  await recovers(stage, disk)
  await stage.rest()
  const { readFileSync } = await import('node:fs')
  assert.equal(readFileSync(join(workspace, 'log.txt'), 'utf8'), 'ran\n')
  assert.deepEqual(
    (await stage.rows('tasks')).map(({ status, exit_status }) => ({ status, exit_status })),
    [{ status: 'completed', exit_status: 0 }],
  )
  assert.equal((await stage.rows('work_items'))[0]?.state, 'completed')
  await stage.sound()
})

test('a background command that ends on a full disk has its result later', async (t) => {
  const { stage, disk, model } = await onDisk(t, () => says('Seen.'))
  const made = await stage.act({ do: 'start_task', cmd: `${until('go')}; echo over` })
  await stage.committed('task_started')
  disk.room = false
  writeFileSync(join(stage.box.workspace, 'go'), '')
  await entered(stage)
  assert.equal((await stage.rows('tasks'))[0]?.status, 'running')
  await recovers(stage, disk)
  await stage.box.until(
    (notice) =>
      notice.kind === 'committed' && notice.events.some(({ event }) => event.type === 'turn_ended'),
  )
  await stage.rest()
  const [task] = await stage.rows('tasks')
  assert.deepEqual([task?.id, task?.status, task?.exit_status], [made.id, 'completed', 0])
  assert.match(textOf(model.requests.at(-1)), /over/)
  await stage.sound()
})

test('a command that no descriptor was left for begins when there is one', async (t) => {
  const { stage, disk, model } = await onDisk(t, () => says('Seen.'))
  const { processes } = stage.box.ports
  const prepare = processes.prepare.bind(processes)
  let isShort = true
  Object.assign(processes, {
    prepare: async (spec: Parameters<typeof prepare>[0]) => {
      if (isShort) throw new ProcessFault('scarce', 'no descriptor is left', 'later')
      await prepare(spec)
    },
  })
  const made = await stage.act({ do: 'start_task', cmd: 'echo over' })
  await entered(stage)
  assert.equal(stage.box.host.degraded()?.code, 'scarce')
  assert.equal((await stage.rows('tasks'))[0]?.status, 'queued')
  isShort = false
  await recovers(stage, disk, 5 * second)
  await stage.committed('turn_ended')
  await stage.rest()
  const [task] = await stage.rows('tasks')
  assert.deepEqual([task?.id, task?.status, task?.exit_status], [made.id, 'completed', 0])
  assert.match(textOf(model.requests.at(-1)), /over/)
  await stage.sound()
})

test('a child that came to its end on a full disk tells its parent when there is room', async (t) => {
  const disk = new Disk()
  const clock = virtualClock()
  const over = (ledger: Ledger): Ledger => {
    const onDisk = disk.over(ledger)
    const commit: Ledger['commit'] = (...changes) => {
      const ends = changes.some(({ events }) =>
        events.some(({ event }) => event.type === 'delegation_ended'),
      )
      if (ends && disk.refused === 0) disk.room = false
      return onDisk.commit(...changes)
    }
    return { ...onDisk, commit }
  }
  const parent = steps(() => calls(spawn('Look around.')))
  const child = steps(() => says('There is nothing.'))
  const more = { clock, files: disk.files, over, waits_for_room: true }
  const box = await openFamily(t, { parent, child, ...more })
  await tell(box, 'Let somebody look around.')
  await box.until(({ kind }) => kind === 'degraded_entered', 'degraded mode')
  const [before] = await box.ledger.list('tasks', { limit: 5 })
  assert.equal(before?.status, 'running')

  disk.room = true
  await clock.advance(5 * second)
  await happens(box, 'main', 'task_ended')
  const [task] = await box.ledger.list('tasks', { limit: 5 })
  const made = await box.ledger.row('agents', 'main.1')
  assert.deepEqual([task?.status, made?.state], ['completed', 'deleted'])
  assert.deepEqual((await box.ledger.verify()).problems, [])
})

test('a slot that falls due on a full disk fires once when there is room', async (t) => {
  const { stage, disk } = await onDisk(t, () => says('Looked.'))
  const spec = { kind: 'cron', expression: '30 * * * *', time_zone: 'UTC' } as const
  await stage.act({ do: 'create_schedule', label: 'look', text: 'Look.', spec })
  disk.room = false
  await stage.clock.advance(31 * minute)
  await entered(stage)
  await stage.clock.advance(30 * minute)
  assert.deepEqual(await stage.rows('slots'), [])
  const fired = stage.committed('slot_settled')
  await recovers(stage, disk)
  await fired
  await stage.rest()
  assert.deepEqual(
    (await stage.rows('slots')).map(({ due_at, status }) => [due_at.slice(11, 16), status]),
    [['09:30', 'fired']],
  )
  await stage.sound()
})

test('a run that is not told to wait gives up and says why', async (t) => {
  const disk = new Disk()
  const { over } = disk
  const stage = await openStage(t, { model: scriptedModel(() => says('Done.')), over })
  disk.room = false
  await assert.rejects(stage.try({ do: 'send', text: 'x' }), { code: 'disk_full' })
  disk.room = true
})
