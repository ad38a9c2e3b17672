/** Stories of a parent and its child: a result, a question between them, a worktree thrown away. */
import { calls, says } from '../../src/testing/scripted-model.ts'
import { call, runs, waitsFor } from '../support/scripts.ts'
import { makeRepository } from '../support/repository.ts'
import type { Scenario } from './scenario.ts'
import { ends, makes, takes } from './stories-work.ts'
import { calm, operator, resting, storyOf, tells, type Answer, type Seen } from './story.ts'

/** The task of the child, which is the parent's. */
const childTask = async ({ box }: Pick<Seen, 'box'>): Promise<string> => {
  const tasks = await box.ledger.list('tasks', { limit: 50 })
  return tasks.find(({ kind }) => kind === 'child_agent')?.id ?? 'task_not_there'
}

const spawns =
  (initial_message: string, more: Parameters<typeof call>[1] = {}): Answer =>
  () =>
    calls(call('SpawnAgent', { initial_message, model: 'test/main.1', ...(more as object) }))

const waitsForChild: Answer = async (seen) => {
  const resource = await childTask(seen)
  return calls(call('WaitFor', { wake: 'task_result', resource, reason: 'its result' }))
}

const result: Scenario = storyOf({
  name: 'child',
  covers: ['child spawned', 'task finished', 'wait registered', 'brief'],
  answers: {
    main: [makes('A'), takes('A'), spawns('Count the words.'), waitsForChild, ends('A')],
    'main.1': [
      makes('Count'),
      takes('Count'),
      () => calls(runs('echo 42 >> log.txt')),
      ends('Count'),
    ],
  },
  acts: [tells('Have it counted.')],
})

const asks: Scenario = storyOf({
  name: 'child asks',
  covers: ['child spawned', 'ingress', 'wait triggered'],
  answers: {
    main: [
      makes('A'),
      takes('A'),
      spawns('Count the words.'),
      waitsForChild,
      async (seen) => calls(call('TaskInput', { task_id: await childTask(seen), text: 'All.' })),
      waitsForChild,
      ends('A'),
    ],
    'main.1': [
      makes('Count'),
      takes('Count'),
      () => calls('All of them?', waitsFor('operator_input')),
      ends('Count'),
    ],
  },
  acts: [tells('Have it counted.')],
})

/** Looks until the ledger has that many: what another agent does gives no notice to wait for. */
async function there(look: () => Promise<readonly unknown[]>, count: number): Promise<void> {
  while ((await look()).length < count) await new Promise(setImmediate)
}

const corrected: Scenario = storyOf({
  name: 'child corrected',
  covers: ['child spawned', 'ingress'],
  answers: {
    main: [
      makes('A'),
      takes('A'),
      spawns('Count the words.'),
      async (seen) => {
        const of = { agent_id: 'main.1', status: ['recorded'], limit: 50 }
        await there(() => seen.box.ledger.list('rounds', of), 2)
        return calls(call('TaskInput', { task_id: await childTask(seen), text: 'Not the titles.' }))
      },
      waitsForChild,
      ends('A'),
    ],
    'main.1': [
      makes('Count'),
      takes('Count'),
      async ({ box }) => {
        await there(() => box.ledger.list('messages', { agent_id: 'main.1', limit: 50 }), 2)
        return calls(call('ListTasks', {}))
      },
      (seen) => {
        if (seen.text.includes('Your parent wrote while you worked')) return ends('Count')(seen)
        return says('Nobody said a word.')
      },
    ],
  },
  acts: [tells('Have it counted.')],
})

const kept = (state: string) => async (world: Parameters<typeof calm>[0]) => {
  const [worktree] = await world.box.ledger.list('worktrees', { limit: 5 })
  return worktree?.state === state && (await calm(world))
}

const worktree: Scenario = storyOf({
  name: 'worktree',
  covers: ['worktree', 'child spawned', 'task finished'],
  furnish: ({ workspace }) => makeRepository(workspace),
  answers: {
    main: [spawns('Write it.', { workspace_mode: 'worktree' }), () => says('It is at work.')],
    'main.1': [
      makes('Write'),
      takes('Write'),
      () => calls(runs('echo precious > precious.txt')),
      ends('Write'),
    ],
  },
  acts: [
    tells('Have it written.'),
    operator(
      'discards',
      async (world) => {
        const worktree_id = await childTask(world)
        return { do: 'discard_worktree', agent_id: 'main', worktree_id }
      },
      kept('kept'),
    ),
  ],
})

const stopped: Scenario = storyOf({
  name: 'child stopped',
  covers: ['child spawned', 'lifecycle', 'task finished'],
  answers: {
    main: [spawns('Wait.'), () => says('It waits.'), () => says('So it is over.')],
    'main.1': [
      makes('Wait'),
      takes('Wait'),
      () => calls(waitsFor('timer', { wait_ms: 3_600_000 })),
    ],
  },
  acts: [
    tells('Begin.'),
    operator(
      'stops it',
      async (world) => ({ do: 'stop_task', agent_id: 'main', task_id: await childTask(world) }),
      async (world) =>
        resting(world) && (await world.box.ledger.list('waits', { limit: 5 })).length > 0,
    ),
  ],
})

export const childStories: readonly Scenario[] = [result, asks, corrected, worktree, stopped]
