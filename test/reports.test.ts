/**
 * What becomes of the words beside a completion: they are the report of what the round completes,
 * short ones are asked back once, and none that were written for the operator are lost.
 */
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Rows } from '../src/domain/state/event.ts'
import type { ModelRequest } from '../src/models/model.ts'
import { calls, says, scriptedModel, type Scripted } from '../src/testing/scripted-model.ts'
import { onA, scene, type Scene } from './support/scene.ts'
import { call, completes, creates, runs, until, waitsFor } from './support/scripts.ts'
import { openStage, resultsOf, textOf, type Stage } from './support/stage.ts'

const whole = 'The parser keeps comments now. It was run on every file of the corpus.'

const results = async (s: Stage): Promise<Pick<Rows['briefs'], 'text' | 'warnings'>[]> =>
  (await s.rows('briefs')).filter(({ kind }) => kind === 'result')
const texts = async (s: Stage) => (await results(s)).map(({ text }) => text)
const itemOf = async (s: Stage, objective: string) => {
  const found = (await s.rows('work_items')).find((one) => one.objective === objective)
  return found ?? assert.fail(`there is no ${objective}`)
}
const asked = ({ model }: Scene): ModelRequest[] =>
  model.requests.filter(({ tool_choice }) => tool_choice === 'none')

/** The words beside the completion of the turn's item, the answer to the question, the report. */
const askedBack: readonly [text: string, answer: string, report: string | null][] = [
  ['Done.', whole, whole],
  ['Done.', '', 'Done.'],
  ['It is done, and it works.', 'Yes.', 'It is done, and it works.'],
  ['Here is what I did:', '', 'Here is what I did:'],
  ['Let me mark it complete.', '', null],
  ['Ich werde das jetzt abschließen', whole, whole],
  ['', whole, whole],
  ['', '', null],
]

for (const [text, answer, report] of askedBack) {
  test(`«${text}» is asked back once; answered «${answer.slice(0, 9)}» it is «${report}»`, async (t) => {
    const s = await onA(
      t,
      (s) => completes(s.id('A'), text),
      () => says(answer),
    )
    await s.say('Begin.')
    assert.equal(asked(s).length, 1)
    assert.equal(s.model.requests.length, 4, 'it is asked once')
    const [request] = asked(s)
    if (text !== '') assert.match(textOf(request), new RegExp(`«${text}»`))
    assert.deepEqual(await texts(s), report === null ? [] : [report])
    assert.equal((await itemOf(s, 'A')).result_summary, report)
    await s.sound()
  })
}

test('a whole report is asked for nothing', async (t) => {
  const s = await onA(t, (s) => completes(s.id('A'), whole))
  await s.say('Begin.')
  assert.deepEqual([asked(s).length, await texts(s)], [0, [whole]])
  const [, , done] = await s.rows('calls')
  const result = done?.result?.status === 'success' ? done.result.result : null
  const { work_item, warnings } = result as { work_item: { id: string }; warnings: unknown }
  assert.deepEqual([work_item.id, warnings], [(await itemOf(s, 'A')).id, []])
})

test('short words stand when the operator ends the turn that asks for more', async (t) => {
  const s = await onA(
    t,
    (s) => completes(s.id('A'), 'It is done.'),
    () => 'hang',
  )
  await s.act({ do: 'send', text: 'Begin.' })
  while (asked(s).length === 0) await s.clock.advance(0)
  const [turn] = await s.rows('turns')
  await s.does({ do: 'abort', run_id: turn?.id ?? '' })
  assert.deepEqual(await texts(s), ['It is done.'])
  await s.sound()
})

test('words beside two completions are the report of both, and each brief names the other', async (t) => {
  const s = await scene(
    t,
    () => creates('A', 'B'),
    (s) => calls(call('PickWorkItem', { work_item_id: s.id('A') })),
    (s) =>
      calls(
        'Both are done: A and B work.',
        call('CompleteWorkItem', { work_item_id: s.id('A') }),
        call('CompleteWorkItem', { work_item_id: s.id('B') }),
      ),
  )
  await s.say('Do both.')
  assert.equal(asked(s).length, 0)
  for (const text of await texts(s)) {
    assert.match(
      text,
      /^Both are done: A and B work\.\n\nWarning: The same report was written for /,
    )
  }
  const named = (await results(s)).map(({ warnings }) => warnings.map(({ message }) => message))
  assert.match(named[0]?.join() ?? '', /The same report was written for work_\S+ \("B"\)/)
  assert.match(named[1]?.join() ?? '', /The same report was written for work_\S+ \("A"\)/)
  await s.sound()
})

test('words beside the completion of another item are its report, and the turn goes on', async (t) => {
  const s = await scene(
    t,
    () => creates('A', 'B', 'C'),
    (s) => calls(call('PickWorkItem', { work_item_id: s.id('A') })),
    (s) => completes(s.id('B'), 'B is obsolete.'),
    (s) => completes(s.id('C'), 'Let me complete C as well.'),
    (s) => completes(s.id('A'), whole),
  )
  await s.say('Do all.')
  assert.equal(asked(s).length, 0, 'nothing is asked about another item')
  assert.deepEqual(await texts(s), ['B is obsolete.', whole])
  assert.equal((await itemOf(s, 'C')).result_summary, null)
  await s.sound()
})

test('a report that is missing is added once, also in a later turn, and changes nothing else', async (t) => {
  const s = await scene(
    t,
    () => creates('A', 'B'),
    (s) =>
      calls(
        call('CompleteWorkItem', { work_item_id: s.id('A') }),
        call('CompleteWorkItem', { work_item_id: s.id('B') }),
      ),
    () => says('Both are completed.'),
    (s) => calls(call('CompleteWorkItem', { work_item_id: s.id('A') })),
    (s) => completes(s.id('A'), 'A it is.'),
    (s) => completes(s.id('A'), 'A it is, again.'),
    () => says('So it is.'),
  )
  await s.say('Do both.')
  assert.match(resultsOf(s.model.requests[2])[0]?.text ?? '', /without a report/)
  const before = await itemOf(s, 'A')
  await s.say('And what came of A?')
  assert.match(resultsOf(s.model.requests[4])[0]?.text ?? '', /as text beside this call/)
  assert.match(resultsOf(s.model.requests[6])[0]?.text ?? '', /work_item_completed/)
  const after = await itemOf(s, 'A')
  assert.deepEqual(await texts(s), ['A it is.'])
  assert.deepEqual(
    [after.result_summary, after.completed_at, (await itemOf(s, 'B')).result_summary],
    ['A it is.', before.completed_at, null],
  )
  await s.sound()
})

test('an item whose task still runs is completed on request only, and the words are kept', async (t) => {
  const s = await onA(
    t,
    () => calls(runs(until('go'), { yield_ms: 0 }), runs(until('went'), { yield_ms: 0 })),
    (s) => completes(s.id('A'), whole),
    (s) => calls(call('CompleteWorkItem', { work_item_id: s.id('A'), leave_running: true })),
  )
  await s.act({ do: 'send', text: 'Begin.' })
  await s.hurry('turn_ended')
  const [refusal] = resultsOf(s.model.requests[4])
  assert.equal(refusal?.is_error, true)
  assert.match(refusal?.text ?? '', /2 running tasks: task_\S+ \(.*\); task_/)
  assert.match(refusal?.text ?? '', /WaitFor task_result.*TaskStop.*leave_running/s)
  assert.equal(asked(s).length, 0)
  const warned = 'Warning: 2 tasks of the item still run; they go on, and their results come late.'
  assert.deepEqual(await texts(s), [`${whole}\n\n${warned}`])
  const kinds = (await results(s)).flatMap(({ warnings }) => warnings.map(({ kind }) => kind))
  assert.deepEqual(kinds, ['running_tasks'])
  writeFileSync(join(s.box.workspace, 'go'), '')
  writeFileSync(join(s.box.workspace, 'went'), '')
  await s.sound()
})

test('each refusal says that nobody has read the words, and which the next completion takes', async (t) => {
  const s = await onA(
    t,
    () => calls(runs(until('go'), { yield_ms: 0 })),
    (s) => completes(s.id('A'), ''),
    (s) => completes(s.id('A'), whole),
    (s) => completes(s.id('A'), ''),
    (s) => calls(call('CompleteWorkItem', { work_item_id: s.id('A'), leave_running: true })),
  )
  await s.act({ do: 'send', text: 'Begin.' })
  await s.hurry('turn_ended')
  const told = [4, 5, 6].map((n) => {
    const [refusal] = resultsOf(s.model.requests[n])
    return /comes late\. ?(.*)/.exec(refusal?.text ?? '')?.[1]
  })
  const kept =
    ' was not delivered as its report: a completion without text takes it, ' +
    'text beside that replaces it.'
  assert.deepEqual(told, ['', `Your text${kept}`, `What you wrote at an earlier refusal${kept}`])
  assert.equal((await itemOf(s, 'A')).result_summary, whole)
  writeFileSync(join(s.box.workspace, 'go'), '')
  await s.sound()
})

test('a command that has ended is no obstacle, although nobody has collected its end', async (t) => {
  const ended = join('there', 'it', 'is')
  const s = await onA(
    t,
    () => calls(runs(`${until('go')}; mkdir -p ${ended}`, { yield_ms: 0 })),
    (s) => async () => {
      writeFileSync(join(s.box.workspace, 'go'), '')
      const [task] = await s.rows('tasks')
      while ((await s.box.ports.processes.observe(task?.id ?? '')).state !== 'ended') {
        await s.clock.advance(0)
      }
      return completes(s.id('A'), whole)
    },
  )
  await s.act({ do: 'send', text: 'Begin.' })
  await s.hurry('turn_ended')
  assert.ok(existsSync(join(s.box.workspace, ended)))
  assert.equal((await itemOf(s, 'A')).state, 'completed')
  assert.deepEqual(await texts(s), [whole])
  await s.sound()
})

test('an item whose child still runs is refused too, and the child is named', async (t) => {
  const box: { s: Stage | null } = { s: null }
  const made = (n: number): Scripted => {
    const id = () => box.s?.id('A') ?? ''
    switch (n) {
      case 1:
        return creates('A')
      case 2:
        return calls(
          call('PickWorkItem', { work_item_id: id() }),
          call('SpawnAgent', { initial_message: 'look around', model: 'a/child' }),
        )
      case 3:
        return completes(id(), whole)
      default:
        return calls(waitsFor('timer', { wait_ms: 60_000 }))
    }
  }
  const model = scriptedModel((_, n) => made(n))
  const s = (box.s = await openStage(t, {
    models: { 'test/first': model, 'a/child': scriptedModel(() => 'hang') },
  }))
  await s.act({ do: 'send', text: 'Begin.' })
  await s.box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.agent_id === 'main' &&
      notice.events.some(({ event }) => event.type === 'turn_ended'),
  )
  assert.match(resultsOf(model.requests[3])[0]?.text ?? '', /look around, child main\.1/)
  assert.equal((await itemOf(s, 'A')).report_draft, whole)
})

test('the operator completes what still runs, with the warning', async (t) => {
  const s = await onA(t, () =>
    calls(runs(until('go'), { yield_ms: 0 }), waitsFor('timer', { wait_ms: 60_000 })),
  )
  await s.act({ do: 'send', text: 'Begin.' })
  await s.hurry('turn_ended')
  const reply = await s.act({ do: 'complete', work_item_id: s.id('A'), report: 'Enough.' })
  assert.deepEqual(
    reply.warnings.map(({ kind }) => kind),
    ['running_tasks'],
  )
  writeFileSync(join(s.box.workspace, 'go'), '')
})
