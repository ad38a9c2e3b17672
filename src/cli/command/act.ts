/**
 * The writing commands: each is one command of the operator, carried out by whoever owns the home.
 * With an owner it goes through the owner's door; without one this process takes the home, commits
 * and leaves. Nothing runs because of it here: a run does.
 */
import { sendThroughDoor, untaken, type DoorAnswer } from '../../client/operator.ts'
import type { OperatorCommand, OperatorReply } from '../../protocol/acts/operator.ts'
import { problemOf, type Problem } from '../../protocol/problem.ts'
import { safeLine } from '../../present/text/safe.ts'
import { clockTimes } from '../../present/text/span.ts'
import { readConfig } from './config-file.ts'
import { modelSetting } from './settings.ts'
import { idOf, printJson, printLines, reading, viewsOf, zoneOf, type Context } from './context.ts'
import { asFailure, CliFailure, exits, refused, usage, wrongToken, type Exit } from './failure.ts'

/** Milliseconds in which an owner that has just begun must open its door. */
const doorPatience = 2_000
const lookEvery = 50

export type Accepted = OperatorReply & { ok: true }

/** Carries the command out. Throws a `CliFailure` when it is refused or cannot be delivered. */
export async function perform(context: Context, given: OperatorCommand): Promise<Accepted> {
  const { ports, home } = context
  const command = await withModel(context, given)
  const giveUpAt = ports.clock.monotonic() + doorPatience
  for (;;) {
    const reply = (await ports.owner(home.value))
      ? await throughDoor(context, command)
      : await byOurselves(context, command)
    if (reply !== null) {
      if (reply.ok) return reply
      const said = clockTimes(context.ids.within(reply.message), zoneOf(context))
      throw refused({ ...reply, message: said }, command.agent_id)
    }
    if (ports.clock.monotonic() >= giveUpAt) throw await noDoor(context)
    const paused = Promise.withResolvers<void>()
    ports.clock.after(lookEvery, paused.resolve)
    await paused.promise
  }
}

/** An agent that names no model is made with the one that is set; a template may have its own. */
async function withModel(
  { ports, home }: Context,
  command: OperatorCommand,
): Promise<OperatorCommand> {
  if (command.do !== 'create_agent' || command.template !== undefined) return command
  if ((command.model ?? null) !== null) return command
  const { config } = await readConfig(ports, home.value)
  const { value: model } = modelSetting(ports, undefined, config, '')
  return model === null ? command : { ...command, model }
}

/** Null: there is no door yet, or its owner has just gone. */
async function throughDoor(
  context: Context,
  command: OperatorCommand,
): Promise<OperatorReply | null> {
  const door = await context.ports.door(context.home.value)
  if (door === null) return null
  const answer = await sendThroughDoor(door, command, patienceOf(command))
  if (answer.ok) return answer.reply
  if (answer.code === 'closed') return null
  if (answer.code === 'unauthorized') throw wrongToken()
  throw new CliFailure(exits.failed, problemOfUntaken(door.address.pid, answer))
}

type Untaken = Extract<DoorAnswer, { message: string }>

function problemOfUntaken(pid: number, answer: Untaken): Problem {
  const detail = untaken(`process ${pid} owns the home and`, answer)
  switch (answer.code) {
    case 'refused':
      return problemOf('door_refused', detail)
    case 'unknown': {
      const hint = 'holon status says whether it answers; look before you say it again'
      return problemOf('outcome_unknown', detail, hint)
    }
  }
}

/** Milliseconds for what ends processes, and for git, which may have a large folder to copy. */
const [stopPatience, gitPatience] = [120_000, 900_000]

function patienceOf(command: OperatorCommand): number | undefined {
  if ('worktree_id' in command) return gitPatience
  const stops = ['stop_task', 'delete_agent', 'abort', 'task_input', 'revert_files']
  return stops.includes(command.do) ? stopPatience : undefined
}

/** Null: somebody else took the home first. */
async function byOurselves(
  context: Context,
  command: OperatorCommand,
): Promise<OperatorReply | null> {
  const { ports, home } = context
  const { config } = await readConfig(ports, home.value)
  try {
    const owned = await ports.own({ home: home.value, config })
    try {
      return await owned.host.act(command)
    } finally {
      await owned.close('safe_point')
    }
  } catch (error) {
    if (asFailure(error)?.exit === exits.owned) return null
    throw error
  }
}

async function noDoor({ ports, home }: Context): Promise<CliFailure> {
  const owner = await ports.owner(home.value)
  const who = owner === null ? 'another process' : `process ${owner.pid}`
  const problem = problemOf(
    'owned',
    `${who} owns the home ${home.value} and takes no commands`,
    'try again when it has finished, or choose another home with --home',
    503,
  )
  return new CliFailure(exits.owned, problem)
}

export async function act(context: Context, command: OperatorCommand): Promise<Exit> {
  return told(context, command, await perform(context, command))
}

/** What was said of the act, and each of its warnings; nothing with `--quiet`. */
export function replyLines(context: Context, { said, warnings }: Accepted): string[] {
  if (context.flags.quiet === true) return []
  const { ids } = context
  return [
    safeLine(clockTimes(ids.within(said), zoneOf(context))),
    ...warnings.map(({ message }) => safeLine(ids.within(`! ${message}`))),
  ]
}

/** Prints the reply, and who carries on with what it gave the agent to do. */
export async function told(
  context: Context,
  command: OperatorCommand,
  reply: Accepted,
): Promise<Exit> {
  if (context.flags.json === true) printJson(context, reply)
  else if (context.flags.quiet !== true) {
    const { ports } = context
    printLines(context, replyLines(context, reply))
    if (!wakes(command)) return exits.done
    if (await isStopped(context, command.agent_id)) {
      printLines(context, [
        `${command.agent_id} is stopped: holon agents start ${command.agent_id}`,
      ])
    } else if ((await ports.owner(context.home.value)) === null) {
      printLines(context, ['nothing runs now; go on with   holon run --resume'])
    }
  }
  return exits.done
}

const isStopped = (context: Context, agent: string): Promise<boolean> =>
  reading(context, async (reader) => (await reader.row('agents', agent))?.state === 'stopped')

/** Whether the act gives the agent something to do, so that a person wonders who does it. */
function wakes(command: OperatorCommand): boolean {
  switch (command.do) {
    case 'send':
    case 'unblock':
    case 'answer':
    case 'answer_held':
    case 'trigger':
    case 'deliver':
    case 'redeliver':
    case 'create_item':
    case 'update_item':
    case 'start_agent':
    case 'run_checks':
      return true
    case 'dead_letter':
    case 'create_trigger':
    case 'reset_trigger':
    case 'revoke_trigger':
    case 'create_schedule':
    case 'change_schedule':
    case 'pause_schedule':
    case 'resume_schedule':
    case 'remove_schedule':
    case 'create_agent':
    case 'configure_agent':
    case 'delete_agent':
    case 'snooze':
    case 'dismiss':
    case 'start_task':
    case 'import_item':
    case 'pick':
    case 'complete':
    case 'take_back':
    case 'cancel_wait':
    case 'revoke_grant':
    case 'stop_task':
    case 'task_input':
    case 'snapshot_worktree':
    case 'restore_worktree':
    case 'discard_worktree':
    case 'remove_worktree':
    case 'stop_agent':
    case 'abort':
    case 'answer_check':
    case 'revert_files':
      return false
  }
}

type Noun = 'work' | 'wait' | 'task' | 'msg'
export type RecordRef = {
  id: string
  agent_id: string
  work_item_id: string | null
  kind: string | null
}

/** What an id means, and whose it is. */
export function named(context: Context, text: string, nouns: readonly Noun[]): Promise<RecordRef> {
  return reading(context, async (reader) => {
    const id = await idOf(context, reader, text, nouns)
    const row = id.startsWith('work_')
      ? await reader.row('work_items', id)
      : id.startsWith('wait_')
        ? await reader.row('waits', id)
        : id.startsWith('msg_')
          ? await reader.row('messages', id)
          : await reader.row('tasks', id)
    if (row === null) throw new Error(`no row for ${id}`)
    const item = 'work_item_id' in row ? row.work_item_id : row.id
    const kind = 'cmd' in row ? row.kind : null
    return { id, agent_id: row.agent_id, work_item_id: item, kind }
  })
}

/** A message to an agent that was never made would make a home to be refused in. */
export const mustExist = (context: Context, agent: string): Promise<void> =>
  reading(context, async (reader, moment) => void (await viewsOf(reader, moment, agent)))

export async function trigger(
  context: Context,
  target: string,
  options: { body?: string },
): Promise<Exit> {
  const { id, agent_id } = await named(context, target, ['wait'])
  return act(context, { do: 'trigger', agent_id, wait_id: id, body: options.body ?? '' })
}

export async function onItem(
  context: Context,
  verb: 'pick' | 'complete' | 'unblock',
  target: string,
  options: { reason?: string; report?: string },
): Promise<Exit> {
  const { id, agent_id } = await named(context, target, ['work'])
  const base = { agent_id, work_item_id: id }
  switch (verb) {
    case 'pick':
      return act(context, {
        do: 'pick',
        ...base,
        ...(options.reason === undefined ? {} : { reason: options.reason }),
      })
    case 'complete':
      return act(context, {
        do: 'complete',
        ...base,
        ...(options.report === undefined ? {} : { report: options.report }),
      })
    case 'unblock':
      return act(context, { do: 'unblock', ...base })
  }
}

export async function cancelWait(context: Context, target: string): Promise<Exit> {
  const { id, agent_id } = await named(context, target, ['wait'])
  return act(context, { do: 'cancel_wait', agent_id, wait_id: id })
}

export function notEmpty(text: string, what: string, example: string): void {
  if (text.trim() === '') throw usage('message_empty', what, `write it, like ${example}`)
}
