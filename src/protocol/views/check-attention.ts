/**
 * What of the checks of completed items needs a person, at most one entry for each item: that its
 * checks failed or came to nothing that verifies it, or else the first question that a check asks.
 * A rerun that passes closes the one, an answer the other. Pure.
 */
import { isAlive, isUnderWay } from '../../domain/state/check.ts'
import { verificationOf } from '../../domain/facts/verification.ts'
import type { WorkItem } from '../../domain/state/work-item.ts'
import { actOn, answerCheck, lookAt, type Action } from '../actions/action.ts'
import type { AgentView } from '../agent-view.ts'

/** An entry of the attention list (`attention.ts`). */
type CheckEntry = {
  id: string
  kind: 'check_failed' | 'check_asked'
  agent_id: string
  work_item_id: WorkItem['id']
  text: string
  since: string
  acts: () => readonly Action[]
}

export const checkEntries = ({ facts }: AgentView): CheckEntry[] =>
  [...facts.rows('work_items')].flatMap((item) => {
    if (item.state !== 'completed' || item.checks.length === 0) return []
    const entry = entryOf(item)
    return entry === null ? [] : [entry]
  })

function entryOf(item: WorkItem): CheckEntry | null {
  const { id, agent_id, objective, checks } = item
  const { state, says } = verificationOf(item)
  const base = { id, agent_id, work_item_id: id }
  const questions = checks.flatMap((check) =>
    check.kind === 'person' && isAlive(check) ? [check] : [],
  )
  const answers = () => questions.map(({ name }) => answerCheck(item, name))
  switch (state) {
    case 'failed':
    case 'unknown':
    case 'changed':
      return {
        ...base,
        kind: 'check_failed',
        text: `"${objective}" is done and not verified: ${says}`,
        since: lastEnd(item),
        acts: () => [lookAt(item), actOn('run_checks', 'run its checks again', item), ...answers()],
      }
    case 'pending': {
      const [question] = questions
      // First what the runtime can find out by itself: a failure may spare the person the look.
      const running = checks.some(isUnderWay)
      if (question === undefined || running) return null
      return {
        ...base,
        kind: 'check_asked',
        text: `${question.question} (of "${objective}")`,
        since: question.run?.owed_at ?? item.updated_at,
        acts: () => [lookAt(item), ...answers()],
      }
    }
    case 'none':
    case 'asked':
    case 'verified':
      return null
  }
}

const lastEnd = (item: WorkItem): string =>
  item.checks.reduce(
    (last, { run }) =>
      run?.state === 'finished' && run.finished_at > last ? run.finished_at : last,
    item.completed_at ?? item.updated_at,
  )
