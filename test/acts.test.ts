/**
 * The operator's acts through the whole host (docs/spec/http.md#acts): carried out once under one
 * key, also when asked at once; agents made and deleted; commands of the operator's own; signs of
 * life.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { limits } from '../src/domain/limits.ts'
import type { Ledger } from '../src/ledger/port.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { virtualClock } from '../src/testing/virtual-clock.ts'
import { until, waitsFor } from './support/scripts.ts'
import { agent, minute, openStage, textOf } from './support/stage.ts'

const model = () => scriptedModel(() => says('Seen.'))
const key = (name: string) => ({ id: `rcpt_${name}`, request_sha256: `hash of ${name}` })

test('the same key again, also at once, gets the first answer and does nothing', async (t) => {
  const stage = await openStage(t, { model: model() })
  const item = { do: 'create_item', objective: 'A', plan: 'Plan.', receipt: key('a') } as const
  const replies = await Promise.all([stage.try(item), stage.try(item)])
  await stage.rest()
  replies.push(await stage.try(item))
  assert.ok(replies[0]?.ok)
  assert.deepEqual(replies, [replies[0], replies[0], replies[0]])
  assert.equal((await stage.rows('work_items')).length, 1)
  const other = await stage.try({ ...item, receipt: { ...item.receipt, request_sha256: 'other' } })
  assert.deepEqual([other.ok, !other.ok && other.code], [false, 'idempotency_mismatch'])

  await stage.clock.advance(24 * 60 * minute)
  const late = await stage.act(item)
  assert.notEqual(late.id, replies[0].id, 'after a day it is another request')
  await stage.rest()
  await stage.sound()
})

test('a repetition is answered by one look at its key, though the clock jumps after it', async (t) => {
  const clock = virtualClock()
  const looks: number[] = []
  const over = (ledger: Ledger): Ledger => ({
    ...ledger,
    async row(table, id) {
      const row = await ledger.row(table, id)
      // Between two looks the key would expire.
      if (table === 'receipts' && looks.push(clock.now()) === 3)
        clock.setWallClock(clock.now() + 60 * minute)
      return row
    },
  })
  const stage = await openStage(t, { model: model(), clock, over })
  const item = { do: 'create_item', objective: 'A', plan: 'Plan.', receipt: key('a') } as const
  const first = await stage.act(item)
  await stage.rest()
  await stage.clock.advance(23.5 * 60 * minute)
  looks.splice(0, looks.length, 0)
  assert.deepEqual(await stage.act(item), first)
  assert.equal((await stage.rows('work_items')).length, 1)
})

test('a refused act leaves no receipt, no item and no plan', async (t) => {
  const stage = await openStage(t, { model: model() })
  const receipt = key('empty')
  const folder = join(stage.box.home, 'agents', agent, 'work-items')
  // Bytes count, and one more than the limit is over it.
  const longest = 'é'.repeat(limits.plan.value / 2)
  for (const [code, given] of [
    ['objective_empty', { objective: ' ' }],
    ['objective_empty', { objective: ' ', plan: longest }],
    ['over_limit', { objective: 'A', plan: `${longest}x` }],
    ['over_limit', { objective: 'x'.repeat(limits.objective.value + 1) }],
  ] as const) {
    const refused = await stage.try({ do: 'create_item', ...given, receipt })
    assert.equal(refused.ok ? null : refused.code, code)
    assert.deepEqual(existsSync(folder) ? readdirSync(folder) : [], [])
  }
  const objective = 'x'.repeat(limits.objective.value)
  const made = await stage.act({ do: 'create_item', objective, plan: longest, receipt })
  assert.ok(made.id)
})

test('an agent that is made works at once; deleted, its run and commands end', async (t) => {
  const thinking = scriptedModel((request) =>
    /work long/.test(textOf(request)) ? 'hang' : says('Seen.'),
  )
  const stage = await openStage(t, { model: thinking })
  const { host } = stage.box
  const id = 'helper'
  const made = await host.act({ do: 'create_agent', agent_id: id, model: 'test/first' })
  assert.ok(made.ok)
  assert.equal((await stage.rows('triggers')).filter(({ agent_id }) => agent_id === id).length, 1)
  const asked = stage.committed('request_sent')
  assert.ok((await host.act({ do: 'send', agent_id: id, text: 'Please work long.' })).ok)
  await asked
  const started = stage.committed('task_started')
  const cmd = until('never')
  const workdir = stage.box.workspace
  assert.ok((await host.act({ do: 'start_task', agent_id: id, cmd, workdir })).ok)
  await started
  const deleted = await host.act({ do: 'delete_agent', agent_id: id })
  assert.ok(deleted.ok, JSON.stringify(deleted))
  const of = <R extends { agent_id: string }>(rows: R[]) =>
    rows.filter((row) => row.agent_id === id)
  assert.deepEqual(
    of(await stage.rows('turns')).map(({ state, outcome }) => [state, outcome]),
    [['ended', 'aborted']],
  )
  assert.deepEqual(
    of(await stage.rows('tasks')).map(({ status }) => status),
    ['cancelled'],
  )
  const again = await host.act({ do: 'create_agent', agent_id: id })
  assert.deepEqual([again.ok, !again.ok && again.code], [false, 'agent_exists'])
  const kept = await stage.try({ do: 'delete_agent' })
  assert.deepEqual([kept.ok, !kept.ok && kept.code], [false, 'agent_kept'])
  assert.equal(host.facts(agent)?.row('agents', agent)?.state, 'active')
})

test('a command of the operator runs beside the agent and its end is a message', async (t) => {
  const thinking = model()
  const stage = await openStage(t, { model: thinking, base_url: 'http://127.0.0.1:7777' })
  const made = await stage.act({ do: 'start_task', cmd: 'echo "at $PWD by $HOLON_TRIGGER_URL"' })
  await stage.committed('turn_ended')
  await stage.rest()
  const [task] = await stage.rows('tasks')
  assert.deepEqual([task?.id, task?.status, task?.exit_status], [made.id, 'completed', 0])
  const said = textOf(thinking.requests[0])
  assert.ok(said.includes(`at ${stage.box.workspace} by http://127.0.0.1:7777/callbacks/`), said)
  const text = await stage.box.host.taskOutput(task?.id ?? 'task_none', {
    stream: 'stdout',
    offset: 3,
    limit: 64,
  })
  assert.deepEqual(text && [text.text.startsWith(stage.box.workspace), text.ended], [true, true])
  await stage.sound()
})

test('a command whose folder is not there ends as one that could not start', async (t) => {
  const stage = await openStage(t, { model: model() })
  await stage.act({ do: 'start_task', cmd: 'true', workdir: 'not/there' })
  await stage.committed('turn_ended')
  const [task] = await stage.rows('tasks')
  assert.deepEqual([task?.status, task?.reason], ['failed', 'could not start: workdir'])
})

test('an open request and a running command say when they were last heard of', async (t) => {
  const thinking = scriptedModel((_, n) => (n === 1 ? says('One.') : 'hang'))
  const stage = await openStage(t, { model: thinking })
  const { host } = stage.box
  assert.deepEqual(host.liveSigns(agent), [])
  await stage.say('Say one thing.')
  assert.deepEqual(host.liveSigns(agent), [], 'an answered request gives no sign')

  const at = new Date(stage.now).toISOString()
  const sent = stage.committed('request_sent')
  await stage.act({ do: 'send', text: 'Hang.' })
  await sent
  const turn = (await stage.rows('turns')).at(-1)
  const gives_up_at = new Date(stage.now + 2 * minute).toISOString()
  assert.deepEqual(host.liveSigns(agent), [{ id: turn?.id, last_sign_of_life_at: at, gives_up_at }])

  const started = stage.committed('task_started')
  await stage.act({ do: 'start_task', cmd: `echo here; ${until('go')}` })
  await started
  const sign = () => host.liveSigns(agent).find(({ id }) => id.startsWith('task_'))
  assert.ok(sign()?.last_sign_of_life_at, 'a running command has begun at least')
  assert.equal(sign()?.gives_up_at, null)
  writeFileSync(join(stage.box.workspace, 'go'), '')
})

test('who follows the output of commands gets its pieces with their places', async (t) => {
  const stage = await openStage(t, { model: model() })
  const { host } = stage.box
  const pieces: string[] = []
  const second = Promise.withResolvers<void>()
  const stop = host.followOutput(({ stream, offset, text }) => {
    pieces.push(`${stream} ${offset} ${text}`)
    if (pieces.length === 2) second.resolve()
  })
  assert.equal(stage.clock.nextDue(), null, 'no command, no timer')
  const started = stage.committed('task_started')
  await stage.act({ do: 'start_task', cmd: `echo one; ${until('go')}; echo two` })
  await started
  while (pieces.length === 0) await stage.clock.advance(500)
  writeFileSync(join(stage.box.workspace, 'go'), '')
  await second.promise
  stop()
  assert.deepEqual(pieces, ['stdout 0 one\n', 'stdout 4 two\n'])
  assert.equal(stage.clock.nextDue(), null, 'nothing is looked for any more')
})

test('a polite end leaves what a kill leaves, and the next start goes on', async (t) => {
  const waits = scriptedModel((_, n) =>
    n === 1 ? calls(waitsFor('external', { source: 'ci' })) : says('I wait.'),
  )
  const stage = await openStage(t, { model: waits })
  const spec = { kind: 'cron', expression: '30 * * * *', time_zone: 'UTC' } as const
  await stage.act({ do: 'create_schedule', label: 'a', text: 'A.', spec })
  await stage.say('Wait for ci.')
  const seq = await stage.box.ledger.lastGlobalSeq()
  const before = stage.clock.nextDue()
  assert.ok(before !== null)
  await stage.box.host.close('safe_point')
  assert.equal(await stage.box.ledger.lastGlobalSeq(), seq, 'nothing is written for the end')
  assert.equal(stage.clock.nextDue(), null, 'nothing is left that could wake')
})
