/** Said where a search found nothing: what was looked through, and for which words. Pure. */
import {
  memoryKinds,
  shortestPrefix,
  shortestStem,
  termsOf,
} from '../../protocol/records/search-terms.ts'

type Kind = (typeof memoryKinds)[number]

const names: Readonly<Record<Kind, string>> = {
  work_item: 'items',
  plan: 'plans',
  brief: 'briefs',
  report: 'reports',
  message: 'messages',
  round: 'rounds',
  call: 'calls',
  task: 'tasks',
  task_output: 'their output',
  schedule: 'schedules',
  file: "agents' own files",
}

/** `kinds`: what the search was kept to; null: everything. */
export function unfoundLines(query: string, kinds: readonly Kind[] | null): string[] {
  const all = (kinds ?? memoryKinds).map((kind) => names[kind])
  const last = all.length > 1 ? ` and ${all.at(-1) ?? ''}` : ''
  const looked = `looked through ${(last === '' ? all : all.slice(0, -1)).join(', ')}${last}`
  return [looked, ...termsOf(query).flatMap(shortWords)]
}

/** Of a word that is too short to be looked for inside others. */
function shortWords({ words, written, reach }: ReturnType<typeof termsOf>[number]): string[] {
  const [word = ''] = words
  if (words.length > 1 || reach !== 'whole' || word.length >= shortestStem) return []
  const begins = word.length >= shortestPrefix ? `; ${written}* finds what begins with it` : ''
  return [`"${written}", with less than ${shortestStem} letters, is a whole word${begins}`]
}
