/**
 * What `holon init` says of commands: whether those of agents are confined, and which programs of
 * other makers may work as children; each with the command that makes it otherwise. A program of a
 * plan is named by its adapter only: neither `claude` nor `codex` speaks the protocol itself.
 */
import type { Config } from '../../protocol/config.ts'
import type { Context } from '../command/context.ts'
import { asksHowToGoOn, initLines, type Guards } from '../command/guards.ts'
import type { Questions } from './init-questions.ts'

/** What the operator chose where commands cannot be confined; null: nobody was asked. */
export type GoingOn = 'watch' | 'unconfined' | null

/**
 * Says how commands run. Where nobody chose and they cannot be confined here it is asked once;
 * with nobody to ask everything that an agent does is asked about.
 */
export async function settleConfining(
  context: Context,
  questions: Questions,
  config: Config,
): Promise<{ guards: Guards; going_on: GoingOn }> {
  const { ports, home } = context
  const guards = await ports.guards(home.value, config)
  const file = await ports.read_text(policyPath(home.value), 1)
  questions.still()
  const [first = '', ...more] = initLines(guards)
  questions.tell(`5 ${first}`)
  for (const line of more) questions.tell(`           ${line}`)
  const hasFile = file.ok || file.why !== 'not_found'
  if (!questions.may_ask || !asksHowToGoOn(guards, hasFile)) return { guards, going_on: null }
  const words = '           watch it: ask about all it does? n: it works unconfined, as you'
  const isWatched = await questions.yes(words, 'sandbox in config.json')
  return { guards, going_on: isWatched ? 'watch' : 'unconfined' }
}

export const policyPath = (home: string): string => `${home}/policy.json`

/** Agents of other makers that may work as children. */
export async function tellPlans(
  { ports }: Context,
  questions: Questions,
  { acp = {} }: Config,
): Promise<void> {
  if (!questions.may_ask) return
  for (const { name, adapter, package: brings } of (await ports.setup.found()).plans) {
    if (acp[name] !== undefined) continue
    if (adapter === null) {
      questions.tell(`           ${name} is here; for children of your plan it needs its adapter:`)
      questions.tell(`           npm install --global ${brings}, then holon init again`)
      continue
    }
    questions.tell(`           ${name} of your plan, cost unknown, as acp/${name} for children:`)
    questions.tell(`           holon config set acp.${name}.command ${adapter}`)
  }
}
