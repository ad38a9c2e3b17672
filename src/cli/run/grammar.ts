/** The grammar of what is said to agents: run, send, take-back, answer. */
import { exits } from '../command/failure.ts'
import { writes, type Grammar } from '../command/grammar.ts'

export const runCommands: readonly Grammar[] = [
  {
    name: 'run',
    about: 'say something to an agent, or run a runbook, and see it through',
    arguments: { '[text...]': 'what is to be done, a runbook file (.md), or - for standard input' },
    options: {
      '--agent <name>': 'the agent (default: main, or runbooks for a runbook; made at first use)',
      '--model <provider/model>': 'its model from now on (HOLON_MODEL)',
      '--workspace <folder>': 'the folder it works in from now on',
      '--resume': 'send nothing; go on with everything open',
      '--no-input': 'never ask; exit 3 when a question is open',
    },
    repeated: {
      '--image <file>': 'a PNG, JPEG, GIF or WebP to show with the words; again for more',
    },
    examples: [
      'holon run "port the fixtures" --workspace ~/src/app',
      'holon run examples/health.md',
      'holon run notes.md --model openai/gpt-5.2   the text of the file, to a model',
      'holon run "why is this cut off?" --image shot.png',
      'holon run --resume                          send nothing, go on',
    ],
    exits: {
      ...writes,
      [exits.done]: 'everything it worked on is done',
      [exits.failed]: 'the last turn failed or gave up, nothing came of it, or the agent is held',
      [exits.waits]: 'waits for someone, or for an event',
      [exits.interrupted]: 'interrupted; ctrl-c ends at the next safe point, twice at once',
    },
    run: async (context, words: string[], options: object) =>
      (await import('./run.ts')).run(context, words, options),
  },
  {
    name: 'send',
    about: 'send a message to an agent, an item or a question',
    arguments: { '<text>': 'the message' },
    options: {
      '--agent <name>': 'the agent (default: main)',
      '--wait <wait>': 'the question it answers',
      '--work-item <item>': 'the item it is about',
      '--now': 'into the turn that runs, at its next safe point',
      '--start': 'start the agent when it is stopped',
    },
    repeated: {
      '--image <file>': 'a PNG, JPEG, GIF or WebP to show with the words; again for more',
    },
    examples: [
      'holon send "leave the fixtures as they are"',
      'holon send --work-item work_7f3a "and add a test"',
      'holon send "it shall look like this" --image sketch.png',
    ],
    exits: writes,
    run: async (context, text: string, options: object) =>
      (await import('./send.ts')).send(context, text, options),
  },
  {
    name: 'take-back',
    about: 'take a message back that no turn has read',
    arguments: { '<message>': 'as send printed it, like msg_7f3a' },
    examples: ['holon take-back msg_7f3a', 'holon take-back msg_7f3a --quiet'],
    exits: writes,
    run: async (context, message: string) => (await import('./send.ts')).takeBack(context, message),
  },
  {
    name: 'answer',
    about: 'answer a question',
    arguments: {
      '<wait|item|task>': 'the question, the item that asks it, or a held command',
      '<text>': 'the answer; to a held command a choice, and what is said with it',
    },
    options: { '--mark <mark>': 'of the held command as it was shown' },
    examples: [
      'holon answer wait_3c1e 2                    a choice, by its key or label',
      'holon answer work_b210 "only the second one"',
      'holon answer task_91ce yes --mark 3fa2c1     a command that a rule holds',
    ],
    exits: writes,
    run: async (context, target: string, text: string, options: object) =>
      (await import('./answer.ts')).answer(context, target, text, options),
  },
]
