/** The commands around a home: setting it up, looking back, taking an item elsewhere. */
import type { Command } from 'commander'
import { exits, usage } from './failure.ts'
import type { Action, Add } from './grammar.ts'

export function addInit(program: Command, add: Add, action: Action): void {
  const init = add(program, 'init', 'set up a home, a model, an agent and the daemon')
    .option('--provider <kind>', 'anthropic, openai, google, openai-compatible or none')
    .option('--base-url <url>', 'its address, where it is not the usual one; ends in /v1')
    .option('--key-file <path>', 'a file of mode 0600 that has the key and goes on having it')
    .option('--key-env <name>', 'the variable that has the key now and later')
    .option('--model <name>', 'the model, as the provider calls it (default: it asks)')
    .option('--no-test', 'send no test request')
    .option('--agent <name>', 'the agent (default: main)')
    .option('--workspace <folder>', 'the folder it works in (default: this one)')
    .option('--start', 'start the daemon')
    .option('--no-start', 'start no daemon')
    .option('--port <n>', 'the port of the daemon that is started (default: 7777)')
    .option('--no-input', 'never ask: fail and name the flag that answers')
  init.action((options: object) =>
    action(init, async (context) => (await import('./init.ts')).init(context, options))(),
  )
}

export function addReplay(program: Command, add: Add, action: Action): void {
  const replay = add(
    program,
    'replay',
    'decide an ended turn again from the ledger: no model, no effects',
  ).argument('<turn>', 'the turn, like turn_7f3a')
  replay.action((turn: string) =>
    action(replay, async (context) => (await import('./replay.ts')).replay(context, turn))(),
  )
}

export function addExports(program: Command, add: Add, action: Action): void {
  const out = add(program, 'export', 'one work item with its history, as a file without secrets')
    .argument('<item>', 'the work item, like work_7f3a')
    .option('--to <file>', 'write this new file instead of printing')
  out.action((item: string, options: object) =>
    action(out, async (context) =>
      (await import('./exports.ts')).exportItem(context, item, options),
    )(),
  )
  const into = add(program, 'import', 'make a new work item of a file; it waits until you pick it')
    .argument('<file>', 'a file that `holon export` wrote; - reads it from stdin')
    .option('--agent <name>', 'whose item it becomes (default: main)')
    .option('--again', 'also when the same file was imported before')
  into.action((file: string, options: object) =>
    action(into, async (context) =>
      (await import('./exports.ts')).importItem(context, file, options),
    )(),
  )
}

export function addCompletion(program: Command, add: Add, action: Action): void {
  const completion = add(program, 'completion', 'print what completes words in a shell').argument(
    '<shell>',
    'bash, zsh or fish',
  )
  completion.action((name: string) =>
    action(completion, async ({ ports }) => {
      const { completionScript, shells } = await import('./completion.ts')
      const shell = shells.find((one) => one === name)
      const known = `the shells are ${shells.join(', ')}`
      if (shell === undefined) {
        throw usage('unknown_shell', `there is no completion for ${name}`, known)
      }
      ports.out(completionScript(program, shell))
      return exits.done
    })(),
  )
}
