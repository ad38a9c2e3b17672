/**
 * What a person is asked of what is held: all that it would do, the choices, and the mark of both,
 * without which no answer counts.
 */
import { canonical } from '../canonical.ts'
import type { WorkItemId } from '../ids.ts'
import { stableHash } from '../stable-hash.ts'
import { choiceLines, choiceNamed, type Choice } from '../state/question.ts'
import { isHeld, type HeldCall, type HeldTask, type Task } from '../state/task.ts'
import { grantChoices } from './grants.ts'

const verb = ({ call }: Pick<HeldCall, 'call'>) => (call === undefined ? 'run' : 'do')

/** From narrow to broad; a no is the last. */
export const heldChoices = ({
  held,
  work_item_id,
}: Pick<HeldTask, 'held' | 'work_item_id'>): readonly Choice[] => [
  { key: 'yes', label: `${verb(held)} it, this once` },
  ...grantChoices(held.grantable, work_item_id),
  { key: 'no', label: `do not ${verb(held)} it` },
]

/** Each with the number that it may be named by. */
export const heldChoiceLines = (task: Pick<HeldTask, 'held' | 'work_item_id'>): string[] =>
  choiceLines({ choices: heldChoices(task) }).map((line, at) => `${at + 1}. ${line}`)

/** By its key, its label or its number: the mark of an answer is of this very list. */
export function heldChoiceNamed(
  task: Pick<HeldTask, 'held' | 'work_item_id'>,
  said: string,
): Choice | null {
  const choices = heldChoices(task)
  const at = /^\d{1,2}$/.test(said) ? choices[Number(said) - 1] : undefined
  return at ?? choiceNamed({ choices, text: '', settles: null }, said)
}

/** All that is shown before an answer: what would be done, where, and why it is asked. */
export function heldText({
  cmd,
  workdir,
  label,
  held,
}: Pick<HeldTask, 'cmd' | 'workdir' | 'label' | 'held'>): string {
  const { because, changed, lapses_at, call } = held
  const [first = '', ...more] = lines((cmd ?? '').trim())
  const asks =
    call === undefined
      ? [`May this run? ${first}`, ...quoted(more)]
      : [`May this be done? ${label}`, ...quoted(lines(call.shown))]
  return [
    ...asks,
    `in ${workdir}`,
    because,
    ...(changed === null ? [] : [`Asked anew: ${changed}.`]),
    ...(lapses_at === null ? [] : [`Without an answer it lapses at ${lapses_at}.`]),
  ].join('\n')
}

const lines = (text: string): string[] => text.split(/\r\n?|[\n\v\f\u2028\u2029]/)

/** What it is made of never looks like what is said about it. */
const quoted = (of: readonly string[]): string[] => of.map((line) => `  | ${line}`)

/** The mark of what is asked as a client shows it; another yes than to this one does not count. */
export function heldHash({ id, held }: Pick<HeldTask, 'id' | 'held'>): string {
  const { call, action, because, asked_at, grantable } = held
  const done = call === undefined ? action.sha256 : [action.sha256, canonical(call)]
  return stableHash(JSON.stringify([id, done, because, asked_at, grantable]))
}

/** What is held of what a message is about: of the item that it names, else of any. */
export const heldAbout = (tasks: Iterable<Task>, item: WorkItemId | null): HeldTask[] =>
  [...tasks].filter(isHeld).filter((task) => item === null || task.work_item_id === item)

/** Said to whoever sends a message that may be meant as the answer; null: nothing waits for one. */
export function heldStill(held: readonly HeldTask[]): string | null {
  const [first] = held
  if (first === undefined) return null
  const more = held.length - 1
  const wait = more === 0 ? `${first.id} waits` : `${first.id} and ${more} more wait`
  return `${wait} for your yes, which a message is not: holon answer ${first.id} yes`
}
