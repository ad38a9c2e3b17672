/**
 * The part of the command line that is about who works and what runs: agents, tasks, and the
 * worktrees of children.
 */
import type { Command } from 'commander'
import type { Action, Add } from './grammar.ts'

export function addAgents(program: Command, add: Add, action: Action): void {
  const agents = add(
    program,
    'agents',
    'every agent and what it does; show, create, configure, start, stop, abort, delete',
  )
  agents.action(action(agents, async (context) => (await import('./agents.ts')).agents(context)))
  const list = add(agents, 'list', 'every agent and what it does')
  list.action(action(list, async (context) => (await import('./agents.ts')).agents(context)))
  const show = add(agents, 'show', 'one agent: what it does and why, and its children').argument(
    '<agent>',
  )
  show.action((agent: string) =>
    action(show, async (context) => (await import('./agent-show.ts')).agentShow(context, agent))(),
  )
  const create = add(agents, 'create', 'a new agent')
    .argument('<agent>', 'its name, never used again')
    .option('--model <provider/model>', 'who thinks (default: none until it is configured)')
    .option('--fallback-model <provider/model>', 'who thinks when that one is spent')
    .option('--workspace <folder>', 'the folder it works in (default: its own)')
    .option('--template <name>', 'a folder of templates/ in the home: files and defaults')
  create.action((agent: string, options: object) =>
    action(create, async (context) =>
      (await import('./agent-acts.ts')).createAgent(context, agent, options),
    )(),
  )
  const configure = add(agents, 'configure', 'change its settings, from its next turn on')
    .argument('<agent>')
    .option('--model <provider/model>', 'who thinks from now on')
    .option('--fallback-model <provider/model>', 'who thinks when that one is spent')
    .option('--no-fallback', 'nobody thinks then')
    .option('--workspace <folder>', 'the folder it works in from now on')
    .option('--max-usd <n>', 'it and those it makes stop at so many US dollars; none: no limit')
    .option('--max-tokens <n>', 'and at so many tokens, in and out')
    .option('--max-rounds <n>', 'and at so many requests')
    .option('--per <day|all>', 'what these limits are of: each UTC day, or all (default)')
  configure.action((agent: string, options: object) =>
    action(configure, async (context) =>
      (await import('./agent-acts.ts')).configureAgent(context, agent, options),
    )(),
  )
  const abort = add(agents, 'abort', 'end its turn now, and stop it; background commands go on')
    .argument('<agent>')
    .option('--no-stop', 'let it go on with what comes next')
  abort.action((agent: string, options: object) =>
    action(abort, async (context) =>
      (await import('./agent-acts.ts')).abort(context, agent, options),
    )(),
  )
  const remove = add(agents, 'delete', 'end an agent for good; its history stays').argument(
    '<agent>',
  )
  remove.action((agent: string) =>
    action(remove, async (context) =>
      (await import('./agent-acts.ts')).onAgent(context, 'delete', agent),
    )(),
  )
  for (const verb of ['start', 'stop'] as const) {
    const about =
      verb === 'start'
        ? 'let an agent go on, also after a hold'
        : 'start no turn until it is started'
    const command = add(agents, verb, about).argument('<agent>')
    command.action((agent: string) =>
      action(command, async (context) =>
        (await import('./agent-acts.ts')).onAgent(context, verb, agent),
      )(),
    )
  }
}

export function addTasks(program: Command, add: Add, action: Action): void {
  const tasks = add(
    program,
    'tasks',
    'commands and children that run; show, output, follow, input, stop',
  )
    .option('--all', 'ended ones too')
    .option('--agent <name>', 'only this agent')
  tasks.action((options: object) =>
    action(tasks, async (context) => (await import('./tasks.ts')).tasks(context, options))(),
  )
  const show = add(tasks, 'show', 'one task: its command, how it stands, how it ended').argument(
    '<task>',
  )
  show.action((task: string) =>
    action(show, async (context) => (await import('./tasks.ts')).taskShow(context, task))(),
  )
  const output = add(tasks, 'output', 'what it wrote, or what a child has told')
    .argument('<task>')
    .option('--stream <name>', 'only this one: stdout or stderr')
    .option('--tail <n>', 'only the last so many lines')
  output.action((task: string, options: object) =>
    action(output, async (context) =>
      (await import('./task-output.ts')).taskOutput(context, task, options),
    )(),
  )
  const follow = add(tasks, 'follow', 'see what it does until it ends; ctrl-c leaves it').argument(
    '<task>',
  )
  follow.action((task: string) =>
    action(follow, async (context) =>
      (await import('./task-follow.ts')).taskFollow(context, task),
    )(),
  )
  const input = add(tasks, 'input', 'give a command a line to read, or tell a child something')
    .argument('<task>')
    .argument('[text]', 'the line, or the message')
    .option('--end', 'end the input of a command behind it')
    .option('--no-line', 'as it is, without a line break')
  input.action((task: string, text: string | undefined, options: object) =>
    action(input, async (context) =>
      (await import('./task-acts.ts')).taskInput(context, task, text, options),
    )(),
  )
  const stop = add(tasks, 'stop', 'stop it: TERM, then KILL, then proof').argument('<task>')
  stop.action((task: string) =>
    action(stop, async (context) => (await import('./task-acts.ts')).stopTask(context, task))(),
  )
}

export function addWorktrees(program: Command, add: Add, action: Action): void {
  const about = 'worktrees of children; list, snapshot, restore, discard, remove'
  const worktree = add(program, 'worktree', about)
  const list = add(worktree, 'list', 'what there is, and what would be lost')
    .option('--agent <name>', 'only of this agent')
    .option('--all', 'those that are gone, too')
  list.action((options: object) =>
    action(list, async (context) => (await import('./worktrees.ts')).worktrees(context, options))(),
  )
  const verbs = {
    snapshot: 'keep everything in it under a ref; it stays as it is',
    restore: 'bring it back from its snapshot',
    discard: 'keep a snapshot, then remove it with whatever is in it',
    remove: 'remove it; refused unless it is clean and merged',
  }
  for (const verb of ['snapshot', 'restore', 'discard', 'remove'] as const) {
    const command = add(worktree, verb, verbs[verb]).argument('<task>', 'the task that owns it')
    command.action((task: string) =>
      action(command, async (context) =>
        (await import('./worktrees.ts')).onWorktree(context, verb, task),
      )(),
    )
  }
}
