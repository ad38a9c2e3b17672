/** The grammar of the world outside: triggers, webhooks and schedules. */
import { things, writes, type Grammar } from '../command/grammar.ts'

export const outsideCommands: readonly Grammar[] = [
  {
    name: 'trigger',
    about: 'fire an external wait by hand; list, create, reset, revoke',
    arguments: { '[wait]': 'the wait' },
    options: { '--body <text>': 'what came with the event' },
    examples: [
      `holon trigger wait_40aa --body '{"conclusion":"success"}'`,
      'holon trigger wait_40aa',
    ],
    exits: writes,
    run: async (context, wait: string | undefined, options: object) =>
      wait === undefined
        ? 'help'
        : (await import('../command/act.ts')).trigger(context, wait, options),
    commands: [
      {
        name: 'list',
        about: 'the URLs by which the outside reaches an agent',
        options: { '--agent <name>': 'only this agent', '--all': 'revoked ones too' },
        examples: ['holon trigger list --agent docs', 'holon trigger list --json | jq .triggers'],
        run: async (context, options: object) =>
          (await import('./triggers.ts')).triggers(context, options),
      },
      {
        name: 'create',
        about: 'a further URL',
        arguments: { '<label>': 'what it is for' },
        options: {
          '--agent <name>': 'the agent (default: main)',
          '--source <source>': 'what every delivery is from',
          '--resource <resource>': 'what every delivery is about',
          '--mode <mode>': 'enqueue_message or wake_hint (default: as each wait says)',
        },
        examples: [
          'holon trigger create "CI of the parser" --source ci --resource parser',
          'holon trigger create "Mail" --agent docs',
        ],
        exits: writes,
        run: async (context, label: string, options: object) =>
          (await import('./triggers.ts')).createTrigger(context, label, options),
      },
      {
        name: 'reset',
        about: 'a new URL; the old one is worthless',
        arguments: { '<trigger>': things.trigger },
        examples: [
          'holon trigger reset trig_40aa',
          'holon trigger reset trig_40aa --json | jq -r .said',
        ],
        exits: writes,
        run: async (context, trigger: string) =>
          (await import('./triggers.ts')).changeTrigger(context, 'reset', trigger),
      },
      {
        name: 'revoke',
        about: 'end it for good',
        arguments: { '<trigger>': things.trigger },
        examples: ['holon trigger revoke trig_40aa', 'holon trigger revoke trig_40aa --quiet'],
        exits: writes,
        run: async (context, trigger: string) =>
          (await import('./triggers.ts')).changeTrigger(context, 'revoke', trigger),
      },
    ],
  },
  {
    name: 'webhook',
    about: 'signed deliveries: list, test, deliveries, redeliver',
    examples: ['holon webhook list', 'holon webhook test github --agent docs'],
    commands: [
      {
        name: 'list',
        about: 'the webhooks of the configuration and their URLs',
        examples: ['holon webhook list', 'holon webhook list --json'],
        run: async (context) => (await import('./webhooks.ts')).webhooks(context),
      },
      {
        name: 'test',
        about: 'sign a delivery and send it to the daemon',
        arguments: { '<webhook>': 'its name in the configuration' },
        options: {
          '--agent <name>': 'the agent it is for (default: its first one, or main)',
          '--body <json>': 'what it says',
          '--event <event>': 'the event GitHub names beside the body (default: test)',
        },
        examples: [
          `holon webhook test ci --body '{"type":"build.failed"}'`,
          'holon webhook test github --agent docs',
        ],
        exits: writes,
        run: async (context, name: string, options: object) =>
          (await import('./webhooks.ts')).testWebhook(context, name, options),
      },
      {
        name: 'deliveries',
        about: 'what came by webhooks and triggers',
        options: {
          '--agent <name>': 'only to this agent',
          '--dead': 'only what no message could be made of',
          '--limit <n>': 'the newest so many (default: 50)',
        },
        examples: [
          'holon webhook deliveries --dead',
          'holon webhook deliveries --json | jq .deliveries',
        ],
        run: async (context, options: object) =>
          (await import('./webhooks.ts')).deliveries(context, options),
      },
      {
        name: 'redeliver',
        about: 'make a message of it, again',
        arguments: { '<delivery>': things.delivery },
        examples: ['holon webhook redeliver dlv_40aa', 'holon webhook redeliver dlv_40aa --quiet'],
        exits: writes,
        run: async (context, target: string) =>
          (await import('./webhooks.ts')).redeliver(context, target),
      },
    ],
  },
  {
    name: 'schedule',
    about: 'tell an agent something later, or regularly',
    examples: [
      'holon schedule add "Look at the nightly build." --cron "0 7 * * 1-5" --zone Europe/Rome',
      'holon schedule list',
    ],
    commands: [
      {
        name: 'add',
        about: 'schedule a message',
        arguments: { '<text>': 'what the agent is told' },
        options: {
          '--agent <name>': 'the agent (default: main)',
          '--work-item <item>': 'the item it is about',
          '--label <text>': 'what it is called (default: the first line)',
          '--at <time>': 'once, at this time',
          '--in <duration>': 'once, after 90s, 30m, 2h or 1d12h',
          '--cron <expression>': 'regularly: minute, hour, day, month, weekday',
          '--zone <name>': 'the time zone of --cron (default: of this machine)',
          '--missed <policy>': 'slots nobody was there for: once, skip or all (default: once)',
          '--overlap <policy>': 'while the last one waits: skip, queue or coalesce (default: skip)',
        },
        examples: [
          'holon schedule add "Is the release out?" --in 2h --work-item work_7f3a',
          'holon schedule add "Weekly report." --cron "0 9 * * 1" --missed skip',
        ],
        exits: writes,
        run: async (context, text: string, options: object) =>
          (await import('./schedules.ts')).addSchedule(context, text, options),
      },
      {
        name: 'list',
        about: 'what is scheduled, and when it is due',
        options: { '--agent <name>': 'only this agent', '--all': 'ended and removed ones too' },
        examples: ['holon schedule list --all', 'holon schedule list --json | jq .schedules'],
        run: async (context, options: object) =>
          (await import('./schedules.ts')).schedules(context, options),
      },
      {
        name: 'pause',
        about: 'fall due no more',
        arguments: { '<schedule>': things.schedule },
        examples: ['holon schedule pause sched_40aa', 'holon schedule pause sched_40aa --quiet'],
        exits: writes,
        run: async (context, schedule: string) =>
          (await import('./schedules.ts')).changeSchedule(context, 'pause', schedule),
      },
      {
        name: 'resume',
        about: 'go on from now',
        arguments: { '<schedule>': things.schedule },
        examples: ['holon schedule resume sched_40aa', 'holon schedule resume sched_40aa --quiet'],
        exits: writes,
        run: async (context, schedule: string) =>
          (await import('./schedules.ts')).changeSchedule(context, 'resume', schedule),
      },
      {
        name: 'remove',
        about: 'end it for good',
        arguments: { '<schedule>': things.schedule },
        examples: ['holon schedule remove sched_40aa', 'holon schedule remove sched_40aa --quiet'],
        exits: writes,
        run: async (context, schedule: string) =>
          (await import('./schedules.ts')).changeSchedule(context, 'remove', schedule),
      },
      {
        name: 'slots',
        about: 'each moment it was due, and what became of it',
        arguments: { '<schedule>': things.schedule },
        options: { '--limit <n>': 'the newest so many (default: 20)' },
        examples: [
          'holon schedule slots sched_40aa',
          'holon schedule slots sched_40aa --json | jq .slots',
        ],
        run: async (context, target: string, options: object) =>
          (await import('./schedules.ts')).slots(context, target, options),
      },
    ],
  },
]
