import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { isSamePlace } from '../../domain/start-place.ts'
import { startPlace, TASKS_MARK } from './start-place.ts'

function tasksFolder(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), 'holon-place-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const folder = join(home, 'tasks')
  mkdirSync(folder)
  return folder
}

test('a tasks folder gets its mark when it is first asked for, and another one gets another', (t) => {
  const [one, other] = [tasksFolder(t), tasksFolder(t)]
  const first = startPlace(one)
  assert.deepEqual(startPlace(one), first)
  assert.equal(startPlace(other).boot, first.boot)
  assert.notEqual(startPlace(other).tasks, first.tasks)
  assert.deepEqual(readdirSync(one), [TASKS_MARK])
})

test('a tasks folder that was emptied is another place', (t) => {
  const folder = tasksFolder(t)
  const before = startPlace(folder)
  rmSync(join(folder, TASKS_MARK))
  const after = startPlace(folder)
  assert.equal(isSamePlace(before, after), false)
  assert.deepEqual(startPlace(folder), after)
})

test('only a noted place with the same boot and the same mark is the same', () => {
  const here = { boot: 'b', tasks: 't' }
  const same = [here, { ...here, boot: 'c' }, { ...here, tasks: 'u' }, null].map((then) =>
    isSamePlace(then, here),
  )
  assert.deepEqual(same, [true, false, false, false])
})
