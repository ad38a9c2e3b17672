/**
 * The question of an item whose plan needs input. It is kept on the item from the change to
 * `needs_input` on, and becomes a wait for the operator as soon as no turn is open that could still
 * say more and no other wait holds the item. Its answer sets the plan status back to draft.
 */
import { askOperator } from './must-wait.ts'
import { agentOf, openTurn, type Draft } from '../facts/facts.ts'
import type { WorkItemId } from '../ids.ts'
import { limits } from '../limits.ts'
import { plainQuestion } from '../state/question.ts'
import { rankingOf } from '../facts/ranking.ts'
import type { By, InputWanted, WorkItem } from '../state/work-item.ts'

/** What is asked of an item whose question nobody gave: the first lines of its plan, else so. */
export function questionOfPlan(objective: string, plan: string): string {
  const lines = plan.split('\n').filter((line) => line.trim() !== '')
  const head = lines.slice(0, planLines).join('\n').slice(0, limits.plan_question.value).trim()
  return head === '' ? `The plan needs your input: ${objective}` : head
}

const planLines = 20

/** The words of the item's question, also of one that an earlier program stored without. */
export const wantedWords = ({ objective, input_wanted }: WorkItem): string =>
  input_wanted?.question ?? questionOfPlan(objective, '')

/** Items that need input and that nobody was asked about, because nothing else holds them. */
const unasked = (d: Draft): readonly WorkItem[] => rankingOf(d).at(d.now).unasked

/** Outside of turns: every question that is owed is asked. */
export function askForInput(d: Draft): void {
  if (openTurn(d) !== null || agentOf(d).state === 'deleted') return
  for (const item of unasked(d)) ask(d, item, wantedWords(item), 'agent')
}

/** The question of one item, at once: a change by the operator waits for no turn to end. */
export function askForInputOf(d: Draft, id: WorkItemId, by: By): void {
  const item = unasked(d).find((one) => one.id === id)
  if (item) ask(d, item, wantedWords(item), by)
}

/**
 * At the end of a turn, while it is still open. Its last words are the question of its own item,
 * where the item was given none: true, and they need no telling beside it.
 */
export function askAtTurnEnd(d: Draft, item: WorkItem | null, text: string): boolean {
  const speaks = item !== null && isMeant(item, text)
  for (const owed of unasked(d)) {
    const words = speaks && owed.id === item.id ? text : wantedWords(owed)
    ask(d, owed, words, 'agent')
  }
  return speaks && item.input_wanted !== null && keepWords(d, item.id, text)
}

const isMeant = (item: WorkItem, text: string): boolean =>
  item.state === 'open' &&
  item.plan_status === 'needs_input' &&
  item.input_wanted?.given === false &&
  text !== ''

/** The words are the item's question from now on. Says whether they were asked just now. */
function keepWords(d: Draft, id: WorkItemId, text: string): boolean {
  const item = d.row('work_items', id)
  if (item?.input_wanted) {
    const input_wanted = { ...item.input_wanted, question: text, given: true }
    d.emit({ type: 'work_item_updated', id, by: 'agent', changed: { input_wanted } })
  }
  return rankingOf(d).waitOf(id)?.question?.settles === 'plan_status'
}

function ask(d: Draft, item: WorkItem, words: string, by: By): void {
  askOperator(d, {
    by,
    runtime_cause: null,
    reason: 'its plan needs input',
    work_item_id: item.id,
    question: plainQuestion(words, 'plan_status'),
    // The change to needs_input let go of the focus: the answer gives it back.
    held_focus: item.input_wanted?.held_focus === true,
  })
}

/** What the item wants to know after a change: null where its plan needs no input. */
export function inputWanted(
  item: Pick<WorkItem, 'plan_status' | 'input_wanted' | 'objective'>,
  given: { plan_status?: WorkItem['plan_status']; question?: string; plan: string },
): InputWanted | null {
  const { plan_status = item.plan_status, question, plan } = given
  if (plan_status !== 'needs_input') return null
  const held_focus = item.input_wanted?.held_focus ?? false
  if (question !== undefined) return { question: question.trim(), given: true, held_focus }
  return (
    item.input_wanted ?? {
      question: questionOfPlan(item.objective, plan),
      given: false,
      held_focus,
    }
  )
}
