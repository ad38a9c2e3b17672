/**
 * A search as the index is asked it. Every text in the expression is letters, digits and spaces
 * between quotes, made here: nothing that anybody wrote reaches the query language.
 */
import type { Term } from '../../domain/memory/words.ts'
import type { IndexEntry, IndexQuery } from './port.ts'

/** A character for private use: it is taken out of every text, so that no text can say a scope. */
const ours = '\ue000'

/** One word that stands for an agent or a kind, whatever its name has in it. */
const named = (mark: string, name: string): string =>
  ours + mark + Buffer.from(name).toString('hex')

/** Paths begin so, and names of agents do not. */
const isWorkspace = (owner: string): boolean => owner.startsWith('/')
const ofWorkspaces = named('w', '')

/** What is indexed of a text, and of the words beside it. */
export const wordsOf = ({ text, parts }: IndexEntry): string =>
  `${text}\n${parts}`.replace(/\p{Co}/gu, ' ')

/** What is indexed of an entry so that a search can be kept to some of them. */
export const scopeOf = ({ agent_id, seen_by, kind }: IndexEntry): string =>
  [
    ...(isWorkspace(agent_id) ? [ofWorkspaces] : []),
    named('a', agent_id),
    named('v', agent_id),
    ...(seen_by === null ? [] : [named('v', seen_by)]),
    named('k', kind),
  ].join(' ')

/**
 * Without naming columns: the index would have to look at every place of a common word to tell in
 * which column it stands, which takes ten times as long.
 */
export function matchOf(query: IndexQuery, inside: (term: Term) => readonly string[]): string {
  const { terms, match } = query
  const each = terms.map((term) => termMatch(term, inside(term)))
  const words = each.join(match === 'all' ? ' AND ' : ' OR ')
  return within([`(${words})`], query)
}

type Scope = Omit<IndexQuery, 'terms' | 'match'>

/** What a search of the newest is kept to; null: all that agents have. */
export function matchOfScope(scope: Scope): string | null {
  const { viewer, agent_id, kinds } = scope
  return viewer === null && agent_id === null && kinds === null ? null : within([], scope)
}

/** Files of workspaces are for those who work there: a search for nobody leaves them out. */
function within(words: readonly string[], scope: Scope): string {
  const match = [...words, ...scopesOf(scope)].join(' AND ')
  return scope.viewer === null ? `(${match}) NOT "${ofWorkspaces}"` : match
}

function scopesOf({ viewer, workspace, agent_id, kinds }: Scope): string[] {
  const seen = [viewer, workspace].flatMap((one) => (one === null ? [] : [`"${named('v', one)}"`]))
  return [
    ...(viewer === null ? [] : [`(${seen.join(' OR ')})`]),
    ...(agent_id === null ? [] : [`"${named('a', agent_id)}"`]),
    ...(kinds === null ? [] : [`(${kinds.map((kind) => `"${named('k', kind)}"`).join(' OR ')})`]),
  ]
}

/** `inside`: the words that have it as a part, besides those that begin with it. */
function termMatch({ written, reach, parts }: Term, inside: readonly string[]): string {
  const end = reach === 'whole' ? '' : ' *'
  const ways = [`"${written}"${end}`, ...inside.map((word) => `"${word}"`)]
  if (parts !== null) ways.push(`"${parts.join(' ')}"${end}`)
  return ways.length === 1 ? (ways[0] ?? '') : `(${ways.join(' OR ')})`
}
