/**
 * What a turn survives and how it closes: damaged plan files, a clock set back, words that come
 * while it works, calls after the closing one, and the report of a completion.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { limits } from '../src/domain/limits.ts'
import { calls, says } from '../src/testing/scripted-model.ts'
import {
  done,
  doneAnyway,
  errors,
  onA,
  report,
  scene,
  stateOf,
  statuses,
  todo,
  waiting,
} from './support/scene.ts'
import { call, creates, picks, runs, until, waitsFor } from './support/scripts.ts'
import { hour, minute, resultsOf, textOf } from './support/stage.ts'

/** What may befall a plan file while its item is worked on, and the problem it is read as. */
const damages: readonly [string, (path: string) => void][] = [
  ['missing', (path) => rmSync(path)],
  ['not_a_file', (path) => (rmSync(path), mkdirSync(path))],
  ['emptied', (path) => writeFileSync(path, '')],
  ['nul_filled', (path) => writeFileSync(path, Buffer.alloc(64))],
]

for (const [problem, damage] of damages) {
  test(`a plan file that is ${problem} is told, not repaired, and stops nothing`, async (t) => {
    const plan = '# Plan\nfirst this, then that\n'
    const path = () => s.item('A').plan_artifact.path
    const s = await scene(
      t,
      () => calls(call('CreateWorkItem', { objective: 'A', plan })),
      (s) => picks(s.id('A')),
      () => {
        damage(path())
        return calls(call('GetWorkItem', { work_item_id: s.id('A') }))
      },
      () => says('The plan is damaged.'),
      (s) => calls(call('GetWorkItem', { work_item_id: s.id('A') })),
      done('A'),
    )
    await s.say('Begin.')
    for (const request of [s.model.requests[3], s.model.requests[5]]) {
      const [result] = resultsOf(request)
      assert.equal(result?.is_error, false)
      assert.match(result?.text ?? '', /runnable/)
      // The second turn opened with it: the look at the item adds nothing.
      const told = request === s.model.requests[3] ? result?.text : textOf(request)
      assert.match(told ?? '', new RegExp(`code: ${problem}|plan problem \\(${problem}\\)`))
      const good = /[^\s"]*blobs[^\s"]*[^\s".]/.exec(told ?? '')?.[0] ?? 'none'
      assert.equal(existsSync(good) && readFileSync(good, 'utf8'), plan, `last good: ${good}`)
    }
    assert.match(textOf(s.model.requests[4]), /plan/i)
    assert.equal(await stateOf(s, 'A'), 'completed')
    await s.sound()
  })
}

test('times never decrease when the clock is set back', async (t) => {
  const s = await onA(
    t,
    () => {
      s.clock.setWallClock(Date.UTC(2020, 0, 1))
      return calls(call('UpdateWorkItem', { work_item_id: s.id('A'), todo_list: todo('x') }))
    },
    waiting('timer', { wait_ms: minute }),
    done('A'),
  )
  const begin = s.now
  await s.say('Begin.')
  const { created_at, wake_at } = await s.wait('A')
  assert.ok(Date.parse(created_at) >= begin, created_at)
  assert.equal(Date.parse(wake_at ?? '') - Date.parse(created_at), minute)
  assert.equal(s.next.do, 'wait')
  // Set right again, the timer is found overdue at the next look, within a minute.
  s.clock.setWallClock(begin + hour)
  const from = s.box.notices.length
  await s.clock.advance(minute)
  await s.rest(from)
  assert.equal(await stateOf(s, 'A'), 'completed')
  await s.sound()
})

test('an interjected word moves a long foreground command to the background', async (t) => {
  const s = await onA(
    t,
    () => calls(runs(`touch running; ${until('go')}`, { yield_ms: 10 * minute })),
    () => says('I read you.'),
    doneAnyway('A'),
  )
  await s.act({ do: 'send', text: 'Begin.' })
  while (!existsSync(join(s.box.workspace, 'running'))) await s.clock.advance(0)
  const before = s.now
  await s.act({ do: 'send', text: 'One more thing.', priority: 'interject' })
  const ends = s.committed('turn_ended')
  await s.clock.advance(limits.interject_grace.value)
  await ends
  assert.equal(s.now, before + limits.interject_grace.value)
  const [result] = resultsOf(s.model.requests[3])
  assert.match(result?.text ?? '', /task_handle|background/)
  const last = s.model.requests[3]?.messages.at(-1)
  assert.ok(last?.role === 'user' && last.content.includes('One more thing.'), 'after the results')
  await s.rest()
  assert.deepEqual(await statuses(s), ['consumed', 'interjected'])
  const ended = s.committed('task_ended')
  writeFileSync(join(s.box.workspace, 'go'), '')
  await ended
  await s.rest()
  await s.sound()
})

test('an interjected word keeps a turn from ending in plain text', async (t) => {
  const s = await scene(
    t,
    () => async () => {
      await s.act({ do: 'send', text: 'And this.', priority: 'interject' })
      return says('I am done.')
    },
    () => says('That too.'),
  )
  await s.say('Begin.')
  assert.equal((await s.rows('turns')).length, 1)
  assert.match(textOf(s.model.requests[1]), /And this\./)
  assert.deepEqual(await statuses(s), ['consumed', 'interjected'])
  await s.sound()
})

test('calls after a closing call get not_executed, completions excepted', async (t) => {
  const s = await scene(
    t,
    () => creates('A', 'B'),
    (s) => picks(s.id('A')),
    (s) =>
      calls(
        waitsFor('operator_input'),
        runs('touch ran'),
        call('CompleteWorkItem', { work_item_id: s.id('B') }),
        call('CreateWorkItem', { objective: 'C' }),
      ),
  )
  await s.say('Begin.')
  assert.deepEqual((await errors(s)).slice(3), [
    ['WaitFor', 'success'],
    ['ExecCommand', 'not_executed'],
    ['CompleteWorkItem', 'success'],
    ['CreateWorkItem', 'not_executed'],
  ])
  assert.equal(existsSync(join(s.box.workspace, 'ran')), false)
  assert.deepEqual([await stateOf(s, 'A'), await stateOf(s, 'B')], ['open', 'completed'])
  assert.deepEqual(
    (await s.rows('turns')).map(({ outcome }) => outcome),
    ['waiting'],
  )
  await s.sound()
})

test('a completion lists the tasks that still run, and they go on', async (t) => {
  const s = await onA(t, () => calls(runs(until('off'), { yield_ms: 0 })), doneAnyway('A'))
  await s.act({ do: 'send', text: 'Begin.' })
  await s.hurry('task_promoted')
  await s.rest()
  const [brief] = await s.rows('briefs')
  const [task] = await s.rows('tasks')
  const [warning] = brief?.warnings ?? []
  const text = `${report('A')}\n\nWarning: ${warning?.message}`
  assert.deepEqual([brief?.kind, brief?.text], ['result', text])
  assert.deepEqual(
    brief?.warnings.map(({ kind }) => kind),
    ['running_tasks'],
  )
  assert.ok(JSON.stringify(brief?.warnings).includes(task?.id ?? 'none'))
  assert.equal(task?.status, 'running')

  const ended = s.committed('task_ended')
  writeFileSync(join(s.box.workspace, 'off'), '')
  await ended
  await s.rest()
  const result = (await s.rows('messages')).at(-1)
  assert.deepEqual([result?.kind, result?.status], ['task_result', 'queued'])
  assert.equal(s.model.requests.length, 4, 'nobody is woken')
  await s.sound()
})

test('calls behind a completion whose report is missing are not carried out', async (t) => {
  const s = await onA(
    t,
    (s) =>
      calls(
        'Now I complete it:',
        call('CompleteWorkItem', { work_item_id: s.id('A') }),
        runs('touch ran'),
        call('CreateWorkItem', { objective: 'B' }),
      ),
    () => says(report('A')),
  )
  await s.say('Begin.')
  assert.deepEqual((await errors(s)).slice(-3), [
    ['CompleteWorkItem', 'success'],
    ['ExecCommand', 'not_executed'],
    ['CreateWorkItem', 'not_executed'],
  ])
  assert.equal(existsSync(join(s.box.workspace, 'ran')), false)
  assert.deepEqual(await s.briefs(), [{ kind: 'result', text: report('A') }])
  await s.sound()
})

test('a missing report is asked for once, with no tools', async (t) => {
  const s = await onA(
    t,
    (s) => calls('Now I complete it:', call('CompleteWorkItem', { work_item_id: s.id('A') })),
    () => calls(report('A'), runs('touch ran')),
  )
  await s.say('Begin.')
  const asked = s.model.requests[3]
  assert.equal(asked?.tool_choice, 'none')
  assert.match(textOf(asked), /its report is missing/)
  assert.deepEqual(await s.briefs(), [{ kind: 'result', text: report('A') }])
  assert.deepEqual((await errors(s)).at(-1), ['ExecCommand', 'not_executed'])
  const [item] = await s.rows('work_items')
  assert.deepEqual([item?.state, item?.result_summary], ['completed', report('A')])
  assert.equal((await s.rows('turns')).length, 1)
  await s.sound()
})

test('an empty answer to the request for a report means there is none', async (t) => {
  const s = await onA(
    t,
    (s) => calls(call('CompleteWorkItem', { work_item_id: s.id('A') })),
    () => says(''),
  )
  await s.say('Begin.')
  assert.equal(s.model.requests.length, 4)
  assert.deepEqual(await s.briefs(), [])
  const [item] = await s.rows('work_items')
  assert.deepEqual([item?.state, item?.result_summary], ['completed', null])
  await s.sound()
})
