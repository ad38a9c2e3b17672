/** The grammar of `holon policy`. */
import { exits } from '../command/failure.ts'
import { reads, type Grammar } from '../command/grammar.ts'

export const policyCommand: Grammar = {
  name: 'policy',
  about: 'what would be allowed, asked and denied: check, explain, test, show',
  examples: ['holon policy check "git push -f"', 'holon policy show'],
  commands: [
    {
      name: 'check',
      about: 'what the policy says of a line of the shell',
      arguments: { '<line>': 'as an agent would run it, in quotes' },
      options: {
        '--agent <name>': 'in the workspace of this agent (default: the working folder)',
        '--file <file>': 'by this file in the place of the policy.json of the home',
      },
      examples: [
        'holon policy check "git push -f"',
        'holon policy check "npm test && git push" --file policy.json',
      ],
      exits: {
        [exits.done]: 'allowed',
        [exits.failed]: 'denied',
        [exits.usage]: 'usage, or a file of the policy is refused',
        [exits.waits]: 'asked',
      },
      run: async (context, line: string, options: object) =>
        (await import('./policy.ts')).policyCheck(context, line, options),
    },
    {
      name: 'explain',
      about: 'what the policy says of a call that was made',
      arguments: { '<call>': 'the call, by its id or the end of it: call_7f3a' },
      examples: ['holon policy explain call_7f3a', 'holon policy explain call_7f3a --json'],
      exits: reads,
      run: async (context, call: string) =>
        (await import('./policy.ts')).policyExplain(context, call),
    },
    {
      name: 'test',
      about: 'all calls that were made, tried with a policy',
      arguments: { '[file]': 'a policy.json that is tried (default: the one of the home)' },
      examples: ['holon policy test', 'holon policy test stricter.json'],
      exits: reads,
      run: async (context, file: string | undefined) =>
        (await import('./policy.ts')).policyTest(context, file),
    },
    {
      name: 'show',
      about: 'the rules that are in force, and where each is from',
      options: {
        '--agent <name>': 'in the workspace of this agent (default: the working folder)',
      },
      examples: ['holon policy show', 'holon policy show --agent docs --json'],
      exits: reads,
      run: async (context, options: object) =>
        (await import('./policy.ts')).policyShow(context, options),
    },
  ],
}
