/**
 * The handoff of a private child: what its parent asked of it, in every request as long as it is
 * supervised. It stands in front of all that changes, so that caches of it hold from turn to turn.
 */
import { cutBlock } from '../fence.ts'
import type { TokenEstimator } from '../estimate.ts'
import { clock } from '../phrase.ts'
import { authorityWords } from './messages.ts'
import { fenceOf } from './rounds.ts'
import { full, omitted, type Section } from '../section.ts'
import type { Situation } from './situation.ts'

const title = '# Your handoff'

export function handoffSection(
  { handoff, agent }: Pick<Situation, 'handoff' | 'agent'>,
  tokens: TokenEstimator,
  max_tokens: number,
): Section {
  if (!handoff) return omitted('handoff', 'nobody handed anything to it')
  const { message, path } = handoff
  const from = agent.supervisor_agent_id ?? 'your parent'
  const label = `handoff of ${from}, ${message.kind} ${message.id} at ${clock(message.created_at)}`
  const cut = { max_tokens, tokens, full_path: path }
  const body = cutBlock(fenceOf(message), label, message.body, cut)
  const authority = `From ${from}, ${authorityWords(message)}.`
  const text = `${title}\n\n${authority}\n\n${body}`
  return tokens(message.body) < max_tokens
    ? full('handoff', text, 'what its parent asked of it')
    : { section: 'handoff', text, form: 'compact', why: 'its head and tail; all of it is a file' }
}
