/** `holon work check`: its commands, their flags and their help. */
import type { Command } from 'commander'
import type { Action, Add } from './grammar.ts'

export function addChecks(work: Command, add: Add, action: Action): void {
  const check = add(
    work,
    'check',
    'what is to be seen of an item when it is completed: list, add, rm, run, answer',
  )
  const list = add(check, 'list', 'the checks of an item, and what came of them').argument('<item>')
  list.action((item: string) =>
    action(list, async (context) => (await import('./checks.ts')).listChecks(context, item))(),
  )
  const adding = add(check, 'add', 'one more check of an open item')
    .argument('<item>')
    .argument('<name>', 'what it is called: small letters, digits, dots, dashes')
    .option('--cmd <command>', 'a command that must end with exit status 0')
    .option('--in <folder>', 'where in the workspace it runs (default: its root)')
    .option('--timeout <duration>', 'how long it may take: 90s, 10m (default: 10m)')
    .option('--file <path>', 'a file in the workspace that must exist, or with …')
    .option('--absent', '… that must not exist')
    .option('--sha256 <hex>', '… that must have this SHA-256')
    .option('--contains <text>', '… that must contain this text')
    .option('--url <url>', 'an address that must answer a GET')
    .option('--status <n>', 'with this status (default: 200)')
    .option('--ask <question>', 'a question that you answer')
  adding.action((item: string, name: string, flags: object) =>
    action(adding, async (context) =>
      (await import('./checks.ts')).addCheck(context, item, name, flags),
    )(),
  )
  const rm = add(check, 'rm', 'take a check off an open item').argument('<item>').argument('<name>')
  rm.action((item: string, name: string) =>
    action(rm, async (context) => (await import('./checks.ts')).removeCheck(context, item, name))(),
  )
  const run = add(check, 'run', 'run checks of a completed item again')
    .argument('<item>')
    .argument('[names...]', 'these (default: all of them)')
  run.action((item: string, names: string[]) =>
    action(run, async (context) => (await import('./checks.ts')).runChecks(context, item, names))(),
  )
  const answer = add(check, 'answer', 'answer a check that asks you')
    .argument('<item>')
    .argument('<name>')
    .argument('<pass|fail>')
    .argument('[words]', 'why, in a sentence')
  answer.action((item: string, name: string, verdict: string, words?: string) =>
    action(answer, async (context) =>
      (await import('./checks.ts')).answerCheck(context, item, { name, verdict, words }),
    )(),
  )
}
