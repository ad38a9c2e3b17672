/** The grammar of work items: what there is, why it is so, its checks, and an item as a file. */
import { things, writes, type Grammar } from '../command/grammar.ts'

const budget = {
  '--max-tokens <n>': 'tokens it may use, children included; none: no limit',
  '--max-usd <n>': 'US dollars, where the price of the model is known',
  '--max-rounds <n>': 'requests to the model',
  '--deadline <time>': 'until then: 2030-12-01T09:00',
}

export const workCommands: readonly Grammar[] = [
  {
    name: 'work',
    about: 'work items: list, show, diff, revert, create, update, check, unblock, pick, complete',
    examples: ['holon work list --all', 'holon work show work_7f3a'],
    commands: [
      {
        name: 'list',
        about: 'open items and what each waits for',
        options: { '--all': 'done items too', '--agent <name>': 'only this agent' },
        examples: ['holon work list --agent docs', 'holon work list --json | jq .work_items'],
        run: async (context, options: object) =>
          (await import('./work.ts')).workList(context, options),
      },
      {
        name: 'show',
        about: 'one item whole: plan, todos, wait, report',
        arguments: { '<item>': things.item },
        options: { '--trace': 'its process notes, and its turns with what each did' },
        examples: ['holon work show work_7f3a', 'holon work show work_7f3a --trace'],
        run: async (context, item: string, { trace }: { trace?: boolean }) =>
          trace === true
            ? (await import('./work-trace.ts')).workTrace(context, item)
            : (await import('./work.ts')).workShow(context, item),
      },
      {
        name: 'diff',
        about: 'what it changed in files, by file with counts',
        arguments: { '<item>': things.item, '[file]': 'only this file' },
        options: { '--stat': 'the counts alone' },
        examples: [
          'holon work diff work_7f3a',
          'holon work diff work_7f3a src/a.ts',
          'holon work diff work_7f3a --stat',
        ],
        run: async (context, item: string, file: string | undefined, options: object) =>
          (await import('./work-diff.ts')).workDiff(context, item, file, options),
      },
      {
        name: 'revert',
        about: 'put back what it changed in files; what stands there is kept',
        arguments: { '<item>': things.item, '[files...]': 'these (default: all of them)' },
        options: { '--undo': 'take that back: what earlier reverts replaced comes again' },
        examples: [
          'holon work revert work_7f3a',
          'holon work revert work_7f3a src/a.ts',
          'holon work revert work_7f3a --undo',
        ],
        exits: writes,
        run: async (context, item: string, files: string[], options: object) =>
          (await import('./revert.ts')).workRevert(context, item, files, options),
      },
      {
        name: 'create',
        about: 'a new item, for the agent to work on',
        arguments: { '<objective>': 'what is to be achieved' },
        options: {
          '--agent <name>': 'the agent (default: main)',
          '--check <name=command...>': 'a command that must succeed once it is completed',
          ...budget,
        },
        examples: [
          'holon work create "Port the fixtures" --agent docs',
          'holon work create "Port the grammar" --max-usd 5 --check "tests=npm test"',
        ],
        exits: writes,
        run: async (context, objective: string, options: object) =>
          (await import('./item-acts.ts')).createItem(context, objective, options),
      },
      {
        name: 'update',
        about: 'change it: objective, plan status, todos, budget',
        arguments: { '<item>': things.item },
        options: {
          '--objective <text>': 'what is to be achieved',
          '--plan-status <status>': 'draft, ready or needs_input',
          '--question <text>': 'with needs_input: what its plan needs to know',
          '--todo <todo...>': 'all of its todos: "[x] done", "[>] under way", "to do"; none',
          ...budget,
        },
        examples: [
          'holon work update work_7f3a --max-tokens 200000 --max-usd 5',
          'holon work update work_7f3a --deadline 2030-12-01T09:00 --max-rounds none',
          'holon work update work_7f3a --plan-status ready --todo "[x] read" "[>] write" "test"',
        ],
        exits: writes,
        run: async (context, item: string, options: object) =>
          (await import('./item-acts.ts')).updateItem(context, item, options),
      },
      {
        name: 'check',
        about: 'what is to be seen of an item when it is completed: list, add, rm, run, answer',
        examples: [
          'holon work check add work_7f3a tests --cmd "npm test"',
          'holon work check list work_7f3a             claimed, or verified, and by what',
        ],
        commands: [
          {
            name: 'list',
            about: 'the checks of an item, and what came of them',
            arguments: { '<item>': things.item },
            examples: [
              'holon work check list work_7f3a',
              'holon work check list work_7f3a --json | jq .checks',
            ],
            run: async (context, item: string) =>
              (await import('./checks.ts')).listChecks(context, item),
          },
          {
            name: 'add',
            about: 'one more check of an open item',
            arguments: {
              '<item>': things.item,
              '<name>': 'what it is called: small letters, digits, dots, dashes',
            },
            options: {
              '--cmd <command>': 'a command that must end with exit status 0',
              '--in <folder>': 'where in the workspace it runs (default: its root)',
              '--timeout <duration>': 'how long it may take: 90s, 10m (default: 10m)',
              '--file <path>': 'a file in the workspace that must exist, or with …',
              '--absent': '… that must not exist',
              '--sha256 <hex>': '… that must have this SHA-256',
              '--contains <text>': '… that must contain this text',
              '--url <url>': 'an address that must answer a GET',
              '--status <n>': 'with this status (default: 200)',
              '--ask <question>': 'a question that you answer',
            },
            examples: [
              'holon work check add work_7f3a tests --cmd "npm test" --timeout 10m',
              'holon work check add work_7f3a notes --file RELEASE.md --contains 2.4.0',
              'holon work check add work_7f3a live --url https://example.org/health --status 200',
              'holon work check add work_7f3a look --ask "Is it what you meant?"',
            ],
            exits: writes,
            run: async (context, item: string, name: string, flags: object) =>
              (await import('./checks.ts')).addCheck(context, item, name, flags),
          },
          {
            name: 'rm',
            about: 'take a check off an open item',
            arguments: { '<item>': things.item, '<name>': 'the name of the check' },
            examples: [
              'holon work check rm work_7f3a tests',
              'holon work check rm work_7f3a tests --quiet',
            ],
            exits: writes,
            run: async (context, item: string, name: string) =>
              (await import('./checks.ts')).removeCheck(context, item, name),
          },
          {
            name: 'run',
            about: 'run checks of a completed item again',
            arguments: { '<item>': things.item, '[names...]': 'these (default: all of them)' },
            examples: ['holon work check run work_7f3a tests', 'holon work check run work_7f3a'],
            exits: writes,
            run: async (context, item: string, names: string[]) =>
              (await import('./checks.ts')).runChecks(context, item, names),
          },
          {
            name: 'answer',
            about: 'answer a check that asks you',
            arguments: {
              '<item>': things.item,
              '<name>': 'the name of the check',
              '<pass|fail>': 'what you saw',
              '[words]': 'why, in a sentence',
            },
            examples: [
              'holon work check answer work_7f3a look pass "as I meant it"',
              'holon work check answer work_7f3a look fail "the second page is empty"',
            ],
            exits: writes,
            run: async (context, item: string, name: string, verdict: string, words?: string) =>
              (await import('./checks.ts')).answerCheck(context, item, { name, verdict, words }),
          },
        ],
      },
      {
        name: 'unblock',
        about: 'clear its blocker and its wait: it may go on',
        arguments: { '<item>': things.item },
        examples: ['holon work unblock work_22e0', 'holon work unblock work_22e0 --quiet'],
        exits: writes,
        run: async (context, item: string, options: object) =>
          (await import('../command/act.ts')).onItem(context, 'unblock', item, options),
      },
      {
        name: 'pick',
        about: 'put it in focus',
        arguments: { '<item>': things.item },
        options: { '--reason <text>': 'why it goes first' },
        examples: [
          'holon work pick work_7f3a --reason "the release waits for it"',
          'holon work pick work_7f3a',
        ],
        exits: writes,
        run: async (context, item: string, options: object) =>
          (await import('../command/act.ts')).onItem(context, 'pick', item, options),
      },
      {
        name: 'complete',
        about: 'complete it yourself',
        arguments: { '<item>': things.item },
        options: { '--report <text>': 'the report' },
        examples: [
          'holon work complete work_7f3a --report "Done by hand."',
          'holon work complete work_7f3a',
        ],
        exits: writes,
        run: async (context, item: string, options: object) =>
          (await import('../command/act.ts')).onItem(context, 'complete', item, options),
      },
    ],
  },
  {
    name: 'why',
    about: 'why an item is as it is, and what comes next',
    arguments: { '<item>': things.item },
    options: { '--history': 'the decisions that chose it or passed it over, newest first' },
    examples: [
      'holon why work_b210',
      'holon why work_b210 --history',
      'holon why work_b210 --json | jq .next',
    ],
    run: async (context, item: string, options: object) =>
      (await import('./why.ts')).why(context, item, options),
  },
  {
    name: 'export',
    about: 'one work item with its history, as a file without secrets',
    arguments: { '<item>': 'the work item, like work_7f3a' },
    options: { '--to <file>': 'write this new file instead of printing' },
    examples: ['holon export work_7f3a > item.jsonl', 'holon export work_7f3a --to ~/item.jsonl'],
    run: async (context, item: string, options: object) =>
      (await import('./exports.ts')).exportItem(context, item, options),
  },
  {
    name: 'import',
    about: 'make a new work item of a file; it waits until you pick it',
    arguments: { '<file>': 'a file that `holon export` wrote; - reads it from stdin' },
    options: {
      '--agent <name>': 'whose item it becomes (default: main)',
      '--again': 'also when the same file was imported before',
    },
    examples: ['holon import item.jsonl', 'holon import item.jsonl --agent docs --again'],
    exits: writes,
    run: async (context, file: string, options: object) =>
      (await import('./exports.ts')).importItem(context, file, options),
  },
]
