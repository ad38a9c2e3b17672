/**
 * A parent whose private child, in a worktree of a real repository, asks something; and the same
 * when the child is over and has left a file there that no commit has. Behind the real API.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { WorktreeRecord } from '../../src/protocol/records/delegation-record.ts'
import type { TaskRecord } from '../../src/protocol/records/task-record.ts'
import type { WaitRecord } from '../../src/protocol/records/wait-record.ts'
import { openApi, type ApiBox } from '../../src/testing/http/api.ts'
import { calls, says, scriptedModel, type Script } from '../../src/testing/scripted-model.ts'
import { makeRepository } from './repository.ts'

const call = (name: string, input: Record<string, string>) => calls({ name, input })

/** It asks, and when it was answered it leaves a file that no commit has. */
const child: Script = (_, n) => {
  if (n === 1) return call('WaitFor', { wake: 'operator_input', reason: 'Which of the two?' })
  if (n === 2) return call('ExecCommand', { cmd: 'echo new > new.txt' })
  return says('I took the second one.')
}

const parent: Script = (_, n) => {
  if (n > 1) return says('I see.')
  const spawn = {
    initial_message: 'Take one.\nOf two.',
    model: 'a/child',
    workspace_mode: 'worktree',
  }
  return call('SpawnAgent', spawn)
}

type Home = { api: ApiBox; task: TaskRecord; wait: WaitRecord }

export const committed = (api: ApiBox, type: string, agent = 'main') =>
  api.box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.agent_id === agent &&
      notice.events.some(({ event }) => event.type === type),
    `${type} of ${agent}`,
  )

/** A parent whose child, in a worktree of its repository, asks something. */
export async function asking(t: TestContext): Promise<Home> {
  const models = { default: scriptedModel(parent), 'a/child': scriptedModel(child) }
  const api = await openApi(t, { models })
  makeRepository(api.box.workspace)
  const workspace = { mode: 'explicit_root', root: api.box.workspace }
  assert.equal((await api.ask('PATCH', '/agents/main', { workspace })).status, 200)
  await api.box.host.open()
  const asked = committed(api, 'task_asked')
  await api.post('/agents/main/messages', { text: 'Take one of the two.' })
  await asked
  const { tasks } = await api.get<{ tasks: TaskRecord[] }>('/agents/main/tasks')
  const { waits } = await api.get<{ waits: WaitRecord[] }>('/agents/main.1/waits')
  const [[task], [wait]] = [tasks, waits]
  assert.ok(task && wait)
  return { api, task, wait }
}

/** The same when the child is over and its worktree is kept. */
export async function left(
  t: TestContext,
): Promise<Home & { at: string; worktree: WorktreeRecord }> {
  const home = await asking(t)
  const { api, task } = home
  const kept = committed(api, 'worktree_kept')
  await api.post(`/agents/main/tasks/${task.id}/input`, { text: 'The second.' })
  await kept
  await api.box.until(
    (notice) => notice.kind === 'resting' && notice.agent_id === 'main' && restsAfter(api, notice),
    'main to rest',
  )
  const at = `/agents/main/worktrees/${task.id}`
  return { ...home, at, worktree: await api.get<WorktreeRecord>(at) }
}

/** The parent has read the result by then. */
function restsAfter({ box }: ApiBox, notice: (typeof box.notices)[number]): boolean {
  const ended = box.notices.findIndex(
    (one) =>
      one.kind === 'committed' && one.events.some(({ event }) => event.type === 'worktree_kept'),
  )
  const queued = [...(box.host.facts('main')?.rows('messages') ?? [])]
  return box.notices.indexOf(notice) > ended && queued.every(({ status }) => status !== 'queued')
}
