/**
 * Agents that are made when something is first said to them: the usual one for words, as
 * `holon run` makes it, and the one that carries out runbooks. Pure.
 */
import { usualAgents } from '../../protocol/usual-agents.ts'
import type { Act, TuiModel } from '../model/model.ts'

const isThere = ({ p }: TuiModel, agent_id: string): boolean =>
  p?.state.agents.some(({ id }) => id === agent_id) === true

/** Whom words are for that are about nothing: the usual agent first; runbooks are no words. */
export function wordsAgent({ p }: TuiModel): string {
  const able = (p?.state.agents ?? []).filter(
    ({ model, state }) => model !== 'runbook' && state !== 'deleted',
  )
  return (able.find(({ id }) => id === usualAgents.text) ?? able[0])?.id ?? usualAgents.text
}

/** Whom new words are for beside a row: its agent, unless that one carries out runbooks. */
export function newWordsAgent(model: TuiModel, beside: string | undefined): string {
  const agent = model.p?.state.agents.find(({ id }) => id === beside)
  return agent === undefined || agent.model === 'runbook' ? wordsAgent(model) : agent.id
}

/** What makes the agent of these words; null: it is there. Without a model it cannot be made. */
export function makesAgent(model: TuiModel, agent_id: string): Act | null | 'no_model' {
  if (model.p === null || agent_id !== usualAgents.text || isThere(model, agent_id)) return null
  const named = model.first.model
  return named === null ? 'no_model' : making(model, agent_id, named)
}

export const makesRunbookAgent = (model: TuiModel): Act | null =>
  isThere(model, usualAgents.runbook) ? null : making(model, usualAgents.runbook, 'runbook')

function making({ first }: TuiModel, id: string, model: string): Act {
  const { root, fallback_model } = first
  const body = {
    id,
    model,
    ...(fallback_model === null || model === 'runbook' ? {} : { fallback_model }),
    workspace: { mode: 'explicit_root', root },
  }
  return { route: 'POST /agents', given: { body }, says: `${id} is made` }
}

/** Why words are kept that have nobody to take them, and what makes that so. */
export const noModel =
  'not sent: no model is set. On the empty home 2 sets one up; holon init does, too.'
