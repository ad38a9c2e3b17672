/** `holon answer`: to a wait, to the question an item waits with, or to a held command. */
import { safeLine, safeLines } from '../../present/text/safe.ts'
import {
  boundHash,
  choiceWithWords,
  heldChoiceLines,
  heldChoiceNamed,
  heldChoices,
  heldHash,
  heldText,
  isHeld,
  wordText,
} from '../../protocol/records/records.ts'
import { act, named, notEmpty, type RecordRef } from '../command/act.ts'
import { printLines, reading, type Context } from '../command/context.ts'
import { usage, type Exit } from '../command/failure.ts'

export async function answer(
  context: Context,
  target: string,
  text: string,
  { mark }: { mark?: string } = {},
): Promise<Exit> {
  notEmpty(text, 'the answer is empty', `holon answer ${target} "<text>"`)
  const found = await named(context, target, ['wait', 'work', 'task'])
  if (found.id.startsWith('task_')) return answerHeld(context, found, text, mark)
  const wait = found.id.startsWith('wait_') ? found : await questionOf(context, target, found)
  const bound_hash = await markOfChild(context, wait)
  if (bound_hash !== null) {
    const { id: wait_id, agent_id } = wait
    return act(context, {
      do: 'answer',
      agent_id,
      wait_id,
      bound_hash,
      text,
      surface: 'cli_prompt',
    })
  }
  const about = wait.id.startsWith('wait_') ? { wait_id: wait.id } : { work_item_id: wait.id }
  return act(context, {
    do: 'send',
    agent_id: wait.agent_id,
    ...about,
    text,
    surface: 'cli_prompt',
  })
}

/**
 * Whether a held command may run: a choice, with words behind it. Who gives no mark has not seen
 * what would run: it is shown with all choices, and the line that answers exactly that.
 */
async function answerHeld(
  context: Context,
  { id, agent_id }: RecordRef,
  text: string,
  mark: string | undefined,
): Promise<Exit> {
  const task = await reading(context, (reader) => reader.row('tasks', id))
  if (!task || !isHeld(task)) {
    throw usage('no_question', `${id} asks nothing now`, `holon tasks show ${id}`)
  }
  const { choice, words } = choiceWithWords(text)
  const bound_hash = heldHash(task)
  const short = bound_hash.slice(0, markLength)
  const named = heldChoiceNamed(task, choice)?.key ?? null
  // A word that is no choice is a slip; a sentence is what a no would say.
  const known = named ?? (words === '' ? null : 'no,')
  const behind = named === null ? text.trim() : words
  const said = known === null ? '<choice>' : wordText(`${known} ${behind}`.trim())
  const then = `holon answer ${id} ${said} --mark ${short}`
  if (mark === undefined || !bound_hash.startsWith(mark) || mark.length < markLength) {
    const shown = safeLines(heldText(task))
    const choices = heldChoiceLines(task).map((line) => safeLine(line))
    printLines(context, [...shown, safeLine(''), ...choices, safeLine('')])
    const why = mark === undefined ? 'nothing is answered yet' : 'it is not what that mark was of'
    throw usage('mark_wanted', `${why}: look at what would run`, then)
  }
  if (named === null) {
    const offered = heldChoices(task).map(({ key }) => key)
    const why = `${wordText(choice)} is no choice of ${id}, which takes ${offered.join(', ')}`
    throw usage('choice_unknown', `${why}; a no takes your words behind it`, then)
  }
  return act(context, {
    do: 'answer_held',
    agent_id,
    task_id: id,
    bound_hash,
    choice,
    ...(words === '' ? {} : { text: words }),
    surface: 'cli_prompt',
  })
}

/** Characters of a mark that are typed. */
const markLength = 6

/** A private child takes no message: only the very question that it asked is answered. */
function markOfChild(context: Context, { id, agent_id }: RecordRef): Promise<string | null> {
  return reading(context, async (reader) => {
    if ((await reader.row('agents', agent_id))?.visibility !== 'private') return null
    const wait = await reader.row('waits', id)
    return wait === null ? null : boundHash(wait)
  })
}

function questionOf(context: Context, text: string, item: RecordRef): Promise<RecordRef> {
  return reading(context, async (reader) => {
    const waits = await reader.list('waits', {
      agent_id: item.agent_id,
      work_item_id: item.id,
      status: ['active'],
      limit: 5,
    })
    const question = waits.find(({ wake }) => wake === 'operator_input')
    if (question) {
      return { id: question.id, agent_id: item.agent_id, work_item_id: item.id, kind: null }
    }
    const row = await reader.row('work_items', item.id)
    const [held] = waits
    if (row?.state === 'open' && row.plan_status === 'needs_input') {
      // Nobody was asked yet: words about the item are the answer all the same.
      if (held === undefined) return item
      const then = `holon waits; its question is asked when ${held.id} ends`
      throw usage('question_waits', `${text} waits for something else first`, then)
    }
    throw usage(
      'no_question',
      `${text} asks nothing now`,
      `holon send --work-item ${text} "<text>" tells its agent something`,
    )
  })
}
