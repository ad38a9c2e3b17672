/**
 * What `holon init` says and asks of commands: whether those of agents are confined, and which
 * programs of other makers may work as children. A program of a plan is asked by its adapter only:
 * neither `claude` nor `codex` speaks the protocol itself.
 */
import type { Config } from '../../protocol/config.ts'
import type { Context } from '../command/context.ts'
import type { Questions } from './init-questions.ts'

/** What goes into the configuration; null: it stays as it is. */
export type Confining = NonNullable<Config['sandbox']> | null

const choices: readonly Confining[] = [null, {}, { network: 'open' }]
const unconfined = '5 commands run as you, with your files and your network'

export async function confining(
  { ports }: Context,
  questions: Questions,
  { sandbox }: Config,
): Promise<Confining> {
  const why = await ports.setup.no_confinement()
  questions.still()
  if (sandbox !== undefined) {
    const how = sandbox.network === 'open' ? 'with an open network' : 'without a network'
    questions.tell(
      why === null ? `5 commands are confined, ${how}` : `5 commands none runs: ${why}`,
    )
    return null
  }
  if (why !== null) {
    questions.tell(`${unconfined}; they cannot be confined here: ${why}`)
    return null
  }
  questions.tell(`${unconfined}; this machine can confine them`)
  if (!questions.may_ask) return null
  const list = '1 as you  2 confined, without a network  3 confined, with a network'
  for (;;) {
    const at = Number(await questions.line(`           ${list}  (enter: 1)`, '', '1')) - 1
    const chosen = choices[at]
    if (chosen !== undefined) return chosen
    questions.tell(`           a number from 1 to ${choices.length}`)
  }
}

/** Agents of other makers that may work as children from now on. */
export async function plansOf(
  { ports }: Context,
  questions: Questions,
  { acp = {} }: Config,
): Promise<NonNullable<Config['acp']>> {
  if (!questions.may_ask) return {}
  const chosen: NonNullable<Config['acp']> = {}
  for (const { name, adapter, package: brings } of (await ports.setup.found()).plans) {
    if (acp[name] !== undefined) continue
    if (adapter === null) {
      questions.tell(`           ${name} is here; for children of your plan it needs its adapter:`)
      questions.tell(`           npm install --global ${brings}, then holon init again`)
      continue
    }
    const says = `           ${name} of your plan, cost unknown, as acp/${name} for children`
    const said = await questions.line(`${says}: 1 no  2 yes  (enter: 1)`, '', '1')
    if (said === '2') chosen[name] = { command: adapter }
  }
  return chosen
}
