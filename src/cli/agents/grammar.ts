/** The grammar of who works and what runs: agents, tasks, and the worktrees of children. */
import { exits } from '../command/failure.ts'
import { things, writes, reads, type Grammar } from '../command/grammar.ts'

export const agentCommands: readonly Grammar[] = [
  {
    name: 'agents',
    about: 'every agent and what it does; show, create, configure, start, stop, abort, delete',
    examples: ['holon agents', 'holon agents start docs'],
    run: async (context) => (await import('./agents.ts')).agents(context),
    commands: [
      {
        name: 'list',
        about: 'every agent and what it does',
        examples: ['holon agents list --json | jq .agents', 'holon agents list'],
        run: async (context) => (await import('./agents.ts')).agents(context),
      },
      {
        name: 'show',
        about: 'one agent: what it does and why, and its children',
        arguments: { '<agent>': things.agent },
        examples: ['holon agents show main', 'holon agents show main.1'],
        run: async (context, agent: string) =>
          (await import('./agent-show.ts')).agentShow(context, agent),
      },
      {
        name: 'create',
        about: 'a new agent',
        arguments: { '<agent>': 'its name, never used again' },
        options: {
          '--model <provider/model>': 'who thinks (default: none until it is configured)',
          '--fallback-model <provider/model>': 'who thinks when that one is spent',
          '--workspace <folder>': 'the folder it works in (default: its own)',
          '--template <name>': 'a folder of templates/ in the home: files and defaults',
          '--preset <name>':
            'what it may do unasked: watch, work, alone or open (default: the home)',
          '--dangerously': 'with --preset open: nothing it does is asked about',
        },
        examples: [
          'holon agents create docs --model openai/gpt-5.2 --workspace ~/src/docs',
          'holon agents create triage --template reviewer',
        ],
        exits: writes,
        run: async (context, agent: string, options: object) =>
          (await import('./agent-acts.ts')).createAgent(context, agent, options),
      },
      {
        name: 'configure',
        about: 'change its settings, from its next turn on',
        arguments: { '<agent>': things.agent },
        options: {
          '--model <provider/model>': 'who thinks from now on',
          '--fallback-model <provider/model>': 'who thinks when that one is spent',
          '--no-fallback': 'nobody thinks then',
          '--workspace <folder>': 'the folder it works in from now on',
          '--max-usd <n>': 'it and those it makes stop at so many US dollars; none: no limit',
          '--max-tokens <n>': 'and at so many tokens, in and out',
          '--max-rounds <n>': 'and at so many requests',
          '--per <day|all>': 'what these limits are of: each UTC day, or all (default)',
          '--preset <name>': 'what it may do unasked: watch, work, alone, open; home: as the home',
          '--dangerously': 'with --preset open: nothing it does is asked about',
        },
        examples: [
          'holon agents configure docs --workspace ~/src/handbook',
          'holon agents configure docs --model openai/gpt-5.2 --no-fallback',
        ],
        exits: writes,
        run: async (context, agent: string, options: object) =>
          (await import('./agent-acts.ts')).configureAgent(context, agent, options),
      },
      {
        name: 'abort',
        about: 'end its turn now, and stop it; background commands go on',
        arguments: { '<agent>': things.agent },
        options: { '--no-stop': 'let it go on with what comes next' },
        examples: ['holon agents abort docs', 'holon agents abort docs --no-stop'],
        exits: writes,
        run: async (context, agent: string, options: object) =>
          (await import('./agent-acts.ts')).abort(context, agent, options),
      },
      {
        name: 'delete',
        about: 'end an agent for good; its history stays',
        arguments: { '<agent>': things.agent },
        examples: ['holon agents delete docs', 'holon agents delete docs --quiet'],
        exits: writes,
        run: async (context, agent: string) =>
          (await import('./agent-acts.ts')).onAgent(context, 'delete', agent),
      },
      {
        name: 'start',
        about: 'let an agent go on, also after a hold',
        arguments: { '<agent>': things.agent },
        examples: ['holon agents start docs', 'holon agents start main'],
        exits: writes,
        run: async (context, agent: string) =>
          (await import('./agent-acts.ts')).onAgent(context, 'start', agent),
      },
      {
        name: 'stop',
        about: 'start no turn until it is started',
        arguments: { '<agent>': things.agent },
        examples: ['holon agents stop docs', 'holon agents stop main'],
        exits: writes,
        run: async (context, agent: string) =>
          (await import('./agent-acts.ts')).onAgent(context, 'stop', agent),
      },
    ],
  },
  {
    name: 'tasks',
    about: 'commands and children that run; show, output, follow, input, stop',
    options: { '--all': 'ended ones too', '--agent <name>': 'only this agent' },
    examples: ['holon tasks --all', 'holon tasks output task_91c2'],
    run: async (context, options: object) => (await import('./tasks.ts')).tasks(context, options),
    commands: [
      {
        name: 'show',
        about: 'one task: its command, how it stands, how it ended',
        arguments: { '<task>': things.task },
        examples: ['holon tasks show task_91c2', 'holon tasks show task_91c2 --json | jq .status'],
        run: async (context, task: string) => (await import('./tasks.ts')).taskShow(context, task),
      },
      {
        name: 'output',
        about: 'what it wrote, or what a child has told',
        arguments: { '<task>': things.task },
        options: {
          '--stream <name>': 'only this one: stdout or stderr',
          '--tail <n>': 'only the last so many lines',
        },
        examples: [
          'holon tasks output task_91c2 --tail 20',
          'holon tasks output task_91c2 --stream stderr',
        ],
        run: async (context, task: string, options: object) =>
          (await import('./task-output.ts')).taskOutput(context, task, options),
      },
      {
        name: 'follow',
        about: 'see what it does until it ends; ctrl-c leaves it',
        arguments: { '<task>': things.task },
        examples: ['holon tasks follow task_91c2', 'holon tasks follow task_91c2 --quiet'],
        exits: {
          ...reads,
          [exits.done]: 'it ended well',
          [exits.failed]: 'it did not',
          [exits.waits]: 'its end is not recorded yet',
          [exits.interrupted]: 'you left; it goes on',
        },
        run: async (context, task: string) =>
          (await import('./task-follow.ts')).taskFollow(context, task),
      },
      {
        name: 'input',
        about: 'give a command a line to read, or tell a child something',
        arguments: { '<task>': things.task, '[text]': 'the line, or the message' },
        options: {
          '--end': 'end the input of a command behind it',
          '--no-line': 'as it is, without a line break',
        },
        examples: [
          'holon tasks input task_91c2 yes',
          'holon tasks input task_91c2 "use the second one"   a child is told so',
          'holon tasks input task_91c2 --end',
        ],
        exits: writes,
        run: async (context, task: string, text: string | undefined, options: object) =>
          (await import('./task-acts.ts')).taskInput(context, task, text, options),
      },
      {
        name: 'stop',
        about: 'stop it: TERM, then KILL, then proof',
        arguments: { '<task>': things.task },
        examples: ['holon tasks stop task_91c2', 'holon tasks stop task_91c2 --quiet'],
        exits: writes,
        run: async (context, task: string) =>
          (await import('./task-acts.ts')).stopTask(context, task),
      },
    ],
  },
  {
    name: 'worktree',
    about: 'worktrees of children; list, snapshot, restore, discard, remove',
    examples: ['holon worktree list', 'holon worktree discard task_91c2'],
    commands: [
      {
        name: 'list',
        about: 'what there is, and what would be lost',
        options: { '--agent <name>': 'only of this agent', '--all': 'those that are gone, too' },
        examples: ['holon worktree list --all', 'holon worktree list --json | jq .worktrees'],
        run: async (context, options: object) =>
          (await import('./worktrees.ts')).worktrees(context, options),
      },
      {
        name: 'snapshot',
        about: 'keep everything in it under a ref; it stays as it is',
        arguments: { '<task>': 'the task that owns it' },
        examples: ['holon worktree snapshot task_91c2', 'holon worktree snapshot task_91c2 --json'],
        exits: writes,
        run: async (context, task: string) =>
          (await import('./worktrees.ts')).onWorktree(context, 'snapshot', task),
      },
      {
        name: 'restore',
        about: 'bring it back from its snapshot',
        arguments: { '<task>': 'the task that owns it' },
        examples: ['holon worktree restore task_91c2', 'holon worktree restore task_91c2 --json'],
        exits: writes,
        run: async (context, task: string) =>
          (await import('./worktrees.ts')).onWorktree(context, 'restore', task),
      },
      {
        name: 'discard',
        about: 'keep a snapshot, then remove it with whatever is in it',
        arguments: { '<task>': 'the task that owns it' },
        examples: ['holon worktree discard task_91c2', 'holon worktree discard task_91c2 --json'],
        exits: writes,
        run: async (context, task: string) =>
          (await import('./worktrees.ts')).onWorktree(context, 'discard', task),
      },
      {
        name: 'remove',
        about: 'remove it; refused unless it is clean and merged',
        arguments: { '<task>': 'the task that owns it' },
        examples: ['holon worktree remove task_91c2', 'holon worktree remove task_91c2 --json'],
        exits: writes,
        run: async (context, task: string) =>
          (await import('./worktrees.ts')).onWorktree(context, 'remove', task),
      },
    ],
  },
]
