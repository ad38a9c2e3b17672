/**
 * Requests that only fetch what the runtime knew already: an item is made and taken up in one call,
 * and the only item that waits in the queue stands in full before it is picked.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calls, says } from '../src/testing/scripted-model.ts'
import { call, happens, lastId, openFamily, steps, tell, told } from './support/parent-and-child.ts'

const nobody = steps()

test('an item made with focus is the turn’s: the call behind it is about it, in the same answer', async (t) => {
  const parent = steps(
    () =>
      calls(
        call('CreateWorkItem', { objective: 'first', focus: true }),
        call('ExecCommand', { cmd: 'true' }),
        call('CreateWorkItem', { objective: 'second', focus: true, reason: 'it is smaller' }),
        call('ExecCommand', { cmd: 'true # again' }),
      ),
    () => says('Both are made.'),
  )
  const box = await openFamily(t, { parent, child: nobody })
  await tell(box, 'Begin.')
  await happens(box, 'main', 'turn_ended')
  const items = await box.ledger.list('work_items', { agent_id: 'main', limit: 9 })
  const id = (objective: string) => items.find((item) => item.objective === objective)?.id
  const rows = await box.ledger.list('calls', { agent_id: 'main', limit: 9 })
  assert.deepEqual(
    rows.filter(({ tool_name }) => tool_name === 'ExecCommand').map((row) => row.work_item_id),
    [id('first'), id('second')],
  )
  const tasks = await box.ledger.list('tasks', { agent_id: 'main', limit: 9 })
  assert.deepEqual(
    tasks.map((task) => task.work_item_id),
    [id('first'), id('second')],
  )
  const events = await box.ledger.events({ after: 0, limit: 500, agent_id: 'main' })
  const picks = events.flatMap(({ event }) =>
    event.type === 'work_item_picked'
      ? [[event.current_work_item_id, event.switch_kind, event.reason]]
      : [],
  )
  assert.deepEqual(picks, [
    [id('first'), 'explicit_pick', null],
    [id('second'), 'explicit_focus_override', 'it is smaller'],
  ])
  assert.equal(box.host.facts('main')?.row('agents', 'main')?.current_work_item_id, id('second'))
})

test('an item whose plan needs input takes no focus, and none is made', async (t) => {
  const parent = steps(
    () =>
      calls(
        call('CreateWorkItem', { objective: 'x', focus: true, plan_status: 'needs_input' }),
        call('CreateWorkItem', { objective: 'y', focus: true, reason: 'r'.repeat(2_001) }),
      ),
    () => says('So be it.'),
  )
  const box = await openFamily(t, { parent, child: nobody })
  await tell(box, 'Begin.')
  await happens(box, 'main', 'turn_ended')
  assert.deepEqual(
    (await told(box, 'main')).map((line) => line.split(':').slice(0, 2).join(':')),
    ['CreateWorkItem: focus_needs_input', 'CreateWorkItem: over_limit'],
  )
  assert.deepEqual(await box.ledger.list('work_items', { limit: 9 }), [])
})

const made = (objective: string) =>
  call('CreateWorkItem', { objective, plan: `# How\n\nThe way of ${objective}.` })
const complete = (text: string) => says(`${text} is done.`)

test('the only item in the queue stands in full in the turn that is to take it up', async (t) => {
  const shown: string[] = []
  const take = (text: string) => {
    shown.push(text.slice(text.indexOf('agent: main')))
    return calls(call('GetWorkItem', { work_item_id: lastId(text, 'work') }))
  }
  const parent = steps(
    () => calls(made('one')),
    () => complete('All'),
    take,
    (text) => {
      shown.push(text)
      return says('Nothing now.')
    },
  )
  const box = await openFamily(t, { parent, child: nobody })
  await tell(box, 'Begin.')
  await box.rests('main')
  const [opening = '', after = ''] = shown
  assert.match(opening, /^# Queued work item \(not yet taken up\)$/m)
  assert.match(opening, /The way of one\./)
  assert.match(opening, /the queued item above is ready/)
  // It is not shown again, for it has not changed.
  assert.match(after, /item: work_[0-9a-f-]+ is as it stands above/)
})

test('a queue of two is a list to choose from', async (t) => {
  let opening = ''
  const parent = steps(
    () => calls(made('one'), made('two')),
    () => complete('All'),
    (text) => {
      opening = text
      return says('Nothing now.')
    },
  )
  const box = await openFamily(t, { parent, child: nobody })
  await tell(box, 'Begin.')
  await box.rests('main')
  assert.doesNotMatch(opening, /# Queued work item/)
  assert.match(opening, /^Queued and runnable:\n- work_\S+ "one"/m)
  assert.match(opening, /^- work_\S+ "two"/m)
})

test('the plan of an item in a list stands whole, or says that it is cut', async (t) => {
  const fits = `${'a'.repeat(115)} ends`
  const shown: string[] = []
  const parent = steps(
    () =>
      calls(
        call('CreateWorkItem', { objective: 'one', plan: fits }),
        call('CreateWorkItem', { objective: 'two', plan: `${fits}. Never touch x.` }),
        call('CreateWorkItem', { objective: 'three', plan: `b\n\n\n\n${fits}` }),
      ),
    () => complete('All'),
    (text) => {
      shown.push(text)
      return says('Nothing now.')
    },
  )
  const box = await openFamily(t, { parent, child: nobody })
  await tell(box, 'Begin.')
  await box.rests('main')
  const plans = [...(shown[0] ?? '').matchAll(/^- work_\S+ "(\w+)"; plan: (.*)$/gm)]
  assert.deepEqual(Object.fromEntries(plans.map(([, name, plan]) => [name, plan])), {
    one: `"${fits}"`,
    two: `"${fits.slice(0, 119)}…"`,
    three: `"b ${fits.slice(0, 117)}…"`,
  })
})

test('what a call was made without is told with its result, of each of two calls its own', async (t) => {
  const parent = steps(
    () =>
      calls(
        call('ExecCommand', { cmd: 'true', shell: 'zsh' }),
        call('ListTasks', { state: 'running' }),
        call('ListTasks', {}),
      ),
    (text) => {
      shown = text
      return says('Done.')
    },
  )
  let shown = ''
  const box = await openFamily(t, { parent, child: nobody })
  await tell(box, 'Begin.')
  await box.rests('main')
  assert.match(shown, /warning \(unknown_fields\): ExecCommand has no field shell: left out/)
  assert.match(shown, /warning \(unknown_fields\): ListTasks has no field state: left out/)
  assert.equal(shown.match(/unknown_fields/g)?.length, 2)
})
