/**
 * Two children in worktrees, made behind the pick of an item in one answer: both belong to it, and
 * the result of each tells its parent what it must know to merge.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryHome } from '../../src/testing/host/host-fixture.ts'
import type { ModelRequest } from '../../src/models/model.ts'
import { calls, says, scriptedModel } from '../../src/testing/scripted-model.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'
import { call, openFamily, spawn, steps, tell } from '../support/parent-and-child.ts'
import { makeRepository } from '../support/repository.ts'
import { requestSnapshot } from '../support/request-text.ts'
import { minute, textOf } from '../support/stage.ts'

const handoff = (name: string) => `Write ${name}.txt and commit it.`

const nameIn = (text: string) => /Write (\w+)\.txt/.exec(text)?.[1] ?? ''
const writes = (name: string) =>
  `echo ${name} >${name}.txt && git add . && git commit -q -m ${name}`

const saidTo = (request: ModelRequest): string => textOf({ ...request, system: '' })

const line = (n: number) =>
  new RegExp(
    `Worktree \\S+, branch holon/main\\.${n}, 1 commit ahead of main \\([0-9a-f]{7}\\), clean, ` +
      'merges without conflict\\.$',
    'm',
  )

test('each of two children in worktrees comes back to the item, with branch and state of it', async (t) => {
  const places = temporaryHome(t)
  makeRepository(places.workspace)
  let item = ''
  const clock = virtualClock()
  const both = Promise.withResolvers<void>()
  const parent = steps(
    () => calls(call('CreateWorkItem', { objective: 'Both texts' })),
    (text) => {
      item = /Created (work_\S+?)\./.exec(text)?.[1] ?? ''
      return calls(
        call('PickWorkItem', { work_item_id: item }),
        ...['one', 'two'].map((name) => spawn(handoff(name), { workspace_mode: 'worktree' })),
      )
    },
    async (text) => {
      await both.promise
      const [task] = /task_[0-9a-f-]{4,36}(?= supervises)/.exec(text) ?? ['']
      return calls(
        call('WaitFor', { wake: 'task_result', resource: task, reason: 'the first of them' }),
      )
    },
    async () => {
      await clock.advance(minute)
      return says('The first is there.')
    },
  )
  const first = Promise.withResolvers<void>()
  const child = scriptedModel(async (request) => {
    const name = nameIn(textOf(request))
    if (name === 'two') await first.promise
    return request.messages.some(({ role }) => role === 'tool')
      ? says(`${name}.txt is written and committed.`)
      : calls(call('ExecCommand', { cmd: writes(name) }))
  })
  const box = await openFamily(t, { parent, child, clock, ...places })
  await tell(box, 'Have both texts written, and merge them.')
  const ended = () =>
    [...(box.host.facts('main')?.rows('tasks') ?? [])].filter(
      ({ status }) => status === 'completed',
    ).length
  await box.until(() => ended() === 1, 'the first child')
  first.resolve()
  await box.until(() => ended() === 2, 'both children')
  both.resolve()
  const told = (n: number) => parent.requests.find((request) => line(n).test(saidTo(request)))
  await box.until(() => told(2) !== undefined, 'the result of the second')
  const tasks = await box.ledger.list('tasks', { agent_id: 'main', limit: 9 })
  const [row] = await box.ledger.list('work_items', { agent_id: 'main', limit: 9 })
  assert.deepEqual(
    tasks.filter(({ kind }) => kind === 'child_agent').map(({ work_item_id }) => work_item_id),
    [row?.id, row?.id],
  )
  requestSnapshot(t, told(1), box.home, box.workspace)
  requestSnapshot(t, told(2), box.home, box.workspace)
})
