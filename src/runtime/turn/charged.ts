/**
 * A model whose answers that break off are paid for: each is charged in a commit of its own, before
 * the request goes out again, which it does not when a budget is used up by that. A process that
 * dies between the answer's break and that commit charges nothing.
 */
import { charsPerToken } from '../../context/estimate.ts'
import { chargeCut } from '../../domain/budgets/cut-answer.ts'
import { openTurn } from '../../domain/facts/facts.ts'
import { nextStep } from '../../domain/turns/step.ts'
import type { Round, Usage } from '../../domain/state/turn.ts'
import type { CutAnswer, Model } from '../../models/model.ts'
import type { AgentPorts } from '../agent-ports.ts'

/** `read`: tokens of the request by estimate, where the provider has reported none. */
export const charged = (env: AgentPorts, model: Model, round: Round, read: number): Model => ({
  async request(request, options) {
    const outcome = await model.request(request, options)
    if (outcome.ok || outcome.cut === undefined) return outcome
    const usage = usageOfCut(env, request.model, outcome.cut, read)
    await env.transact(round.id, (d) => chargeCut(d, round.id, usage))
    return mayAsk(env) ? outcome : { ok: false, fault: { ...outcome.fault, retryable: false } }
  },
})

/** Whether the open request may still go out. */
export const mayAsk = (env: AgentPorts): boolean =>
  openTurn(env.facts()) !== null && nextStep(env.facts(), env.now()).do === 'stream'

/** What the provider did not count is what was sent, and what was heard, by estimate. */
function usageOfCut(env: AgentPorts, model: string, cut: CutAnswer, read: number): Usage {
  const { chars, usage, output_so_far = 0 } = cut
  const heard = Math.max(output_so_far, Math.ceil(chars / charsPerToken))
  const counted = {
    ...usage,
    input_tokens: usage.input_tokens ?? read,
    output_tokens: usage.output_tokens ?? heard,
  }
  return { ...counted, usd: env.ports.models.price(model, counted) }
}
