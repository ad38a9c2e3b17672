/**
 * An act of the operator as it is offered to clients, and every act by the doors that lead to it:
 * shell line, method and path, under the key that the rules know it by. One table for `can`, `why`
 * and the inbox. A line and a path name whole ids; a screen shortens them.
 */
import { z } from 'zod'
import type { Agent } from '../../domain/state/agent.ts'
import type { ActionKey } from '../../domain/operator/can.ts'
import type { Measured } from '../../domain/state/meter.ts'
import { raises as flags } from '../../domain/budgets/settle.ts'
import { modelLine } from '../../domain/explain/unread.ts'
import type { Wait } from '../../domain/state/wait.ts'
import { listOf } from '../scalar.ts'
export const can = z
  .strictObject({
    key: z.string().describe('Stable name of the action; programs decide by it.'),
    label: z.string().describe('For a person, in a few words.'),
    allowed: z.boolean(),
    cli: z
      .string()
      .nullable()
      .describe('The shell line; what stands in <…> is to be filled in. Null: there is none.'),
    method: z.enum(['GET', 'POST', 'PATCH', 'DELETE']).nullable(),
    path: z.string().nullable().describe('Null, with the method: there is no route for it.'),
    code: z.string().nullable().describe('The rejection it would get; null while allowed.'),
    why: z.string().nullable().describe('Why not, in one sentence; null while allowed.'),
  })
  .meta({ id: 'Can', description: 'An action, and whether it is allowed now.' })

export type Can = z.infer<typeof can>

export const canList = listOf(can)

/** An action that is allowed. */
export const offered = (action: Action): Can => ({
  ...action,
  allowed: true,
  code: null,
  why: null,
})

/** What an act is about: an agent by its name, or a thing of an agent. */
export type Subject = { agent_id: string; id: string }

export type ActionEndpoint = Pick<Can, 'cli' | 'method' | 'path'>

/** An action that somebody may take, under the label that fits the place it stands in. */
export type Action = Pick<Can, 'key' | 'label'> & ActionEndpoint

/** Acts of the machine on the way in, and what no button does. */
export type Offered = Exclude<ActionKey, 'deliver' | 'dead_letter' | 'create_agent'>

const doors: {
  readonly [K in Offered]: (s: Subject) => [cli: Can['cli'], method: Can['method'], path: string]
} = {
  send: ({ agent_id, id }) => [sendLine(agent_id, id), 'POST', `${of(agent_id)}/messages`],
  start_agent: ({ agent_id: a }) => [`holon agents start ${a}`, 'POST', `${of(a)}/start`],
  stop_agent: ({ agent_id: a }) => [`holon agents stop ${a}`, 'POST', `${of(a)}/stop`],
  abort: ({ agent_id: a }) => [`holon agents abort ${a}`, 'POST', `${of(a)}/abort`],
  configure_agent: ({ agent_id: a }) => [`holon agents configure ${a}`, 'PATCH', of(a)],
  delete_agent: ({ agent_id: a }) => [`holon agents delete ${a}`, 'DELETE', of(a)],
  create_item: ({ agent_id: a }) => [
    a === 'main' ? 'holon work create <objective>' : `holon work create --agent ${a} <objective>`,
    'POST',
    `${of(a)}/work-items`,
  ],
  import_item: ({ agent_id: a }) => [
    a === 'main' ? 'holon import <file>' : `holon import --agent ${a} <file>`,
    'POST',
    `${of(a)}/imports`,
  ],
  start_task: ({ agent_id: a }) => [null, 'POST', `${of(a)}/tasks`],
  create_trigger: ({ agent_id: a }) => [
    `holon trigger create --agent ${a} <label>`,
    'POST',
    `${of(a)}/triggers`,
  ],
  create_schedule: ({ agent_id: a }) => [
    `holon schedule add --agent ${a} <text>`,
    'POST',
    `${of(a)}/schedules`,
  ],
  pick: (s) => [`holon work pick ${s.id}`, 'POST', `${item(s)}/pick`],
  complete: (s) => [`holon work complete ${s.id}`, 'POST', `${item(s)}/complete`],
  unblock: (s) => [`holon work unblock ${s.id}`, 'PATCH', item(s)],
  update_item: (s) => [null, 'PATCH', item(s)],
  run_checks: (s) => [`holon work check run ${s.id}`, 'POST', `${item(s)}/checks/run`],
  answer_check: (s) => [
    `holon work check answer ${s.id} <name> <pass|fail>`,
    'POST',
    `${item(s)}/checks/<name>/answer`,
  ],
  answer: (s) => [`holon answer ${s.id} <text>`, 'POST', `${wait(s)}/answer`],
  answer_held: (s) => [`holon answer ${s.id} <choice>`, 'POST', `${task(s)}/answer`],
  trigger: (s) => [`holon trigger ${s.id}`, 'POST', `${wait(s)}/trigger`],
  take_back: (s) => [`holon take-back ${s.id}`, 'POST', `${message(s)}/take-back`],
  cancel_wait: (s) => [`holon waits cancel ${s.id}`, 'DELETE', wait(s)],
  stop_task: (s) => [`holon tasks stop ${s.id}`, 'POST', `${task(s)}/stop`],
  task_input: (s) => [`holon tasks input ${s.id} <text>`, 'POST', `${task(s)}/input`],
  snapshot_worktree: (s) => [`holon worktree snapshot ${s.id}`, 'POST', `${worktree(s)}/snapshot`],
  restore_worktree: (s) => [`holon worktree restore ${s.id}`, 'POST', `${worktree(s)}/restore`],
  discard_worktree: (s) => [`holon worktree discard ${s.id}`, 'POST', `${worktree(s)}/discard`],
  remove_worktree: (s) => [`holon worktree remove ${s.id}`, 'POST', `${worktree(s)}/remove`],
  revoke_grant: (s) => [`holon grants revoke ${s.id}`, 'DELETE', grant(s)],
  reset_trigger: (s) => [`holon trigger reset ${s.id}`, 'POST', `${trigger(s)}/reset`],
  revoke_trigger: (s) => [`holon trigger revoke ${s.id}`, 'DELETE', trigger(s)],
  redeliver: (s) => [
    `holon webhook redeliver ${s.id}`,
    'POST',
    `${of(s.agent_id)}/deliveries/${s.id}/redeliver`,
  ],
  change_schedule: (s) => [null, 'PATCH', schedule(s)],
  pause_schedule: (s) => [`holon schedule pause ${s.id}`, 'POST', `${schedule(s)}/pause`],
  resume_schedule: (s) => [`holon schedule resume ${s.id}`, 'POST', `${schedule(s)}/resume`],
  remove_schedule: (s) => [`holon schedule remove ${s.id}`, 'DELETE', schedule(s)],
  snooze: ({ id }) => [`holon inbox snooze ${id} --for 2h`, 'POST', `/attention/${id}/snooze`],
  dismiss: ({ id }) => [`holon inbox dismiss ${id}`, 'POST', `/attention/${id}/dismiss`],
}

const of = (agent_id: string): string => `/agents/${agent_id}`
const item = ({ agent_id, id }: Subject): string => `${of(agent_id)}/work-items/${id}`
const message = ({ agent_id, id }: Subject): string => `${of(agent_id)}/messages/${id}`
const wait = ({ agent_id, id }: Subject): string => `${of(agent_id)}/waits/${id}`
const task = ({ agent_id, id }: Subject): string => `${of(agent_id)}/tasks/${id}`
const worktree = ({ agent_id, id }: Subject): string => `${of(agent_id)}/worktrees/${id}`
const grant = ({ agent_id, id }: Subject): string => `${of(agent_id)}/grants/${id}`
const trigger = ({ agent_id, id }: Subject): string => `${of(agent_id)}/triggers/${id}`
const schedule = ({ agent_id, id }: Subject): string => `${of(agent_id)}/schedules/${id}`

/** To an item of the agent, or to the agent itself, of which `main` is the usual one. */
function sendLine(agent_id: string, id: string): string {
  if (id !== agent_id) return `holon send --work-item ${id} <text>`
  return agent_id === 'main' ? 'holon send <text>' : `holon send --agent ${agent_id} <text>`
}

export function actOn(key: Offered, label: string, subject: Subject): Action {
  const [cli, method, path] = doors[key](subject)
  return { key, label, cli, method, path }
}

/** An agent as the subject of an act. */
export const agentAs = (agent_id: string): Subject => ({ agent_id, id: agent_id })

/** More of what is used up, with the flags that the limits have. */
export const raiseBudget = (s: Subject, over: readonly Measured[]): Action => ({
  ...actOn('update_item', 'raise its budget', s),
  cli: `holon work update ${s.id} ${over.map(({ what }) => flags[what]).join(' ')}`,
})

/**
 * What lets an agent go on that a budget holds: more for whose it is, or a word where the operator
 * is asked. Of the home it stands in its configuration.
 */
function raises(agent_id: string, { runtime_cause, source, resource }: Wait): Action[] {
  if (runtime_cause === 'budget') {
    const own = actOn('configure_agent', 'give it a budget of its own', agentAs(agent_id))
    return resource === null ? [] : [{ ...own, cli: `${own.cli} --max-usd <n>` }]
  }
  if (resource === null) return []
  const subject = agentAs(resource)
  if (source === 'question') return [actOn('send', 'let them go on', subject)]
  const more = actOn('configure_agent', 'raise its budget', subject)
  return [{ ...more, cli: `${more.cli} --max-usd <n>` }]
}

/** What ends a hold: the model that is missing, more of what is used up, or another try. */
export function endsHold(agent: Agent, hold: Wait, has_owner: boolean): Action[] {
  const { id, model } = agent
  if (hold.runtime_cause === 'budget' || hold.runtime_cause === 'spending') return raises(id, hold)
  if (model === null) {
    const gives = actOn('configure_agent', 'give it a model', agentAs(id))
    return [{ ...gives, cli: modelLine(id) }]
  }
  const again = 'try again, once it is settled'
  return [has_owner ? actOn('start_agent', again, agentAs(id)) : resumeRun(again)]
}

/** A check that asks a person, by its name. */
export const answerCheck = (s: Subject, name: string): Action => ({
  ...actOn('answer_check', 'answer it', s),
  cli: `holon work check answer ${s.id} ${name} <pass|fail>`,
  path: `${item(s)}/checks/${name}/answer`,
})

/** Looking is no act: it is always allowed. */
export const lookAt = (s: Subject): Action => ({
  key: 'look',
  label: 'look at it',
  cli: `holon work show ${s.id}`,
  method: 'GET',
  path: item(s),
})

export const seeOutput = (s: Subject): Action => ({
  key: 'output',
  label: 'see its output',
  cli: `holon tasks output ${s.id}`,
  method: 'GET',
  path: `${task(s)}/output`,
})

/** What a run of one's own does: without an owner of the home nobody can be asked by HTTP. */
export const resumeRun = (label: string): Action => ({
  key: 'resume',
  label,
  cli: 'holon run --resume',
  method: null,
  path: null,
})
