/**
 * Question: what a person, or a parent agent, is asked, in full, with the answers that were
 * offered. It is one value from the call that asks it to every screen that shows it and to the
 * request that shows its answer.
 */
import { limits } from '../limits.ts'
import { no, overLimit, type Rejection } from '../rejection.ts'

/** An answer that was offered: named by its key or its label, in any case. */
export type Choice = { key: string; label: string }

/** As it is offered; without a key its place in the list is the key. */
export type GivenChoice = { label: string; key?: string | undefined }

export type Question = {
  text: string
  choices: readonly Choice[]
  /**
   * What the answer sets back: the plan status of an item that needs input. Null: it ends the wait
   * and nothing else.
   */
  settles: 'plan_status' | null
}

/** A question without choices. */
export const plainQuestion = (text: string, settles: Question['settles'] = null): Question => ({
  text,
  choices: [],
  settles,
})

/** The choices as they are stored, each with its key; or why they cannot be told apart. */
export function choicesOf(
  given: readonly GivenChoice[],
): { ok: true; choices: readonly Choice[] } | Rejection {
  if (given.length > limits.choices.value) return overLimit(limits.choices, given.length)
  const choices = given.map(({ key, label }, n) => ({
    key: key?.trim() || String(n + 1),
    label: label.trim(),
  }))
  const taken = new Set<string>()
  for (const { key, label } of choices) {
    if (label === '') return no('choice_empty', 'A choice has no label.')
    if (label.length > limits.choice.value) return overLimit(limits.choice, label.length)
    if (key.length > limits.choice_key.value) return overLimit(limits.choice_key, key.length)
    // A choice may be called by its key.
    for (const name of new Set([folded(key), folded(label)])) {
      if (taken.has(name)) return no('choices_alike', `"${name}" names two of the choices.`)
      taken.add(name)
    }
  }
  return { ok: true, choices }
}

/** A question within its limits, with the keys of its choices. */
export function questionOf(
  text: string,
  given: readonly GivenChoice[],
): { ok: true; question: Question } | Rejection {
  if (text.trim() === '') return no('question_empty', 'The question is empty.')
  if (text.length > limits.question.value) return overLimit(limits.question, text.length)
  const made = choicesOf(given)
  if (!made.ok) return made
  return { ok: true, question: { text: text.trim(), choices: made.choices, settles: null } }
}

const folded = (text: string): string => text.trim().toLowerCase()

/** The choice that a text names, by its key or its label; null: the text is an answer in words. */
export function choiceNamed(question: Question | null, text: string): Choice | null {
  const name = folded(text)
  const named = (choice: Choice) => folded(choice.key) === name || folded(choice.label) === name
  return question?.choices.find(named) ?? null
}

/**
 * An answer that begins with a choice: its first word, and what is said with it. `no, use a branch`
 * is a no with words; `yes?` is a question, and no yes.
 */
export function choiceWithWords(text: string): { choice: string; words: string } {
  const line = text.trim().split(/\s+/).join(' ')
  const [, choice = '', words = ''] = behindMark.exec(line) ?? /^(\S*) ?(.*)$/.exec(line) ?? []
  return { choice, words }
}

/** A word, a mark that ends it, and what follows. A hyphen does only where a gap is behind it. */
const behindMark = /^(\w+) ?(?:[,.:;!…–—]+(?= |$|\p{L})|-+(?= |$)) ?(.*)$/u

/** What an answer says: the label of the choice that it names, else its own words. */
export const answerWords = (question: Question | null, text: string): string =>
  choiceNamed(question, text)?.label ?? text

/** `1: red`, one line for each answer that was offered. */
export const choiceLines = ({ choices }: Pick<Question, 'choices'>): string[] =>
  choices.map(({ key, label }) => (key === label ? label : `${key}: ${label}`))

/** The text with its choices behind it, for a place that holds one text. */
export const questionText = (question: Pick<Question, 'text' | 'choices'>): string =>
  [question.text, ...choiceLines(question)].join('\n')
