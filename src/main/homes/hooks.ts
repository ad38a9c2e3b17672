/**
 * The hooks of `config.json`, put together: which of them are asked about a call, and what they
 * say. All at once, each in a process of its own; and for `holon doctor` what is wrong with them.
 */
import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Redactor } from '../../domain/secrets/redact.ts'
import type { ActionBody, PolicyAction } from '../../domain/policy/action.ts'
import { confiningOf, type HomeAge } from '../../domain/policy/in-force.ts'
import { hookWord, type HookAnswer } from '../../domain/policy/hook.ts'
import { hookPrograms, type AskProgram } from '../../exec/commands/hook-program.ts'
import { areaOf, credentialStores } from '../../exec/files/path-policy.ts'
import { realOrSame } from '../../exec/files/roots.ts'
import type { Config } from '../../protocol/config.ts'
import { hooksFor } from '../../protocol/hook-config.ts'
import { clock, env, expanded, userHome } from '../machine/machine.ts'
import { choiceOf } from './sandbox.ts'

/** Asks those that are for this action. */
export type Hooks = (action: PolicyAction) => Promise<readonly HookAnswer[]>

export type HookSettings = {
  home: string
  config: Pick<Config, 'hooks' | 'sandbox'>
  age: HomeAge
  redactor: Redactor
  ask?: AskProgram
}

/** Null: there are none. */
export function hooksOf({ home, config, age, redactor, ask }: HookSettings): Hooks | null {
  const { hooks = [] } = config
  if (hooks.length === 0) return null
  const { whom } = confiningOf(age, choiceOf(config))
  const deny = [home, ...credentialStores(userHome)]
  const confined = whom === 'nobody' ? null : { folder: join(home, 'sandbox'), whom, deny }
  const program = ask ?? hookPrograms({ clock, parent_env: env, confined })
  return (action) => {
    const question = JSON.stringify(redactor.json(action))
    return Promise.all(
      hooksFor(hooks, action).map(async ({ run: [first, ...args] }) => {
        const name = realOrSame(expanded(first))
        const named = [name, ...args.filter(isFile).map(realOrSame)]
        const writes = named
          .map((path) => writtenBy(path, home, action))
          .find((end) => end !== null)
        const end = writes ?? (await program([name, ...args], question))
        return { program: first, word: hookWord(end) }
      }),
    )
  }
}

/** A program that an agent can write, or a script that it is given, says what the agent wants. */
function writtenBy(program: string, home: string, { agent, workspace }: ActionBody) {
  const facts = { home: realOrSame(home), agent_id: agent, workspace, user_home: userHome }
  const place = areaOf(facts, program)
  const isOfAgents = program.startsWith(`${join(facts.home, 'agents')}/`)
  if (place !== 'workspace' && place !== 'own' && place !== 'git' && !isOfAgents) return null
  return { state: 'failed', why: 'it stands where the agent can write' } as const
}

/** A script that it is given, by its whole path. */
const isFile = (arg: string): boolean =>
  arg.startsWith('/') && statSync(arg, { throwIfNoEntry: false })?.isFile() === true

export type HookProblem = { program: string; message: string; hint: string }

/** `writable`: folders in which agents can write. */
export function hookProblems(
  { hooks = [] }: Pick<Config, 'hooks'>,
  writable: readonly string[],
): HookProblem[] {
  return hooks.flatMap(({ run: [program] }) => {
    const found = problemOf(realOrSame(expanded(program)), writable.map(realOrSame))
    return found === null ? [] : [{ program, ...found }]
  })
}

function problemOf(path: string, writable: readonly string[]) {
  const until = 'until then every call it is for is asked'
  try {
    accessSync(path, constants.X_OK)
    const { mode } = statSync(path)
    if (!statSync(path).isFile())
      return { message: 'it is no file', hint: `name a program; ${until}` }
    if ((mode & 0o022) !== 0) {
      return { message: 'others can write it', hint: `chmod go-w ${path}` }
    }
  } catch {
    return { message: 'it is not there, or not executable', hint: `chmod +x ${path}; ${until}` }
  }
  const within = writable.find((folder) => path.startsWith(`${folder}/`))
  if (within === undefined) return null
  return { message: `it stands in ${within}, where agents can write`, hint: 'move it elsewhere' }
}
