/**
 * A search as the index is asked it. Every text in the expression is letters, digits and spaces
 * between quotes, made here: nothing that anybody wrote reaches the query language.
 */
import type { Term } from '../domain/memory-words.ts'
import type { IndexEntry, IndexQuery } from './search-port.ts'

/** A character for private use: it is taken out of every text, so that no text can say a scope. */
const ours = '\ue000'

/** One word that stands for an agent or a kind, whatever its name has in it. */
const named = (mark: string, name: string): string =>
  ours + mark + Buffer.from(name).toString('hex')

/** What is indexed of a text, and of the words beside it. */
export const wordsOf = ({ text, parts }: IndexEntry): string =>
  `${text}\n${parts}`.replace(/\p{Co}/gu, ' ')

/** What is indexed of an entry so that a search can be kept to some of them. */
export const scopeOf = ({ agent_id, seen_by, kind }: IndexEntry): string =>
  [
    named('a', agent_id),
    named('v', agent_id),
    ...(seen_by === null ? [] : [named('v', seen_by)]),
    named('k', kind),
  ].join(' ')

/**
 * Without naming columns: the index would have to look at every place of a common word to tell in
 * which column it stands, which takes ten times as long.
 */
export function matchOf(query: IndexQuery): string {
  const { terms, match } = query
  const words = terms.map(termMatch).join(match === 'all' ? ' AND ' : ' OR ')
  return [`(${words})`, ...scopesOf(query)].join(' AND ')
}

/** What a search is kept to; none: everything. */
export function scopesOf({
  viewer,
  agent_id,
  kinds,
}: Omit<IndexQuery, 'terms' | 'match'>): string[] {
  return [
    ...(viewer === null ? [] : [`"${named('v', viewer)}"`]),
    ...(agent_id === null ? [] : [`"${named('a', agent_id)}"`]),
    ...(kinds === null ? [] : [`(${kinds.map((kind) => `"${named('k', kind)}"`).join(' OR ')})`]),
  ]
}

function termMatch({ written, prefix, parts }: Term): string {
  const end = prefix ? ' *' : ''
  const text = `"${written}"${end}`
  return parts === null ? text : `(${text} OR "${parts.join(' ')}"${end})`
}
