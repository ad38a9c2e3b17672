/** `holon send` and `holon take-back`: words to an agent, an item or a wait, and their way back. */
import type { OperatorCommand } from '../../protocol/acts/operator.ts'
import { usualAgents } from '../../protocol/usual-agents.ts'
import { act, named, notEmpty, perform, told } from '../command/act.ts'
import type { Context } from '../command/context.ts'
import { usage, type Exit } from '../command/failure.ts'
import { ensureAgent } from '../command/first-agent.ts'
import { readImages } from './given-images.ts'

export type SendOptions = {
  agent?: string
  wait?: string
  workItem?: string
  now?: boolean
  start?: boolean
  image?: string[]
}

export async function send(context: Context, text: string, options: SendOptions): Promise<Exit> {
  notEmpty(text, 'the message is empty', 'holon send "<text>"')
  if (options.wait !== undefined && options.workItem !== undefined) {
    throw usage('two_targets', '--wait and --work-item exclude each other', 'give one of them')
  }
  const images = await readImages(context, options.image ?? [])
  const target = options.wait ?? options.workItem
  const noun = options.wait === undefined ? 'work' : 'wait'
  if (target === undefined) await ensureAgent(context, options.agent ?? usualAgents.text)
  const bound = target === undefined ? null : await named(context, target, [noun])
  if (bound !== null && options.agent !== undefined && options.agent !== bound.agent_id) {
    throw usage('wrong_agent', `${target} is ${bound.agent_id}'s, not ${options.agent}'s`)
  }
  const command: OperatorCommand = {
    do: 'send',
    agent_id: bound?.agent_id ?? options.agent ?? usualAgents.text,
    text,
    ...(images.length === 0 ? {} : { images }),
    ...(options.wait === undefined || bound === null ? {} : { wait_id: bound.id }),
    ...(options.workItem === undefined || bound === null ? {} : { work_item_id: bound.id }),
    ...(options.now === true ? { priority: 'interject' as const } : {}),
    ...(options.start === true ? { start: true } : {}),
    surface: 'cli_prompt',
  }
  const reply = await perform(context, command)
  const exit = await told(context, command, reply)
  const { json, quiet } = context.flags
  if (options.now !== true || json === true || quiet === true) return exit
  // Only a daemon runs the agent and says what became of it.
  if ((await context.ports.daemon.running(context.home.value)) === null) return exit
  const { printReceipt } = await import('../command/receipt.ts')
  const { agent_id } = command
  if (reply.message_id !== null) await printReceipt(context, agent_id, reply.message_id)
  return exit
}

/** `holon take-back`: what no turn has read yet. */
export async function takeBack(context: Context, target: string): Promise<Exit> {
  const { id, agent_id } = await named(context, target, ['msg'])
  return act(context, { do: 'take_back', agent_id, message_id: id, surface: 'cli_prompt' })
}
