/**
 * What `holon init` says of commands: whether those of agents are confined, and which programs of
 * other makers may work as children; each with the command that makes it otherwise. A program of a
 * plan is named by its adapter only: neither `claude` nor `codex` speaks the protocol itself.
 */
import type { Config } from '../../protocol/config.ts'
import type { Context } from '../command/context.ts'
import { networkWords } from '../daemon/doctor-checks.ts'
import type { Questions } from './init-questions.ts'

const unconfined = '5 commands run as you, with your files and your network'

export async function tellConfining(
  { ports }: Context,
  questions: Questions,
  { sandbox }: Config,
): Promise<void> {
  const why = await ports.setup.no_confinement()
  questions.still()
  if (sandbox !== undefined) {
    const how = networkWords(sandbox.network ?? 'none')
    return questions.tell(
      why === null ? `5 commands are confined, ${how}` : `5 commands none runs: ${why}`,
    )
  }
  if (why !== null) {
    return questions.tell(`${unconfined}; they cannot be confined here: ${why}`)
  }
  questions.tell(unconfined)
  questions.tell('           shut in, with a network: holon config set sandbox.network open')
  questions.tell('           shut in, without one: holon config set sandbox.network none')
  questions.tell('           a daemon that runs knows it after holon stop, then holon start')
}

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
