/** What commands did to files where no call tells it: in the background, and before a restart. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { WorkItemId } from '../src/domain/ids.ts'
import type { HostFixture } from '../src/testing/host/host-fixture.ts'
import { openBox, temporaryHome } from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel, type ScriptedCall } from '../src/testing/scripted-model.ts'
import { changesOf } from '../src/protocol/records/changes-record.ts'
import { call, runs } from './support/scripts.ts'

const happens = (box: HostFixture, type: string) =>
  box.until(
    (notice) =>
      notice.kind === 'committed' && notice.events.some(({ event }) => event.type === type),
    type,
  )

async function bench(t: TestContext, ...made: ScriptedCall[]) {
  const places = temporaryHome(t)
  execFileSync('git', ['init', '-q'], { cwd: places.workspace })
  const file = join(places.workspace, 'a.txt')
  writeFileSync(file, 'before\n')
  execFileSync('mkfifo', [join(places.workspace, '../go')])
  const model = scriptedModel((_, n) => (n === 1 ? calls(...made) : says('Done.')))
  const open = () => openBox(t, { ...places, models: { default: model } })
  const box = await open()
  await box.makeAgent('test/porter')
  const item = await box.host.act({ do: 'create_item', agent_id: 'main', objective: 'Port it' })
  assert.ok(item.ok && item.id !== null)
  const work_item_id = item.id as WorkItemId
  await box.host.act({ do: 'pick', agent_id: 'main', work_item_id })
  await box.host.open()
  return { ...places, file, box, open, work_item_id }
}

const told = async (box: HostFixture) => {
  const [task] = await box.ledger.list('tasks', { limit: 1 })
  const changes = task?.changes
  const diffs = changes && 'diffs' in changes ? changes.diffs : []
  return diffs.map(({ name, text }) => [name, text])
}

test('a command in the background is looked behind when it has ended', async (t) => {
  const cmd = 'read x < ../go; echo after > a.txt'
  const b = await bench(t, runs(cmd, { yield_ms: 0 }))
  await happens(b.box, 'turn_ended')
  await writeFile(join(b.workspace, '../go'), 'go\n')
  await happens(b.box, 'task_changes_seen')
  assert.deepEqual(await told(b.box), [['a.txt', '@@ -1,1 +1,1 @@\n-before\n+after\n']])
  const { work_item_id } = b
  const back = await b.box.host.act({ do: 'revert_files', agent_id: 'main', work_item_id })
  assert.deepEqual(back.ok && back.files?.map(({ outcome }) => outcome), ['put_back'])
  assert.equal(readFileSync(b.file, 'utf8'), 'before\n')
  assert.deepEqual((await b.box.ledger.verify()).problems, [])
})

test('a command that its time limit stopped is looked behind too', async (t) => {
  const b = await bench(t, runs('echo after > a.txt; read x < ../go', { timeout_ms: 300 }))
  await happens(b.box, 'task_changes_seen')
  assert.deepEqual(await told(b.box), [['a.txt', '@@ -1,1 +1,1 @@\n-before\n+after\n']])
})

test('an end that was not looked behind before a kill is, by the next start', async (t) => {
  const b = await bench(t, runs('true'))
  await happens(b.box, 'turn_ended')
  const [task] = await b.box.ledger.list('tasks', { limit: 1 })
  assert.ok(task && task.changes === undefined)
  // As a process leaves it that ends between the end of a command and its record.
  const roots = { read: [], write: [b.workspace], deny: [], read_only: [] }
  await b.box.ports.trees?.before(task.id, b.workspace, roots)
  writeFileSync(b.file, 'after\n')
  await b.box.close()
  const next = await b.open()
  await next.host.open()
  await happens(next, 'task_changes_seen')
  assert.deepEqual(await told(next), [['a.txt', '@@ -1,1 +1,1 @@\n-before\n+after\n']])
  assert.deepEqual(await next.ports.trees?.pending(), [])
})

/** What of `a.txt` the item is said to have changed, and by whom. */
async function saidOf({ box, work_item_id }: Awaited<ReturnType<typeof bench>>) {
  const limit = 100
  const [made, tasks] = await Promise.all([
    box.ledger.list('calls', { work_item_id, limit }),
    box.ledger.list('tasks', { work_item_id, limit }),
  ])
  const { files } = changesOf(work_item_id, { calls: made, tasks }, true)
  return files.map(({ name, added, removed, edits }) => [name, added, removed, edits.length])
}

test('what a file tool changed beside a command in the background is told once', async (t) => {
  const edits = call('EditFile', { path: 'a.txt', old_text: 'before', new_text: 'edited' })
  const b = await bench(t, runs('read x < ../go', { yield_ms: 0 }), edits)
  await happens(b.box, 'turn_ended')
  await writeFile(join(b.workspace, '../go'), 'go\n')
  await happens(b.box, 'task_changes_seen')
  assert.deepEqual(await told(b.box), [['a.txt', '@@ -1,1 +1,1 @@\n-before\n+edited\n']])
  assert.deepEqual(await saidOf(b), [['a.txt', 1, 1, 1]])
  const { work_item_id } = b
  const back = await b.box.host.act({ do: 'revert_files', agent_id: 'main', work_item_id })
  assert.deepEqual(back.ok && back.files?.map(({ outcome }) => outcome), ['put_back'])
  assert.equal(readFileSync(b.file, 'utf8'), 'before\n')
})

test('what the command changed behind the file tool is told too', async (t) => {
  const edits = call('EditFile', { path: 'a.txt', old_text: 'before', new_text: 'edited' })
  const cmd = 'read x < ../go; echo more >> a.txt'
  const b = await bench(t, runs(cmd, { yield_ms: 0 }), edits)
  await happens(b.box, 'turn_ended')
  await writeFile(join(b.workspace, '../go'), 'go\n')
  await happens(b.box, 'task_changes_seen')
  assert.equal((await saidOf(b))[0]?.[3], 2)
})
