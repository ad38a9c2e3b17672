/**
 * The conservation law of the inbox (docs/spec/message.md#inbox): no message is non-terminal
 * without an open turn, a wait, a schedule or a stopped agent to carry it; a late result waits for
 * the next turn. Pure.
 */
import { isLate } from '../../domain/inbox/late-results.ts'
import type { Message } from '../../domain/state/message.ts'
import type { AgentView } from '../agent-view.ts'

/** One sentence for each message that nothing carries any more; empty is well. */
export function conservation(view: AgentView): string[] {
  const { facts, turn, next } = view
  return [...facts.rows('messages')].flatMap((message): string[] => {
    if (message.status === 'claimed') {
      return message.turn_id === turn?.id
        ? []
        : [`${message.id} is claimed by a turn that is not open`]
    }
    if (message.status !== 'queued' || isCarried(view, message)) return []
    return [`${message.id} is queued and ${view.agent.id} sleeps (${next.because})`]
  })
}

/** A queued message is carried by any state of the agent that will look at the queue again. */
function isCarried({ facts, next, survey }: AgentView, message: Message): boolean {
  if (next.do !== 'sleep' || isLate(facts, message)) return true
  const { fast, normal, background } = survey.lanes
  return [...fast, ...normal, ...background].some(({ id }) => id === message.id)
}
