/** The home as this screen knows it, with what agents said before it was opened. Pure. */
import { home, type Home } from '../../present/home.ts'
import type { Presentation, Spoken } from '../../present/presentation.ts'
import { timesOf } from '../drawing/paint.ts'
import type { TuiModel } from '../model/model.ts'

type Briefs = { briefs: readonly { created_at: string; text: string }[] }

export const spokeKey = (agent_id: string): string => `spoke ${agent_id}`

export function homeOf(model: TuiModel, p: Presentation): Home {
  const read = p.state.agents.flatMap(({ id }): [string, Spoken][] => {
    const list = model.details.get(spokeKey(id))?.value as Briefs | undefined
    const last = list?.briefs.at(-1)
    return last === undefined ? [] : [[id, { at: last.created_at, text: last.text }]]
  })
  return home(p, timesOf(model), new Map(read))
}

/** Nothing was done here yet, and nothing said. */
export const isEmpty = (model: TuiModel): boolean =>
  model.p !== null && homeOf(model, model.p).empty
