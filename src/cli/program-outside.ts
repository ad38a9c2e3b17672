/**
 * The part of the command line that is about the world outside: triggers, webhooks and schedules;
 * and about keeping a home.
 */
import type { Command } from 'commander'
import type { Action, Add } from './grammar.ts'

export function addOutside(program: Command, add: Add, action: Action): void {
  addTriggers(program, add, action)
  addWebhooks(program, add, action)
  addSchedules(program, add, action)
}

function addTriggers(program: Command, add: Add, action: Action): void {
  const trigger = add(
    program,
    'trigger',
    'fire an external wait by hand; list, create, reset, revoke',
  )
    .argument('[wait]', 'the wait')
    .option('--body <text>', 'what came with the event')
  trigger.action((target: string | undefined, options: object) => {
    // It ends in an error, as every group of commands does without one.
    if (target === undefined) return trigger.help({ error: true })
    return action(trigger, async (context) =>
      (await import('./act.ts')).trigger(context, target, options),
    )()
  })
  const list = add(trigger, 'list', 'the URLs by which the outside reaches an agent')
    .option('--agent <name>', 'only this agent')
    .option('--all', 'revoked ones too')
  list.action((options: object) =>
    action(list, async (context) => (await import('./triggers.ts')).triggers(context, options))(),
  )
  const create = add(trigger, 'create', 'a further URL')
    .argument('<label>', 'what it is for')
    .option('--agent <name>', 'the agent (default: main)')
    .option('--source <source>', 'what every delivery is from')
    .option('--resource <resource>', 'what every delivery is about')
    .option('--mode <mode>', 'enqueue_message or wake_hint (default: as each wait says)')
  create.action((label: string, options: object) =>
    action(create, async (context) =>
      (await import('./triggers.ts')).createTrigger(context, label, options),
    )(),
  )
  for (const verb of ['reset', 'revoke'] as const) {
    const about = verb === 'reset' ? 'a new URL; the old one is worthless' : 'end it for good'
    const command = add(trigger, verb, about).argument('<trigger>')
    command.action((target: string) =>
      action(command, async (context) =>
        (await import('./triggers.ts')).changeTrigger(context, verb, target),
      )(),
    )
  }
}

function addWebhooks(program: Command, add: Add, action: Action): void {
  const webhook = add(program, 'webhook', 'signed deliveries: list, test, deliveries, redeliver')
  const list = add(webhook, 'list', 'the webhooks of the configuration and their URLs')
  list.action(action(list, async (context) => (await import('./webhooks.ts')).webhooks(context)))
  const test = add(webhook, 'test', 'sign a delivery and send it to the daemon')
    .argument('<webhook>', 'its name in the configuration')
    .option('--agent <name>', 'the agent it is for (default: its first one, or main)')
    .option('--body <json>', 'what it says')
    .option('--event <event>', 'the event GitHub names beside the body (default: test)')
  test.action((name: string, options: object) =>
    action(test, async (context) =>
      (await import('./webhooks.ts')).testWebhook(context, name, options),
    )(),
  )
  const deliveries = add(webhook, 'deliveries', 'what came by webhooks and triggers')
    .option('--agent <name>', 'only to this agent')
    .option('--dead', 'only what no message could be made of')
    .option('--limit <n>', 'the newest so many (default: 50)')
  deliveries.action((options: object) =>
    action(deliveries, async (context) =>
      (await import('./webhooks.ts')).deliveries(context, options),
    )(),
  )
  const redeliver = add(webhook, 'redeliver', 'make a message of it, again').argument('<delivery>')
  redeliver.action((target: string) =>
    action(redeliver, async (context) =>
      (await import('./webhooks.ts')).redeliver(context, target),
    )(),
  )
}

function addSchedules(program: Command, add: Add, action: Action): void {
  const schedule = add(program, 'schedule', 'tell an agent something later, or regularly')
  const create = add(schedule, 'add', 'schedule a message')
    .argument('<text>', 'what the agent is told')
    .option('--agent <name>', 'the agent (default: main)')
    .option('--work-item <item>', 'the item it is about')
    .option('--label <text>', 'what it is called (default: the first line)')
    .option('--at <time>', 'once, at this time')
    .option('--in <duration>', 'once, after 90s, 30m, 2h or 1d12h')
    .option('--cron <expression>', 'regularly: minute, hour, day, month, weekday')
    .option('--zone <name>', 'the time zone of --cron (default: of this machine)')
    .option('--missed <policy>', 'slots nobody was there for: once, skip or all (default: once)')
    .option(
      '--overlap <policy>',
      'while the last one waits: skip, queue or coalesce (default: skip)',
    )
  create.action((text: string, options: object) =>
    action(create, async (context) =>
      (await import('./schedules.ts')).addSchedule(context, text, options),
    )(),
  )
  const list = add(schedule, 'list', 'what is scheduled, and when it is due')
    .option('--agent <name>', 'only this agent')
    .option('--all', 'ended and removed ones too')
  list.action((options: object) =>
    action(list, async (context) => (await import('./schedules.ts')).schedules(context, options))(),
  )
  const verbs = { pause: 'fall due no more', resume: 'go on from now', remove: 'end it for good' }
  for (const verb of ['pause', 'resume', 'remove'] as const) {
    const command = add(schedule, verb, verbs[verb]).argument('<schedule>')
    command.action((target: string) =>
      action(command, async (context) =>
        (await import('./schedules.ts')).changeSchedule(context, verb, target),
      )(),
    )
  }
  const slots = add(schedule, 'slots', 'each moment it was due, and what became of it')
    .argument('<schedule>')
    .option('--limit <n>', 'the newest so many (default: 20)')
  slots.action((target: string, options: object) =>
    action(slots, async (context) =>
      (await import('./schedules.ts')).slots(context, target, options),
    )(),
  )
}

export function addUpkeep(program: Command, add: Add, action: Action): void {
  const backup = add(program, 'backup', 'copy the home as it is, while whoever owns it goes on')
    .argument('<folder>', 'an existing folder, which gets the folder of the backup')
    .option('--with-secrets', 'the control token and other secrets too')
  backup.action((folder: string, options: object) =>
    action(backup, async (context) =>
      (await import('./upkeep.ts')).backup(context, folder, options),
    )(),
  )
  const restore = add(program, 'restore', 'make a home from a backup').argument('<backup>')
  restore.action((from: string) =>
    action(restore, async (context) => (await import('./upkeep.ts')).restore(context, from))(),
  )
  const retention = add(program, 'retention', 'let go of what ended before a time')
    .option('--before <time>', 'what ended before it, like 90d or 2026-01-01')
    .option('--keep-days <n>', 'what is older than that (default: retention.keep_days)')
    .option('--dry-run', 'only say what would go')
  retention.action((options: object) =>
    action(retention, async (context) =>
      (await import('./upkeep.ts')).retention(context, options),
    )(),
  )
  const token = add(program, 'token', 'the control token of the home: rotate')
  const rotate = add(token, 'rotate', 'a new one; the old one no longer holds')
  rotate.action(
    action(rotate, async (context) => (await import('./upkeep.ts')).rotateToken(context)),
  )
}
