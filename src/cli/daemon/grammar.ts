/** The grammar of the daemon, and of keeping a home. */
import { exits } from '../command/failure.ts'
import { writes, reads, type Grammar } from '../command/grammar.ts'

export const daemonCommands: readonly Grammar[] = [
  {
    name: 'serve',
    about: 'keep agents alive and serve the HTTP API, here',
    options: {
      '--host <address>': 'the address to listen on (default: 127.0.0.1)',
      '--port <n>': 'the port (default: 7777; 0: any free one)',
      '--allow-remote': 'listen on an address that other machines reach',
      '--log-level <level>': 'debug, info, warn or error (HOLON_LOG; default: info)',
      '--log-file <path>': 'log into a file, and begin a new one when it is large',
    },
    examples: [
      'holon serve                                 until ctrl+c or SIGTERM; twice at once',
      'holon serve --port 0 --log-level debug',
    ],
    exits: { ...writes, [exits.done]: 'stopped' },
    run: async (context, options: object) => (await import('./serve.ts')).serve(context, options),
  },
  {
    name: 'start',
    about: 'the same in the background',
    options: {
      '--host <address>': 'the address to listen on (default: 127.0.0.1)',
      '--port <n>': 'the port (default: 7777; 0: any free one)',
      '--allow-remote': 'listen on an address that other machines reach',
      '--log-level <level>': 'debug, info, warn or error (HOLON_LOG; default: info)',
    },
    examples: ['holon start', 'holon start --port 8888'],
    exits: { ...writes, [exits.done]: 'it serves' },
    run: async (context, options: object) => (await import('./daemon.ts')).start(context, options),
  },
  {
    name: 'stop',
    about: 'stop the daemon; commands it started go on',
    examples: ['holon stop', 'holon stop --home ~/holon-again'],
    run: async (context) => (await import('./daemon.ts')).stop(context),
  },
  {
    name: 'status',
    about: 'whether the daemon runs, where, and what it has',
    examples: ['holon status', 'holon status --json | jq .ready'],
    exits: { ...reads, [exits.done]: 'it runs', [exits.waits]: 'it does not run' },
    run: async (context) => (await import('./daemon.ts')).status(context),
  },
  {
    name: 'logs',
    about: 'what the daemon logged',
    options: {
      '--follow': 'go on as it comes',
      '-n, --lines <n>': 'the last so many lines (default: 100)',
    },
    examples: ['holon logs --follow', 'holon logs -n 20 | jq -r .msg'],
    run: async (context, options: object) => (await import('./daemon.ts')).logs(context, options),
  },
  {
    name: 'service',
    about: 'run the daemon at login: show',
    examples: ['holon service show', 'holon service show --manager launchd'],
    commands: [
      {
        name: 'show',
        about: 'the unit or property list for this home, and what to do with it',
        options: { '--manager <name>': 'systemd or launchd (default: what this system has)' },
        examples: [
          'holon service show > ~/.config/systemd/user/holon.service',
          'holon service show --json | jq -r .path',
        ],
        run: async (context, options: object) =>
          (await import('./autostart.ts')).show(context, options),
      },
    ],
  },
  {
    name: 'doctor',
    about: 'whether everything is well',
    options: { '--verify': 'refold the whole ledger and compare' },
    examples: ['holon doctor --verify', 'holon doctor --json | jq .checks'],
    exits: { ...reads, [exits.done]: 'all is well', [exits.failed]: 'something is not' },
    run: async (context, options: object) => (await import('./doctor.ts')).doctor(context, options),
  },
  {
    name: 'backup',
    about: 'copy the home as it is, while whoever owns it goes on',
    arguments: { '<folder>': 'an existing folder, which gets the folder of the backup' },
    options: { '--with-secrets': 'the control token and other secrets too' },
    examples: ['holon backup ~/backups', 'holon backup ~/backups --with-secrets'],
    run: async (context, folder: string, options: object) =>
      (await import('./upkeep.ts')).backup(context, folder, options),
  },
  {
    name: 'restore',
    about: 'make a home from a backup',
    arguments: { '<backup>': 'the folder that `holon backup` made' },
    examples: [
      'holon restore ~/backups/<backup> --home ~/holon-again',
      'holon restore ./backup --home ./elsewhere',
    ],
    run: async (context, from: string) => (await import('./upkeep.ts')).restore(context, from),
  },
  {
    name: 'retention',
    about: 'let go of what ended before a time',
    options: {
      '--before <time>': 'what ended before it, like 90d or 2026-01-01',
      '--keep-days <n>': 'what is older than that (default: retention.keep_days)',
      '--dry-run': 'only say what would go',
    },
    examples: ['holon retention --before 90d --dry-run', 'holon retention --keep-days 365'],
    exits: writes,
    run: async (context, options: object) =>
      (await import('./upkeep.ts')).retention(context, options),
  },
  {
    name: 'token',
    about: 'the control token of the home: rotate',
    examples: ['holon token rotate', 'holon token rotate --quiet'],
    commands: [
      {
        name: 'rotate',
        about: 'a new one; the old one no longer holds',
        examples: ['holon token rotate', 'holon token rotate --json'],
        run: async (context) => (await import('./upkeep.ts')).rotateToken(context),
      },
    ],
  },
]
