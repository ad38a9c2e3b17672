/** Stories of one agent and its work: items, plan files, commands, memory, budget. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { calls, says } from '../../src/testing/scripted-model.ts'
import { call, completes, creates, picks, runs, until, waitsFor } from '../support/scripts.ts'
import { itemFile } from '../support/item-file.ts'
import { indexAsMadeAnew } from './memory-index.ts'
import type { Scenario } from './scenario.ts'
import {
  calm,
  itIs,
  operator,
  resting,
  storyOf,
  tells,
  type Answer,
  type Seen,
  type Story,
} from './story.ts'

const hour = 3_600_000
const day = 24 * hour

/** The id of the item with this objective. */
export async function idOf({ box }: Pick<Seen, 'box'>, objective: string): Promise<string> {
  const items = await box.ledger.list('work_items', { limit: 50 })
  return items.find((item) => item.objective === objective)?.id ?? 'work_not_there'
}

export const makes =
  (objective: string): Answer =>
  () =>
    creates(objective)
export const takes =
  (objective: string): Answer =>
  async (seen) =>
    picks(await idOf(seen, objective))
export const ends =
  (objective: string): Answer =>
  async (seen) =>
    completes(await idOf(seen, objective), `${objective} is done. I checked it twice.`)
export const doing =
  (name: string, input: Parameters<typeof call>[1]): Answer =>
  () =>
    calls(call(name, input))

const lastTask = async ({ box }: Seen): Promise<string> =>
  (await box.ledger.list('tasks', { limit: 50 })).at(-1)?.id ?? 'task_not_there'

const planOf = async (seen: Seen): Promise<string> =>
  join(seen.box.home, 'agents', 'main', 'work-items', await idOf(seen, 'A'), 'plan.md')

const patch = `--- notes.txt
+++ notes.txt
@@ -1,2 +1,2 @@
 one
-two
+three
--- /dev/null
+++ new.txt
@@ -0,0 +1 @@
+fresh
`

const planStory: Story = {
  name: 'plan and files',
  covers: ['plan file', 'tool started', 'tool finished', 'mutation', 'brief'],
  answers: {
    main: [
      () => calls(call('CreateWorkItem', { objective: 'A', plan: 'First.\n' })),
      takes('A'),
      async (seen) => {
        // Its snapshot is a file; that of the first text is a row.
        const new_text = `Second.\n${'One step of many.\n'.repeat(4_000)}`
        const edit = { path: await planOf(seen), old_text: 'First.', new_text }
        return calls(call('EditFile', edit))
      },
      doing('EditFile', { path: 'notes.txt', new_text: 'one\ntwo\n' }),
      doing('ApplyPatch', { patch }),
      async (seen) => {
        const work_item_id = await idOf(seen, 'A')
        const todo_list = [{ text: 'look', state: 'completed' }]
        return calls(
          call('UpdateWorkItem', { work_item_id, plan_status: 'ready', todo_list }),
          call('ReadFile', { path: 'new.txt' }),
        )
      },
      ends('A'),
    ],
  },
  acts: [tells('Plan it.')],
}
const plan: Scenario = storyOf(planStory)

/** The same, with a look at its home while it is still open. */
export const openHome = (look: (home: string) => void): Scenario =>
  storyOf({ ...planStory, also: async ({ box }) => look(box.home) })

const commands: Scenario = storyOf({
  name: 'commands',
  covers: ['task spawned', 'task finished', 'tool started', 'tool finished'],
  answers: {
    main: [
      makes('A'),
      takes('A'),
      () => calls(runs('echo first >> log.txt'), runs('echo second >> log.txt; exit 3')),
      () => calls(runs(`${until('never')}; echo wrong >> log.txt`, { yield_ms: 0 })),
      async (seen) => calls(call('TaskStop', { task_id: await lastTask(seen) })),
      () => calls(runs(`${until('go')}; echo late >> log.txt`, { yield_ms: 0 })),
      async (seen) => {
        const resource = await lastTask(seen)
        return calls(call('WaitFor', { wake: 'task_result', resource, reason: 'its end' }))
      },
      ends('A'),
    ],
  },
  acts: [
    tells('Run them.', resting),
    {
      name: 'lets it go',
      async when({ box }) {
        return (await box.ledger.list('waits', { limit: 5 })).length > 0
      },
      does: async ({ box }) => writeFileSync(join(box.workspace, 'go'), ''),
    },
  ],
})

/** One result that is read by a call whose round ends its turn, and one that comes too late. */
export const lateResult: Scenario = storyOf({
  name: 'late result',
  covers: ['task finished', 'turn start', 'turn end', 'response'],
  answers: {
    main: [
      makes('A'),
      takes('A'),
      () => calls(runs(`${until('go')}; echo late >> log.txt; exit 3`, { yield_ms: 0 })),
      async (seen) => {
        const work_item_id = await idOf(seen, 'A')
        const input = { work_item_id, leave_running: true }
        return calls('A is done. I checked it twice.', call('CompleteWorkItem', input))
      },
      () => says('It ended late, I see.'),
      makes('B'),
      takes('B'),
      () => calls(runs(`${until('went')}; echo read >> log.txt`, { yield_ms: 0 })),
      async (seen) => {
        writeFileSync(join(seen.box.workspace, 'went'), '')
        const task_id = await lastTask(seen)
        return calls(
          call('TaskOutput', { task_id, block: true }),
          waitsFor('timer', { wait_ms: hour }),
        )
      },
      () => calls(waitsFor('timer', { wait_ms: hour })),
      ends('B'),
    ],
  },
  acts: [
    // Asked again after a kill, when the command that it started runs already.
    tells('Begin.', resting),
    {
      name: 'lets it go',
      when: async (world) =>
        resting(world) &&
        (await world.box.ledger.list('work_items', { status: ['completed'], limit: 5 })).length > 0,
      does: async ({ box }) => writeFileSync(join(box.workspace, 'go'), ''),
    },
    tells('What else?'),
    tells('Do B.'),
    itIs(2 * hour),
  ],
})

const budget: Scenario = storyOf({
  name: 'budget',
  covers: ['budget', 'brief', 'model request'],
  answers: {
    main: [takes('A'), doing('ListTasks', {}), doing('ListTasks', {}), ends('A')],
  },
  acts: [
    operator('makes it', () => ({
      do: 'create_item',
      agent_id: 'main',
      objective: 'A',
      budget: { max_rounds: 2 },
    })),
    operator('raises it', async (world) => ({
      do: 'update_item',
      agent_id: 'main',
      work_item_id: await idOf(world, 'A'),
      budget: { max_rounds: 10 },
    })),
  ],
  also: async ({ box }) =>
    (await box.ledger.list('meters', { limit: 5 })).map(({ used }) => used.rounds),
})

const memory: Scenario = storyOf({
  name: 'memory',
  covers: ['memory index', 'tool started', 'tool finished'],
  answers: {
    main: [
      makes('A lighthouse'),
      takes('A lighthouse'),
      doing('MemorySearch', { query: 'lighthouse' }),
      () => calls(runs('echo the keeper has a lamp')),
      doing('MemorySearch', { query: 'keeper' }),
      ends('A lighthouse'),
    ],
  },
  acts: [tells('Remember the lighthouse.')],
  also: ({ box }) => indexAsMadeAnew(box),
})

const retention: Scenario = storyOf({
  name: 'retention',
  covers: ['retention'],
  answers: { main: [makes('A'), takes('A'), ends('A'), makes('B'), takes('B'), ends('B')] },
  acts: [
    tells('First.'),
    tells('Second.'),
    itIs(100 * day),
    {
      name: 'clears out',
      when: calm,
      async does({ box, outside }) {
        const before = new Date(outside.clock.now() - 50 * day).toISOString()
        await box.ledger.retain({ before, dry_run: false })
      },
    },
  ],
})

const imports: Scenario = storyOf({
  name: 'import',
  covers: ['plan file', 'mutation', 'brief'],
  answers: { main: [ends('A')] },
  acts: [
    operator('imports it', () => ({
      do: 'import_item',
      agent_id: 'main',
      file: itemFile('A', '# Plan\n'),
    })),
    operator('picks it', async (world) => ({
      do: 'pick',
      agent_id: 'main',
      work_item_id: await idOf(world, 'A'),
    })),
  ],
  async also({ box }) {
    const [item, ...more] = await box.ledger.list('work_items', { limit: 5 })
    const kept = await box.ledger.blob(item?.imported?.file_sha256 ?? '')
    return [more.length, kept?.length, readFileSync(item?.plan_artifact.path ?? '', 'utf8')]
  },
})

export const workStories: readonly Scenario[] = [
  plan,
  commands,
  lateResult,
  budget,
  memory,
  retention,
  imports,
]
