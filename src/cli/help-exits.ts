/**
 * What the help of every command says besides its own words: its exit codes, from the one list of
 * docs/spec/cli.md#exit-codes, and what the names of its arguments stand for.
 */
import type { Command } from 'commander'
import { exits } from './failure.ts'

type Codes = Readonly<Record<number, string>>

const reads: Codes = {
  [exits.done]: 'done',
  [exits.failed]: 'failed, or refused as things are',
  [exits.usage]: 'usage, or there is no such thing',
}
const owned = { [exits.owned]: 'home owned by another process that takes no commands' } as const
const writes: Codes = { ...reads, ...owned }

/** Commands that change a home, as they are or each below a group. */
const writing = ['send', 'take-back', 'answer', 'import', 'retention', 'trigger'].concat(
  ['create', 'update', 'unblock', 'pick', 'complete'].map((verb) => `work ${verb}`),
  ['add', 'rm', 'run', 'answer'].map((verb) => `work check ${verb}`),
  ['snooze', 'dismiss'].map((verb) => `inbox ${verb}`),
  ['input', 'stop'].map((verb) => `tasks ${verb}`),
  ['waits cancel', 'webhook test', 'webhook redeliver'],
  ['create', 'configure', 'abort', 'delete', 'start', 'stop'].map((verb) => `agents ${verb}`),
  ['snapshot', 'restore', 'discard', 'remove'].map((verb) => `worktree ${verb}`),
  ['create', 'reset', 'revoke'].map((verb) => `trigger ${verb}`),
  ['add', 'pause', 'resume', 'remove'].map((verb) => `schedule ${verb}`),
)

/** Those whose codes say more. */
const own: Readonly<Record<string, Codes>> = {
  run: {
    ...writes,
    [exits.done]: 'everything it worked on is completed',
    [exits.failed]: 'the last turn failed or gave up, nothing came of it, or the agent is held',
    [exits.waits]: 'waits for someone, or for an event',
    [exits.interrupted]: 'interrupted; ctrl-c ends at the next safe point, twice at once',
  },
  init: {
    ...reads,
    [exits.failed]: 'failed, or the test request did',
    [exits.interrupted]: 'left: nothing was written',
  },
  serve: { ...writes, [exits.done]: 'stopped' },
  start: { ...writes, [exits.done]: 'it serves' },
  status: { ...reads, [exits.done]: 'it runs', [exits.waits]: 'it does not run' },
  doctor: { ...reads, [exits.done]: 'all is well', [exits.failed]: 'something is not' },
  replay: {
    ...reads,
    [exits.done]: 'the same',
    [exits.failed]: 'different, or its events were taken by retention',
  },
  'tasks follow': {
    ...reads,
    [exits.done]: 'it ended well',
    [exits.failed]: 'it did not',
    [exits.waits]: 'its end is not recorded yet',
    [exits.interrupted]: 'you left; it goes on',
  },
}

/** By the words behind `holon`; the program itself has the list of all. */
export function codesOf(path: string): Codes {
  if (path === '') {
    const all = { [exits.waits]: 'waits for someone', [exits.interrupted]: 'interrupted' }
    return { ...reads, ...owned, ...all }
  }
  return own[path] ?? (writing.includes(path) ? writes : reads)
}

export function exitLines(path: string): string {
  const lines = Object.entries(codesOf(path)).map(
    ([code, says]) => `  ${code.padStart(3)}  ${says}`,
  )
  return `\nExit:\n${lines.join('\n')}\n`
}

/** Wherever an argument has this name it is the same thing. */
const things: Readonly<Record<string, string>> = {
  item: 'the work item, by its id or the end of it: work_7f3a',
  agent: 'the name of the agent',
  task: 'the task, by its id or the end of it: task_91c2',
  wait: 'the wait, by its id or the end of it: wait_40aa',
  trigger: 'the trigger, by its id or the end of it: trig_40aa',
  schedule: 'the schedule, by its id or the end of it: sched_40aa',
  delivery: 'the delivery, by its id or the end of it: dlv_40aa',
  name: 'the name of the check',
  'pass|fail': 'what you saw',
  key: 'the key, with dots: model, providers.local.kind',
  backup: 'the folder that `holon backup` made',
}

/** Says of every argument what it is, where its command has not. */
export function explainArguments(command: Command): void {
  for (const argument of command.registeredArguments) {
    if (argument.description === '') argument.description = things[argument.name()] ?? ''
  }
  for (const below of command.commands) explainArguments(below)
}
