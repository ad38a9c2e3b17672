/** The grammar of `holon init`, which ends in the screen. */
import { exits } from '../command/failure.ts'
import { reads, type Grammar } from '../command/grammar.ts'

export const initCommand: Grammar = {
  name: 'init',
  about: 'set up a home, a model, an agent and the daemon',
  options: {
    '--provider <kind>': 'anthropic, openai, google, openai-compatible or none',
    '--base-url <url>': 'its address, where it is not the usual one; ends in /v1',
    '--key-file <path>': 'a file of mode 0600 that has the key and goes on having it',
    '--key-env <name>': 'the variable that has the key now and later',
    '--model <name>': 'the model, as the provider calls it (default: it asks)',
    '--no-test': 'send no test request',
    '--agent <name>': 'the agent (default: main)',
    '--workspace <folder>': 'the folder it works in (default: this one)',
    '--start': 'start the daemon',
    '--no-start': 'start no daemon',
    '--port <n>': 'the port of the daemon that is started (default: 7777)',
    '--no-input': 'never ask: fail and name the flag that answers',
  },
  examples: [
    'holon init                                  asks what it needs to know',
    'holon init --provider openai-compatible --base-url http://127.0.0.1:11434/v1',
    'holon init --no-input --provider openai --key-file ~/key --model gpt-5.2 --start',
  ],
  exits: {
    ...reads,
    [exits.failed]: 'failed, or the test request did',
    [exits.interrupted]: 'left: nothing was written',
  },
  run: async (context, options: object) => (await import('./set-up.ts')).init(context, options),
}
