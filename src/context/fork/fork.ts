/**
 * Fork: what a child inherits, derived from the parent's structured state and never copied from
 * its transcript (docs/spec/agent.md#fork). Ordered by how rarely a part changes; what the handoff
 * brings comes last, so that forks of the same state begin with the same text whatever each is
 * asked to do. Pure: no time, no random mark, nothing of the child.
 */
import type { TokenEstimator } from '../estimate.ts'
import { cutBlock, block } from '../fence.ts'
import { itemPart, planPart, statePart } from './item.ts'
import { enteringItems, episodesPart, othersPart } from './others.ts'
import {
  forkSections,
  omitted,
  partSeed,
  type ForkPart,
  type ForkSection,
  type ForkSource,
} from './source.ts'
import { notesPart, tailPart } from './tail.ts'
import { contextLimits } from '../limits.ts'
import { counted, oneLine, quoted } from '../phrase.ts'
import { template } from '../template.ts'

/** One line of the account of a fork: what of each section came in, and why. */
export type ForkEntry = Pick<ForkPart, 'section' | 'form' | 'why'> & { tokens: number }

export type Fork = {
  /** The same for every handoff, at most `fork_prefix` tokens. */
  prefix: string
  /** The prefix, then what the handoff brings; at most `fork` tokens. Stored once for the child. */
  whole: string
  /** Every section, in the order in which they stand. */
  manifest: readonly ForkEntry[]
}

/**
 * The child's inherited view. In the prefix the plan is served first, then other items, notes and
 * the tail: what is cut first is the tail. Sizes of the rest are fixed, so the prefix does not
 * depend on them.
 */
export function deriveFork(source: ForkSource, tokens: TokenEstimator): Fork {
  const limits = contextLimits
  const entering = enteringItems(source)
  const fixed = [headPart(source), itemPart(source), statePart(source, tokens)]
  let left = limits.fork_prefix.value
  const spend = (part: ForkPart): ForkPart => {
    if (part.text !== '') left -= tokens(part.text) + 2
    return part
  }
  fixed.forEach(spend)
  const room = (limit: { value: number }): number => Math.min(limit.value, left)
  const plan = spend(planPart(source, tokens, room(limits.fork_plan)))
  const others = spend(
    othersPart('others', entering.bound, source, tokens, room(limits.fork_others)),
  )
  const episodes = spend(episodesPart(source, entering.bound, tokens, room(limits.fork_episodes)))
  const notes = spend(notesPart(source, tokens, room(limits.fork_notes)))
  const tail = spend(tailPart(source, tokens, room(limits.fork_tail)))
  const first = inOrder([...fixed, plan, others, episodes, notes, tail])
  const half = Math.floor(limits.fork_named.value / 2)
  const named = othersPart('named', entering.named, source, tokens, half)
  const last = [named, siblingsPart(source, tokens, half), handoffPart(source, tokens)]
  const prefix = textOf(first)
  return {
    prefix,
    whole: textOf([...first, ...last]),
    manifest: [...first, ...last].map(({ section, text, form, why }) => ({
      section,
      tokens: tokens(text),
      form,
      why,
    })),
  }
}

const textOf = (parts: readonly ForkPart[]): string =>
  parts
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('\n\n')

const place = (section: ForkSection): number => forkSections.indexOf(section)

const inOrder = (parts: readonly ForkPart[]): ForkPart[] =>
  parts.toSorted((a, b) => place(a.section) - place(b.section))

function headPart({ parent, item }: ForkSource): ForkPart {
  const head = template('fork', 'head', { parent })
  const text = item === null ? `${head}\n\n${template('fork', 'no_item', { parent })}` : head
  return { section: 'head', text, form: 'full', why: 'what the view is and is not' }
}

/** Children at work on the same item. After the prefix: each fork adds one. */
function siblingsPart(source: ForkSource, tokens: TokenEstimator, max_tokens: number): ForkPart {
  const { item, parent, running } = source
  const id = item?.item.id ?? null
  const children = running
    .filter((task) => task.kind === 'child_agent' && task.work_item_id === id)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  if (children.length === 0) return omitted('siblings', 'no other child is at work on it')
  const on = item === null ? 'no item' : 'this item'
  const title = `## Other children of ${parent} at work on ${on}`
  const lines: string[] = []
  let left = max_tokens - tokens(title) - 12
  for (const task of children.slice(0, contextLimits.fork_tasks.value)) {
    const line = `- ${oneLine(task.child_agent_id ?? task.id)} ${quoted(task.label)}`
    left -= tokens(line) + 1
    if (left < 0) break
    lines.push(line)
  }
  const more = children.length - lines.length
  const rest = more > 0 ? [`- and ${counted(more, 'more child', 'more children')}`] : []
  const form = more > 0 ? 'cut' : 'full'
  const text = [title, '', ...lines, ...rest].join('\n')
  return { section: 'siblings', text, form, why: 'so that no work is done twice' }
}

function handoffPart({ parent, handoff }: ForkSource, tokens: TokenEstimator): ForkPart {
  const head = `## Handoff\n\n${template('fork', 'handoff', { parent })}`
  const max_tokens = contextLimits.fork_handoff.value - tokens(head) - 2
  const seed = partSeed('handoff', handoff)
  const text = cutBlock(seed, 'handoff', handoff, { max_tokens, tokens, full_path: null })
  const form = text === block(seed, 'handoff', handoff) ? 'full' : 'cut'
  const why = form === 'full' ? 'what the child is asked' : 'the message itself has it whole'
  return { section: 'handoff', text: `${head}\n\n${text}`, form, why }
}
