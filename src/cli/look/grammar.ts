/** The grammar of looking: what needs you, what is waited for, what was said and sent. */
import { exits } from '../command/failure.ts'
import { policyCommand } from './policy-grammar.ts'
import { things, writes, reads, type Grammar } from '../command/grammar.ts'

export const lookCommands: readonly Grammar[] = [
  {
    name: 'inbox',
    about: 'what needs you; snooze, dismiss',
    examples: ['holon inbox', 'holon inbox snooze wait_3c1e --for 2h'],
    run: async (context) => (await import('./inbox.ts')).inbox(context),
    commands: [
      {
        name: 'snooze',
        about: 'put an entry away for a while, unless it changes',
        arguments: { '<entry>': 'what it is about, like wait_3c1e' },
        options: {
          '--for <duration>': 'for so long: 30m, 2h, 1d',
          '--until <time>': 'until then: 2030-12-01T09:00',
        },
        examples: [
          'holon inbox snooze wait_3c1e --for 2h',
          'holon inbox snooze wait_3c1e --until 2030-12-01T09:00',
        ],
        exits: writes,
        run: async (context, entry: string, options: object) =>
          (await import('./inbox.ts')).snooze(context, entry, options),
      },
      {
        name: 'dismiss',
        about: 'put an entry away until it changes',
        arguments: { '<entry>': 'what it is about, like wait_3c1e' },
        examples: ['holon inbox dismiss turn_40aa', 'holon inbox dismiss wait_3c1e --quiet'],
        exits: writes,
        run: async (context, entry: string) => (await import('./inbox.ts')).dismiss(context, entry),
      },
    ],
  },
  {
    name: 'waits',
    about: 'what is waited for, and what wakes it; cancel',
    options: { '--agent <name>': 'only this agent' },
    examples: ['holon waits', 'holon waits cancel wait_40aa'],
    run: async (context, options: object) => (await import('./waits.ts')).waits(context, options),
    commands: [
      {
        name: 'cancel',
        about: 'cancel a wait',
        arguments: { '<wait>': things.wait },
        examples: ['holon waits cancel wait_40aa', 'holon waits cancel wait_40aa --quiet'],
        exits: writes,
        run: async (context, wait: string) =>
          (await import('../command/act.ts')).cancelWait(context, wait),
      },
    ],
  },
  {
    name: 'grants',
    about: 'what commands may do without a question; revoke',
    options: { '--agent <name>': 'only this agent', '--all': 'ended ones too' },
    examples: ['holon grants', 'holon grants revoke grant_40aa', 'holon grants --all --json'],
    run: async (context, options: object) => (await import('./grants.ts')).grants(context, options),
    commands: [
      {
        name: 'revoke',
        about: 'take one back: what it allowed is asked about again',
        arguments: { '<grant>': things.grant },
        examples: ['holon grants revoke grant_40aa', 'holon grants revoke grant_40aa --quiet'],
        exits: writes,
        run: async (context, grant: string) =>
          (await import('./grants.ts')).revokeGrant(context, grant),
      },
    ],
  },
  {
    name: 'briefs',
    about: 'what agents reported, replied and asked',
    options: {
      '--agent <name>': 'only this agent',
      '--work-item <item>': 'only this item',
      '--limit <n>': 'the newest so many (default: 20)',
    },
    examples: ['holon briefs --work-item work_7f3a', 'holon briefs --agent docs --limit 3'],
    run: async (context, options: object) => (await import('./briefs.ts')).briefs(context, options),
  },
  {
    name: 'events',
    about: 'the events of the home, in order',
    options: {
      '--follow': 'go on as they come',
      '--after <seq>': 'only those behind this sequence number',
      '--limit <n>': 'at most so many (default: the newest 100)',
      '--agent <name>': 'only this agent',
      '--work-item <item>': 'only this item',
    },
    examples: ['holon events --follow', 'holon events --after 1200 --json'],
    run: async (context, options: object) => (await import('./events.ts')).events(context, options),
  },
  {
    name: 'search',
    about: 'everything that has these words, the best first',
    arguments: { '<words...>': 'words, "phrases" in quotes, and prefix*' },
    options: {
      '--agent <name>': 'only this agent',
      '--kind <kinds>': 'only these kinds: report,plan,message,call,file, …',
      '--limit <n>': 'at most so many (default: 20)',
    },
    examples: [
      'holon search decorators "metadata order"',
      'holon search parseConfig --kind plan,report --agent docs',
    ],
    run: async (context, words: string[], options: object) =>
      (await import('./search.ts')).search(context, words, options),
  },
  {
    name: 'context',
    about: 'what the model was sent: show',
    examples: ['holon context show', 'holon context show --agent docs'],
    commands: [
      {
        name: 'show',
        about: 'what a request was made of, and what was in a cache',
        arguments: {
          '[request]':
            'a turn or one of its requests: turn_7f3a, turn_7f3a:12 (default: the newest)',
        },
        options: {
          '--agent <name>': 'whose newest turn (default: main)',
          '--text': 'the whole text instead',
          '--diff <request>': 'instead how it differs from this one',
        },
        examples: [
          'holon context show turn_7f3a                its newest request, and the cost of each',
          'holon context show turn_7f3a:12 --text',
          'holon context show turn_7f3a:13 --diff turn_7f3a:12',
        ],
        run: async (given, request: string | undefined, options: object) =>
          (await import('./contexts.ts')).contextShow(given, request, options),
      },
    ],
  },
  policyCommand,
  {
    name: 'replay',
    about: 'decide an ended turn again from the ledger: no model, no effects',
    arguments: { '<turn>': 'the turn, like turn_7f3a' },
    examples: ['holon replay turn_7f3a', 'holon replay turn_7f3a --json'],
    exits: {
      ...reads,
      [exits.done]: 'the same',
      [exits.failed]: 'different, or its events were taken by retention',
    },
    run: async (context, turn: string) => (await import('./replay.ts')).replay(context, turn),
  },
]
