/**
 * Held calls of tools over a real host: an edit is shown with its lines, made after a yes, once,
 * and only on the file as it was shown; a page is fetched after a yes.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { heldTasks } from '../src/domain/approvals/held-command.ts'
import { heldHash, heldText } from '../src/domain/approvals/held-text.ts'
import type { ModelRequest } from '../src/models/model.ts'
import { calls, says, scriptedModel, type Script } from '../src/testing/scripted-model.ts'
import { asksAbout } from '../src/testing/world/held.ts'
import { call } from './support/scripts.ts'
import { ServedHome } from './support/served-home.ts'
import { openStage, type Stage, type StageOptions, hour } from './support/stage.ts'

const edit = call('EditFile', { path: 'notes.txt', old_text: 'one', new_text: 'pushed' })
const patch = call('ApplyPatch', {
  patch: '--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-one\n+pushed\n',
})

/** An item whose turn makes the call, and then ends. */
const asking =
  (wanted = edit): Script =>
  (_, n) => {
    switch (n) {
      case 1:
        return calls(call('CreateWorkItem', { objective: 'Write it', focus: true }))
      case 2:
        return calls(wanted)
      default:
        return says('As far as I can go.')
    }
  }

async function staged(t: TestContext, script: Script, more: Partial<StageOptions> = {}) {
  const policy = asksAbout('push')
  const model = scriptedModel(script)
  const stage = await openStage(t, { model, policy, ...more })
  const file = join(stage.box.workspace, 'notes.txt')
  writeFileSync(file, 'one\n')
  const have = () => (existsSync(file) ? readFileSync(file, 'utf8') : null)
  return { stage, policy, model, file, have }
}

function heldOf({ box }: Stage) {
  const facts = box.host.facts('main')
  const [task] = facts ? heldTasks(facts) : []
  assert.ok(task, 'nothing is held')
  return task
}

function held(stage: Stage) {
  const task = heldOf(stage)
  return { do: 'answer_held', task_id: task.id, bound_hash: heldHash(task) } as const
}

const last = (model: { requests: readonly ModelRequest[] }) =>
  JSON.stringify(model.requests.at(-1)?.messages)

/** Says yes and waits until all that follows is over. */
async function yes(stage: Stage) {
  const ended = stage.committed('task_ended')
  await stage.act({ ...held(stage), choice: 'yes' })
  await ended
  await stage.rest()
}

for (const [name, wanted] of [
  ['an edit', edit],
  ['a patch', patch],
] as const) {
  test(`${name} is shown with its lines, waits a day without a request, and is made once after a yes`, async (t) => {
    const { stage, model, have } = await staged(t, asking(wanted))
    await stage.say('Write it.')
    const asked = model.requests.length
    assert.match(heldText(heldOf(stage)), /\n {2}\| -one\n {2}\| \+pushed\nin /)
    await stage.pass(12 * hour)
    assert.deepEqual([model.requests.length, have()], [asked, 'one\n'])
    await yes(stage)
    assert.equal(have(), 'pushed\n')
    assert.equal(model.requests.length, asked + 1)
    assert.match(last(model), /completed/)
    const [task] = await stage.rows('tasks')
    assert.deepEqual([task?.kind, task?.status], ['tool_call', 'completed'])
    await stage.sound()
  })

  test(`${name} to a file that was changed since it was shown is not made, and the model is told`, async (t) => {
    const { stage, model, have, file } = await staged(t, asking(wanted))
    await stage.say('Write it.')
    writeFileSync(file, 'one\nand mine\n')
    await yes(stage)
    assert.equal(have(), 'one\nand mine\n')
    assert.match(last(model), /changed since the edit was worked out; nothing was written/)
    assert.equal((await stage.rows('tasks'))[0]?.status, 'failed')
    await stage.sound()
  })
}

test('a no is the first new text of the next request, and the same is not asked again', async (t) => {
  const script: Script = (request, n) => (n === 4 ? calls(edit) : asking()(request, n))
  const { stage, model, have } = await staged(t, script)
  await stage.say('Write it.')
  await stage.does({ ...held(stage), choice: 'no', text: 'Leave my notes.' })
  assert.match(last(model), /Leave my notes\./)
  assert.match(last(model), /They are not asked again/)
  assert.deepEqual([have(), (await stage.rows('tasks')).length], ['one\n', 1])
  await stage.sound()
})

/** As real rules see it: an edit is a tool and a path, whatever it writes. */
function seesPathsAlone({ policy }: Awaited<ReturnType<typeof staged>>) {
  const judge = policy.judge.bind(policy)
  policy.judge = (asked) =>
    judge({ ...asked, input: JSON.stringify(asked.input).includes('push') ? 'push' : '' })
}

test('a no to an edit is none to another of the same file', async (t) => {
  const other = call('EditFile', { path: 'notes.txt', old_text: 'one', new_text: 'pushed too' })
  const script: Script = (request, n) => (n === 4 ? calls(other) : asking()(request, n))
  const at = await staged(t, script)
  seesPathsAlone(at)
  await at.stage.say('Write it.')
  await at.stage.does({ ...held(at.stage), choice: 'no' })
  const statuses = (await at.stage.rows('tasks')).map(({ status }) => status)
  assert.deepEqual(statuses.toSorted(), ['cancelled', 'held'])
})

test('asked twice it is one question; another edit of the same file is another', async (t) => {
  const other = call('EditFile', { path: 'notes.txt', old_text: 'one', new_text: 'pushed too' })
  const script: Script = (request, n) =>
    n === 3 ? calls(edit) : n === 4 ? calls(other) : asking()(request, n)
  const at = await staged(t, script)
  seesPathsAlone(at)
  await at.stage.say('Write it.')
  assert.equal((await at.stage.rows('tasks')).length, 2)
})

test('what it would do that is another action by the yes is over, and not done', async (t) => {
  const { stage, policy, have } = await staged(t, asking())
  await stage.say('Write it.')
  policy.hash = 'another'
  await stage.does({ ...held(stage), choice: 'yes' })
  const [task] = await stage.rows('tasks')
  assert.deepEqual([task?.status, have()], ['cancelled', 'one\n'])
  await stage.sound()
})

test('an edit that cannot be made is told at once, and nobody is asked', async (t) => {
  const wrong = call('EditFile', { path: 'notes.txt', old_text: 'two', new_text: 'pushed' })
  const { stage, model } = await staged(t, asking(wrong))
  await stage.say('Write it.')
  assert.deepEqual(await stage.rows('tasks'), [])
  assert.match(last(model), /not found|does not occur|no such text|is not in/i)
})

test('an edit with more lines than are shown is refused with what to do', async (t) => {
  const text = 'pushed, a line of forty characters long.\n'.repeat(1_000)
  const long = call('EditFile', { path: 'long.txt', new_text: text })
  const { stage, model } = await staged(t, asking(long))
  await stage.say('Write it.')
  assert.deepEqual(await stage.rows('tasks'), [])
  assert.match(last(model), /longer than they are shown/)
})

test('stopping the task, or its agent, ends it without a change', async (t) => {
  for (const how of ['task', 'agent']) {
    const { stage, have } = await staged(t, asking())
    await stage.say('Write it.')
    const { task_id } = held(stage)
    await stage.act(how === 'task' ? { do: 'stop_task', task_id } : { do: 'stop_agent' })
    const [task] = await stage.rows('tasks')
    assert.deepEqual([task?.status, have()], ['cancelled', 'one\n'])
    await stage.sound()
  }
})

test('it is asked over a restart, and a yes after one still makes it, once', async (t) => {
  const { stage, policy, model, have } = await staged(t, asking())
  await stage.say('Write it.')
  const { home, workspace } = stage.box
  await stage.box.close()
  const next = await openStage(t, { model, policy, home, workspace, clock: stage.clock })
  await yes(next)
  assert.equal(have(), 'pushed\n')
  await next.sound()
})

test('what it did is taken back as another edit of the item', async (t) => {
  const { stage, have } = await staged(t, asking())
  await stage.say('Write it.')
  await yes(stage)
  const [item] = await stage.rows('work_items')
  await stage.act({ do: 'revert_files', work_item_id: item?.id ?? '' })
  assert.equal(have(), 'one\n')
})

test('a page is fetched after a yes, and what it says comes as a message', async (t) => {
  const fetch = call('WebFetch', { url: 'https://push.example/page' })
  const { stage, model } = await staged(t, asking(fetch))
  await stage.say('Read it.')
  assert.match(heldText(heldOf(stage)), /\n {2}\| https:\/\/push\.example\/page\n/)
  await yes(stage)
  assert.match(last(model), /WebFetch/)
  await stage.sound()
})

test('on the command line its lines are shown first, and answered with the mark of those', async (t) => {
  const { stage } = await staged(t, asking())
  await stage.say('Write it.')
  const { task_id } = held(stage)
  await stage.box.close()
  const at = new ServedHome(t)
  const env = { HOLON_HOME: stage.box.home }
  const holon = (...args: string[]) => at.start(args, env).ended
  assert.match((await holon('inbox')).out, /May this be done\? EditFile notes\.txt/)
  const shown = await holon('answer', task_id, 'yes')
  assert.match(shown.out, /\| changed notes\.txt, \+1 −1\n {2}\| @@ -1,1 \+1,1 @@\n {2}\| -one/)
  const mark = /--mark (\w{6})/.exec(shown.err)?.[1] ?? ''
  const done = await holon('answer', task_id, 'no leave it', '--mark', mark)
  assert.match(done.out, /does not run; the agent is told/, done.err)
})
