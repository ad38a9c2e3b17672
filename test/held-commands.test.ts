/**
 * Held commands over a real host: nothing runs and nobody asks a model before a person has said
 * yes, then exactly that runs, once; a no reaches the model in their words.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { heldTasks } from '../src/domain/approvals/held-command.ts'
import { heldHash } from '../src/domain/approvals/held-text.ts'
import type { ModelRequest } from '../src/models/model.ts'
import { calls, says, scriptedModel, type Script } from '../src/testing/scripted-model.ts'
import { asksAbout } from '../src/testing/world/held.ts'
import { call } from './support/scripts.ts'
import { ServedHome } from './support/served-home.ts'
import { openStage, type Stage, type StageOptions, hour } from './support/stage.ts'

const cmd = 'echo pushed >> pushed.txt # push'
const exec = (line = cmd) => call('ExecCommand', { cmd: line })

async function staged(t: TestContext, script: Script, more: Partial<StageOptions> = {}) {
  const policy = asksAbout('push')
  const model = scriptedModel(script)
  const stage = await openStage(t, { model, policy, ...more })
  const pushed = () => {
    const file = join(stage.box.workspace, 'pushed.txt')
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }
  return { stage, policy, model, pushed }
}

/** An item whose turn asks for a push and then ends. */
const asking: Script = (_, n) => {
  switch (n) {
    case 1:
      return calls(call('CreateWorkItem', { objective: 'Push it', focus: true }))
    case 2:
      return calls(exec())
    default:
      return says('As far as I can go.')
  }
}

function held({ box }: Stage) {
  const facts = box.host.facts('main')
  const [task] = facts ? heldTasks(facts) : []
  assert.ok(task, 'nothing is held')
  return { do: 'answer_held', task_id: task.id, bound_hash: heldHash(task) } as const
}

const last = (model: { requests: readonly ModelRequest[] }) =>
  JSON.stringify(model.requests.at(-1)?.messages)

test('nothing runs and no model is asked for a day; a yes runs it once and its end wakes the item', async (t) => {
  const { stage, model, pushed } = await staged(t, asking)
  await stage.say('Push it.')
  const asked = model.requests.length
  await stage.pass(24 * hour)
  assert.deepEqual([model.requests.length, pushed()], [asked, ''])
  const ended = stage.committed('task_ended')
  await stage.act({ ...held(stage), choice: 'yes' })
  await ended
  await stage.rest()
  assert.equal(pushed(), 'pushed\n')
  assert.equal(model.requests.length, asked + 1)
  assert.match(last(model), /The operator said yes at \S+; it ran\./)
  assert.match(last(model), /completed, exit status 0/)
  const [task] = await stage.rows('tasks')
  assert.deepEqual([task?.status, task?.exit_status], ['completed', 0])
  const again = await stage.try({
    do: 'answer_held',
    task_id: task?.id ?? '',
    bound_hash: 'x',
    choice: 'yes',
  })
  assert.equal(again.ok ? '' : again.code, 'already_answered')
  await stage.sound()
})

test('a no is the first new text of the next request, and the same is not asked again', async (t) => {
  const script: Script = (request, n) => (n === 4 ? calls(exec()) : asking(request, n))
  const { stage, model, pushed } = await staged(t, script)
  await stage.say('Push it.')
  await stage.does({ ...held(stage), choice: 'no', text: 'Use a branch.' })
  assert.match(last(model), /Use a branch\./)
  assert.match(last(model), /They are not asked again/)
  assert.equal(pushed(), '')
  assert.equal((await stage.rows('tasks')).length, 1)
  await stage.sound()
})

test('the operator’s next word opens what they said no to', async (t) => {
  let asks = 0
  const script: Script = (request, n) => {
    if (!JSON.stringify(request.messages).includes('Now you may ask.')) return asking(request, n)
    asks += 1
    return asks === 1 ? calls(exec()) : says('Asked.')
  }
  const { stage } = await staged(t, script)
  await stage.say('Push it.')
  await stage.does({ ...held(stage), choice: 'no' })
  await stage.clock.advance(1_000)
  await stage.say('Now you may ask.')
  const statuses = (await stage.rows('tasks')).map(({ status }) => status)
  assert.deepEqual(statuses.toSorted(), ['cancelled', 'held'])
})

for (const { tool, input, ends } of [
  { tool: 'TaskOutput', input: (task_id: string) => ({ task_id }), ends: null },
  { tool: 'TaskOutput', input: (task_id: string) => ({ task_id, block: true }), ends: null },
  { tool: 'TaskStatus', input: (task_id: string) => ({ task_id }), ends: null },
  { tool: 'TaskInput', input: (task_id: string) => ({ task_id, text: 'yes' }), ends: null },
  { tool: 'ListTasks', input: () => ({}), ends: null },
  { tool: 'TaskStop', input: (task_id: string) => ({ task_id }), ends: 'stopped by the agent' },
  { tool: 'CompleteWorkItem', input: () => ({}), ends: 'its item is completed' },
]) {
  const does = ends === null ? 'leaves it held' : 'ends it as what never ran'
  test(`${tool} on a held command ${does}`, async (t) => {
    const script: Script = (request, n) => {
      const facts = stage.box.host.facts('main')
      const [task] = facts ? heldTasks(facts) : []
      if (n !== 3 || task === undefined) return asking(request, n)
      const given = tool === 'CompleteWorkItem' ? { work_item_id: task.work_item_id } : null
      return calls(call(tool, given ?? input(task.id)))
    }
    const { stage, model, pushed } = await staged(t, script)
    await stage.say('Push it.')
    const [task] = await stage.rows('tasks')
    const end = ends === null ? ['held', null] : ['cancelled', ends]
    assert.deepEqual([task?.status, task?.reason, pushed()], [...end, ''])
    if (tool === 'TaskOutput') assert.match(last(model), /held: nothing of it has run/)
    const started = (await stage.events()).filter(({ event }) => event.type === 'task_started')
    assert.deepEqual(started, [])
    await stage.sound()
  })
}

test('a rule’s no is a result with its words, and nothing is held', async (t) => {
  const { stage, policy, model, pushed } = await staged(t, asking)
  policy.verdict = 'deny'
  await stage.say('Push it.')
  assert.match(last(model), /push asks/)
  assert.deepEqual([await stage.rows('tasks'), pushed()], [[], ''])
  await stage.sound()
})

test('asked twice in one turn it is one question', async (t) => {
  const script: Script = (request, n) => (n === 3 ? calls(exec()) : asking(request, n))
  const { stage, model } = await staged(t, script)
  await stage.say('Push it.')
  const tasks = await stage.rows('tasks')
  assert.equal(tasks.length, 1)
  assert.match(last(model), new RegExp(`Held as .*${await stage.short(tasks[0]?.id ?? '')}`))
})

test('what changed since it was shown is asked anew, and the yes runs nothing', async (t) => {
  const { stage, policy, pushed } = await staged(t, asking)
  await stage.say('Push it.')
  const before = held(stage)
  policy.hash = 'another'
  await stage.does({ ...before, choice: 'yes' })
  assert.notEqual(held(stage).bound_hash, before.bound_hash)
  const late = await stage.try({ ...before, choice: 'yes' })
  assert.equal(late.ok ? '' : late.code, 'question_changed')
  assert.equal(pushed(), '')
  await stage.sound()
})

test('stopping the task, or its agent, ends it without a start', async (t) => {
  for (const how of ['task', 'agent']) {
    const { stage, pushed } = await staged(t, asking)
    await stage.say('Push it.')
    const { task_id } = held(stage)
    await stage.act(how === 'task' ? { do: 'stop_task', task_id } : { do: 'stop_agent' })
    const [task] = await stage.rows('tasks')
    assert.deepEqual([task?.status, pushed()], ['cancelled', ''])
    await stage.sound()
  }
})

test('it is asked over a restart, and a yes given before one still runs it, once', async (t) => {
  const { stage, pushed, policy, model } = await staged(t, asking)
  await stage.say('Push it.')
  const { home, workspace } = stage.box
  await stage.box.close()
  const next = await openStage(t, { model, policy, home, workspace, clock: stage.clock })
  const ended = next.committed('task_ended')
  await next.act({ ...held(next), choice: 'yes' })
  await ended
  await next.rest()
  assert.equal(pushed(), 'pushed\n')
  await next.sound()
})

test('what changed between the yes and the start is asked anew', async (t) => {
  const { stage, pushed, policy } = await staged(t, asking)
  await stage.say('Push it.')
  const judge = policy.judge.bind(policy)
  let looks = 0
  policy.judge = (asked) => {
    looks += 1
    if (looks > 1) policy.hash = 'swapped'
    return judge(asked)
  }
  const anew = stage.committed('task_held_again')
  await stage.act({ ...held(stage), choice: 'yes' })
  await anew
  await stage.rest()
  assert.deepEqual([(await stage.rows('tasks'))[0]?.status, pushed()], ['held', ''])
  await stage.sound()
})

test('on the command line it is shown first, and answered with the mark of what was shown', async (t) => {
  const { stage } = await staged(t, asking)
  await stage.say('Push it.')
  const { task_id } = held(stage)
  await stage.box.close()
  const at = new ServedHome(t)
  const env = { HOLON_HOME: stage.box.home }
  const holon = (...args: string[]) => at.start(args, env).ended
  const inbox = await holon('inbox')
  assert.match(inbox.out, /May this run\? echo pushed/)
  const show = await holon('tasks', 'show', task_id)
  assert.match(show.out, /, asked [^]*\ndo {6}holon answer task_\w+ <choice>\n/)
  const why = await holon('why', /for {5}(work_\w+)/.exec(show.out)?.[1] ?? '')
  assert.match(why.out, /holon answer task_\w+ <choice>/)
  assert.doesNotMatch(why.out, /tasks output/)
  const output = await holon('tasks', 'output', task_id)
  assert.match(
    output.err,
    /has not begun: it waits for your answer[^]*holon answer task_\w+ <choice>/,
  )
  const shown = await holon('answer', task_id, 'yes')
  assert.deepEqual([shown.exit, shown.out.split('\n')[0]], [2, `May this run? ${cmd}`])
  const mark = /--mark (\w{6})/.exec(shown.err)?.[1] ?? ''
  const other = await holon('answer', task_id, 'yes', '--mark', 'ffffff')
  assert.deepEqual([other.exit, /not what that mark was of/.test(other.err)], [2, true], other.err)
  const maybe = await holon('answer', task_id, 'perhaps', '--mark', mark)
  assert.match(maybe.err, /perhaps is no choice of/)
  const text = "use ada's branch"
  const line = `holon answer ${task_id} 'no, use ada'\\''s branch' --mark ${mark}`
  for (const marked of [[], ['--mark', mark]]) {
    const other = await holon('answer', task_id, text, ...marked)
    assert.deepEqual([other.exit, other.err.includes(line)], [2, true], other.err)
  }
  const done = await holon('answer', task_id, 'no, use a branch', '--mark', mark)
  assert.match(done.out, /does not run; the agent is told/, done.err)
  assert.match((await holon('tasks', '--all')).out, /the operator said no: use a branch/)
})
