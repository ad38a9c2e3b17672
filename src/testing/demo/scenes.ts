/**
 * The scenes of the demonstration, each told through the public API as an operator would tell it,
 * and each waited for by what the API says: the home frame has one row for every state there is.
 * A scene that does not come to its state within the patience throws, naming it.
 */
import type { Holon } from '../../client/holon.ts'
import type { RouteAnswer, RouteInput, Route } from '../../client/routes.ts'
import type { TaskRecord } from '../../protocol/records/task-record.ts'
import type { WorkItemRecord } from '../../protocol/records/work-item-record.ts'

export type DemoStage = {
  holon: Holon
  /** Where the agents work. */
  workspace: string
  clock: { sleep(ms: number): Promise<void>; monotonic(): number }
}

/** Milliseconds a scene may take on a busy machine, and between two looks at it. */
const patience = 60_000
const look = 40

export async function ask<R extends Route>(
  { holon }: DemoStage,
  route: R,
  given: RouteInput<R>,
): Promise<RouteAnswer<R>> {
  const answer = await holon.ask(route, given)
  if (answer.ok) return answer.value
  throw new Error(`${route}: ${JSON.stringify(answer.failure)}`)
}

/** What `find` finds, as soon as it does. */
async function when<T>(
  { clock }: DemoStage,
  what: string,
  find: () => Promise<T | undefined>,
): Promise<T> {
  const until = clock.monotonic() + patience
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    if (clock.monotonic() > until) throw new Error(`the demonstration never came to: ${what}`)
    await clock.sleep(look)
  }
}

const itemOf = async (stage: DemoStage, agent: string, objective: string) => {
  const { work_items } = await ask(stage, 'GET /agents/{agent}/work-items', {
    agent,
    query: { filter: 'all' },
  })
  return work_items.find((item) => item.objective.startsWith(objective))
}

/** The item once it is in that state and its agent has no open turn. */
function settled(
  stage: DemoStage,
  agent: string,
  objective: string,
  state: WorkItemRecord['scheduling_state'],
): Promise<WorkItemRecord> {
  return when(stage, `${agent}: ${objective} is ${state}`, async () => {
    const item = await itemOf(stage, agent, objective)
    if (item?.scheduling_state !== state) return undefined
    const { current_run_id } = await ask(stage, 'GET /agents/{agent}', { agent })
    return current_run_id === null ? item : undefined
  })
}

const say = (stage: DemoStage, agent: string, text: string) =>
  ask(stage, 'POST /agents/{agent}/messages', { agent, body: { text } })

const make = (stage: DemoStage, id: string, model: string) =>
  ask(stage, 'POST /agents', {
    body: { id, model, workspace: { mode: 'explicit_root', root: stage.workspace } },
  })

/** In the foreground its start is told with its end: until then it is queued (decision 0004). */
const runningCommand = (
  stage: DemoStage,
  agent: string,
  label: string,
  ...statuses: readonly TaskRecord['status'][]
) =>
  when(stage, `${agent} runs ${label}`, async () => {
    const { tasks } = await ask(stage, 'GET /agents/{agent}/tasks', {
      agent,
      query: { status: 'live' },
    })
    return tasks.find((task) => statuses.includes(task.status) && task.label.includes(label))
  })

/** A command in the foreground that will be cut off: its task. It comes before the crash. */
export async function publishing(stage: DemoStage): Promise<string> {
  await make(stage, 'deploy', 'demo/deploy')
  await say(stage, 'deploy', 'Publish the nightly build.')
  return (await runningCommand(stage, 'deploy', 'publish', 'queued', 'running')).id
}

/**
 * Everything else, once the daemon is there again. One after another, each come to rest before the
 * next: so the screens have the same order and the same ids at every start.
 */
export async function allScenes(stage: DemoStage): Promise<void> {
  await settled(stage, 'deploy', 'Publish the nightly build', 'waiting_operator')
  await question(stage)
  await refusedKey(stage)
  await stoppedAgent(stage)
  await spentBudget(stage)
  await verified(stage)
  await runbooks(stage)
  await child(stage)
  await mainJob(stage)
}

/** A completion that its checks verify; beside it stand those that only claim to be done. */
async function verified(stage: DemoStage): Promise<void> {
  const agent = 'site'
  await make(stage, agent, 'demo/site')
  const body = {
    objective: 'Write the notes of the release',
    checks: [
      { kind: 'command' as const, name: 'tests', cmd: 'grep -c 2.4.0 NOTES.md' },
      {
        kind: 'file' as const,
        name: 'notes',
        path: 'NOTES.md',
        expect: { contains: '2.4.0' },
      },
    ],
  }
  await ask(stage, 'POST /agents/{agent}/work-items', { agent, body })
  await when(stage, 'the notes are verified', async () => {
    const item = await itemOf(stage, agent, body.objective)
    return item?.verification?.state === 'verified' ? item : undefined
  })
}

/** One item done, one that waits for a command, one for a time, and one that is worked on. */
async function mainJob(stage: DemoStage): Promise<void> {
  await make(stage, 'main', 'demo/main')
  await say(stage, 'main', 'Remove the dead feature flags.')
  await settled(stage, 'main', 'Remove the dead', 'completed')
  await say(stage, 'main', 'Port the fixtures to the new grammar.')
  await settled(stage, 'main', 'Port the fixtures', 'waiting_task')
  await say(stage, 'main', 'Watch CI for flaky tests, every half hour.')
  await settled(stage, 'main', 'Watch CI', 'waiting_timer')
  const body = {
    label: 'The nightly build',
    text: 'Look at the nightly build.',
    spec: { kind: 'cron' as const, expression: '0 7 * * 1-5', time_zone: 'UTC' },
  }
  await ask(stage, 'POST /agents/{agent}/schedules', { agent: 'main', body })
  await say(stage, 'main', 'Upgrade the parser to ES2027 syntax. Keep the old entry point.')
  await runningCommand(stage, 'main', 'test.sh all', 'running')
  await watches(stage, 'main')
}

async function question(stage: DemoStage): Promise<void> {
  await make(stage, 'release', 'demo/release')
  await say(stage, 'release', 'Release 2.4.0. Ask me before anything is tagged.')
  await settled(stage, 'release', 'Release 2.4.0', 'waiting_operator')
}

/** The provider answers 401: the agent is held until a person has seen to it. */
async function refusedKey(stage: DemoStage): Promise<void> {
  await make(stage, 'docs', 'expired/docs')
  const body = { objective: 'Write the migration guide' }
  await ask(stage, 'POST /agents/{agent}/work-items', { agent: 'docs', body })
  await when(stage, 'docs is held', async () => {
    const { posture } = await ask(stage, 'GET /agents/{agent}', { agent: 'docs' })
    return posture === 'wait:system' ? posture : undefined
  })
}

/** Two events arrive for an agent that a person has stopped. */
async function stoppedAgent(stage: DemoStage): Promise<void> {
  const agent = 'ops'
  await make(stage, agent, 'demo/ops')
  await say(stage, agent, 'Rotate the staging password once the checks are green.')
  const item = await settled(stage, agent, 'Rotate', 'waiting_external')
  await ask(stage, 'POST /agents/{agent}/stop', { agent })
  const fixed = { source: 'github', resource: 'check_suite' }
  const made = await ask(stage, 'POST /agents/{agent}/triggers', {
    agent,
    body: { label: 'Checks of the parser', ...fixed },
  })
  for (const conclusion of ['failure', 'success']) {
    const body = JSON.stringify({ conclusion })
    const headers = { 'content-type': 'application/json' }
    const sent = await fetch(made.trigger?.url ?? '', { method: 'POST', headers, body })
    if (sent.status !== 202) throw new Error(`an event was answered ${sent.status}`)
  }
  await when(stage, 'the events count', async () => {
    const { wait } = (await itemOf(stage, agent, item.objective)) ?? {}
    return wait?.trigger_count === 2 ? wait : undefined
  })
}

/** The item is queued; the agent picks it up and spends what it may. */
async function spentBudget(stage: DemoStage): Promise<void> {
  await make(stage, 'writer', 'demo/writer')
  const body = { objective: 'Rewrite the handbook', budget: { max_rounds: 2 } }
  await ask(stage, 'POST /agents/{agent}/work-items', { agent: 'writer', body })
  await settled(stage, 'writer', 'Rewrite', 'waiting_operator')
}

/** A parent that waits for its child, and the child at work. */
async function child(stage: DemoStage): Promise<void> {
  await make(stage, 'review', 'demo/review')
  await say(stage, 'review', 'Review the open changes. Let a reader go through them first.')
  await settled(stage, 'review', 'Review', 'waiting_task')
  await runningCommand(stage, 'review.1', 'port.sh', 'running')
  await watches(stage, 'review.1')
}

/** Its command runs beside it, and it waits for the end of it in its newest request. */
const watches = (stage: DemoStage, agent: string) =>
  when(stage, `${agent} watches its command`, async () => {
    const { turns } = await ask(stage, 'GET /agents/{agent}/turns', { agent, query: { limit: 1 } })
    const turn = turns.at(-1)?.id ?? ''
    const { rounds } = await ask(stage, 'GET /agents/{agent}/turns/{turn}', { agent, turn })
    const calls = rounds.at(-1)?.calls ?? []
    return calls.find(({ tool_name, state }) => tool_name === 'TaskOutput' && state === 'started')
  })

/** It says the same on every machine. */
const whole = [
  '# Check that the project is whole',
  '## Sources',
  '```sh\nls src | wc -l\n```',
  '## Changelog',
  '```sh\nhead -n 1 CHANGELOG.md\n```',
  '## Package',
  '```sh\ngrep -o \'"version": "[^"]*"\' package.json\n```',
  '',
].join('\n\n')

/** A runbook that ends well and one whose step fails: no model, no key, no cost. */
async function runbooks(stage: DemoStage): Promise<void> {
  await make(stage, 'night', 'runbook')
  await say(stage, 'night', whole)
  await settled(stage, 'night', 'Check that the project', 'completed')
  await say(
    stage,
    'night',
    '# Check that the mirror answers\n\n## Ask it\n\n```sh\necho "no answer"; exit 3\n```\n',
  )
  await settled(stage, 'night', 'Check that the mirror', 'blocked')
}
