/** The grammar of setting a home up. */
import type { Command } from 'commander'
import { exits, usage } from '../command/failure.ts'
import type { Grammar } from '../command/grammar.ts'

export const setupCommands: readonly Grammar[] = [
  {
    name: 'config',
    about: 'settings: show, path, get, set, unset',
    examples: ['holon config show', 'holon config set model anthropic/claude-sonnet-5-5'],
    commands: [
      {
        name: 'show',
        about: 'every setting and where it comes from',
        examples: ['holon config show --json', 'holon config show'],
        run: async (context) => (await import('./config-command.ts')).configShow(context),
      },
      {
        name: 'path',
        about: 'where config.json is',
        examples: ['holon config path', 'holon config path --home ~/holon-again'],
        run: async (context) => (await import('./config-command.ts')).configPathCommand(context),
      },
      {
        name: 'get',
        about: 'one value of config.json',
        arguments: { '<key>': 'the key, with dots: model, providers.local.kind' },
        examples: ['holon config get model', 'holon config get providers.local.kind'],
        run: async (context, key: string) =>
          (await import('./config-command.ts')).configGet(context, key),
      },
      {
        name: 'set',
        about: 'write one value into config.json',
        arguments: {
          '<key>': 'a key, like model or providers.local.base_url',
          '<value>': 'text, or JSON for lists and objects',
        },
        examples: [
          'holon config set model local/qwen3-coder',
          'holon config set providers.local.kind openai-compatible',
        ],
        run: async (context, key: string, value: string) =>
          (await import('./config-command.ts')).configSet(context, key, value),
      },
      {
        name: 'unset',
        about: 'take one value out of config.json',
        arguments: { '<key>': 'the key, with dots: model, providers.local.kind' },
        examples: ['holon config unset summary_model', 'holon config unset budget.day'],
        run: async (context, key: string) =>
          (await import('./config-command.ts')).configUnset(context, key),
      },
    ],
  },
  {
    name: 'completion',
    about: 'print what completes words in a shell',
    arguments: { '<shell>': 'bash, zsh or fish' },
    examples: [
      'source <(holon completion bash)',
      'holon completion zsh > ~/.zfunc/_holon',
      'holon completion fish > ~/.config/fish/completions/holon.fish',
    ],
    run: async ({ ports }, name: string, _options: object, { parent }: Command) => {
      const { completionScript, shells } = await import('./completion.ts')
      const shell = shells.find((one) => one === name)
      const known = `the shells are ${shells.join(', ')}`
      if (shell === undefined || parent === null) {
        throw usage('unknown_shell', `there is no completion for ${name}`, known)
      }
      ports.out(completionScript(parent, shell))
      return exits.done
    },
  },
]
