/**
 * The hooks of `config.json`, put together: which of them are asked about a call, and what they
 * say. All at once, each in a process of its own; and for `holon doctor` what is wrong with them.
 */
import { accessSync, constants, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Redactor } from '../../domain/secrets/redact.ts'
import { isOfAgents, type ActionBody, type PolicyAction } from '../../domain/policy/action.ts'
import { confiningOf, type HomeAge } from '../../domain/policy/in-force.ts'
import { hookWord, type HookAnswer } from '../../domain/policy/hook.ts'
import { hookPrograms, type AskProgram, type ProgramEnd } from '../../exec/commands/hook-program.ts'
import { areasOf, credentialStores } from '../../exec/files/path-policy.ts'
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
        const unsafe = unsafeOf([name, ...args], home, action)
        const end = unsafe ? refused(unsafe) : await program([name, ...args], question)
        return { program: first, word: hookWord(end) }
      }),
    )
  }
}

const refused = (why: string): ProgramEnd => ({ state: 'failed', why })

/** A program that somebody else can write, or a script that it is given, says what they want. */
function unsafeOf([name = '', ...args]: readonly string[], home: string, action: ActionBody) {
  try {
    const named = [name, ...args.filter(isFile).map(realOrSame)]
    return named
      .map((path) => writtenByAgents(path, home, action) ?? writtenByOthers(path))
      .find((why) => why !== null)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return `its files cannot be looked at: ${message}`
  }
}

function writtenByAgents(path: string, home: string, { agent, workspace }: ActionBody) {
  const facts = { home: realOrSame(home), agent_id: agent, workspace, user_home: userHome }
  const place = areasOf(facts)(path)
  const isInHome = place === 'home' && !path.startsWith(`${join(facts.home, 'agents')}/`)
  if (isInHome || (!isOfAgents(place) && place !== 'git')) return null
  return 'it stands where the agent can write'
}

/**
 * Who may write the file, or take it away for another of its name: in a folder with the sticky bit
 * only its owner may. A path that is not there is nobody's.
 */
function writtenByOthers(path: string): string | null {
  const own = statSync(path, { throwIfNoEntry: false })
  if (own === undefined) return null
  if ((own.mode & 0o022) !== 0) return 'others can write it'
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o1002) === 0o002) return `others can write ${folder}, above it`
    if (folder === dirname(folder)) return null
  }
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
    if (!statSync(path).isFile()) {
      return { message: 'it is no file', hint: `name a program; ${until}` }
    }
    const message = writtenByOthers(path)
    if (message !== null) return { message, hint: `take that right away (chmod go-w); ${until}` }
  } catch {
    return { message: 'it is not there, or not executable', hint: `chmod +x ${path}; ${until}` }
  }
  const within = writable.find((folder) => path.startsWith(`${folder}/`))
  if (within === undefined) return null
  return { message: `it stands in ${within}, where agents can write`, hint: 'move it elsewhere' }
}
