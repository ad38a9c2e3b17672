/**
 * The opening of a turn's requests: a prefix that changes rarely (system text, then instructions
 * and what the agent is) and one projection of the ledger, ordered by how rarely its parts change.
 * Pure: the same situation and options give the same text.
 */
import type { Agent } from '../../domain/state/agent.ts'
import { budgetLine } from '../../domain/facts/budget.ts'
import type { Call } from '../../domain/state/call.ts'
import { itemRecord } from '../../domain/work/item-record.ts'
import { anchorSection } from '../sections/anchor.ts'
import { candidateSection } from '../sections/candidates.ts'
import type { TokenEstimator } from '../estimate.ts'
import { answerTokens } from './fits.ts'
import { handoffSection } from '../sections/handoff.ts'
import { historySection } from '../sections/history.ts'
import { inheritedSection } from '../sections/inheritance.ts'
import { instructionSection } from '../sections/instructions.ts'
import type { Limit } from '../../domain/limits.ts'
import type { Short } from '../../domain/state/short-id.ts'
import { itemSection, taskLine, type SectionView } from '../sections/item.ts'
import type { Message } from '../../domain/state/message.ts'
import { contextLimits } from '../limits.ts'
import type { Projected } from '../message.ts'
import { inputSection, withShortOutside, type MessagesView } from '../sections/messages.ts'
import { notesSection } from '../sections/item-notes.ts'
import { oneLine } from '../phrase.ts'
import { isTerminal } from '../../domain/state/task.ts'
import { saidSection } from '../sections/recent-messages.ts'
import { placeSection } from '../sections/place.ts'
import { full, joined, manifestOf, omitted, type Section } from '../section.ts'
import type { QuotedImages } from '../sent-images.ts'
import { itemInFull, type ItemView, type Situation } from '../sections/situation.ts'
import { itemMarks } from '../result-view.ts'
import { skillSection } from '../sections/skills.ts'
import { promptText, template } from '../template.ts'

export type OpeningView = QuotedImages & {
  tokens: TokenEstimator
  /** The model's context window in estimated tokens. */
  window: number
  /** Random per opening, ≥ 8 letters or digits: the code of the quoted blocks. */
  random_fence: string
  /** Where the whole result of a call of an earlier turn is; none without it. */
  full_path?: (call: Call) => string | null
  /** Where the whole of a message is that is cut here; none without it. */
  message_path?: (message: Message) => string | null
  /** Ids as they are shown; without it whole. */
  short?: Short
}

/**
 * `opening_share` of the window is the aim. What gives way, first to last: earlier rounds, other
 * tasks, other items from the last class up, process notes, the item's ended tasks and the preview
 * of its plan, long messages. Anchor, counts and the pinned block stay, so a window too small for
 * those is for `fits` to refuse.
 */
export function renderOpening(situation: Situation, view: OpeningView): Projected {
  const { tokens } = view
  const fixed = systemSections(situation, view)
  const system = joined(fixed)
  const aim = Math.floor(view.window * contextLimits.opening_share.value)
  const sections = userSections(situation, view, {
    beside: tokens(system),
    left: aim - tokens(system),
    recap_tokens: null,
    words_tokens: wordsRoom(view.window),
  })
  return {
    system,
    user: joined(sections),
    sections: manifestOf([...fixed, ...sections], tokens),
    items: itemsIn(situation, sections),
    place: situation.place ?? null,
  }
}

/** The turn's item where the opening has all of it. */
export function itemsIn(situation: Situation, sections: readonly Section[]): Projected['items'] {
  const item = itemInFull(situation)
  const whole = sections.some(({ section, form }) => section === 'item' && form === 'full')
  if (item === null || !whole) return {}
  const { projection, plan } = item
  const record = itemRecord(projection, plan, { include_todo_list: true })
  return { [projection.item.id]: itemMarks(record) }
}

export type Room = {
  /** Tokens of the request that stand before the user's part. */
  beside: number
  /** What the user's part should take. */
  left: number
  /** What is kept free for the recap of a compaction, which takes its place; null: none. */
  recap_tokens: number | null
  /** What was said about the item may take. */
  words_tokens: number
}

/** What the words about an item may take of a request in this window. */
export const wordsRoom = (window: number): number =>
  Math.min(contextLimits.words_tokens.value, Math.floor(window * contextLimits.words_share.value))

/** Filled in order of importance, given back in order of stability. */
export function userSections(situation: Situation, view: OpeningView, room: Room): Section[] {
  const { tokens, window } = view
  const compacted = room.recap_tokens !== null
  const short = view.short ?? wholeId
  const section = sectionView(situation, view, short)
  const whole = { ...section, full_path: view.full_path ?? (() => null) }
  const input_view = { ...section, full_path: view.message_path ?? (() => null) }
  const share = (of: Limit): number => Math.floor(window * of.value)
  let left = room.left - (room.recap_tokens ?? 0)
  const spend = <T extends Section>(one: T): T => {
    if (one.text !== '') left -= tokens(one.text) + 1
    return one
  }
  const anchor = spend(full('anchor', anchorSection(situation, compacted), 'why this turn runs'))
  const place = spend(placeSection(situation.place))
  const inherited = spend(
    inheritedPart(situation.inherited, tokens, share(contextLimits.inherited_share)),
  )
  const { handoff_tokens, inherited_share } = contextLimits
  const handed = Math.min(handoff_tokens.value, share(inherited_share))
  const handoff = spend(handoffSection(situation, tokens, handed))
  const beside = room.beside + tokens(anchor.text) + tokens(inherited.text) + tokens(handoff.text)
  const free = Math.floor((window - answerTokens(window) - beside) / 2)
  const least = Math.max(Math.floor(left / 2), share(contextLimits.input_share))
  const max_tokens = compacted ? Math.min(free, least) : free
  const input = spend(inputPart(situation, { ...input_view, max_tokens, goes_on: compacted }))
  const words = situation.words ?? []
  const item = spend(
    itemSection(
      withoutToldBelow(situation),
      words,
      section,
      {
        max_tokens: left,
        words_tokens: room.words_tokens,
        plan_tokens: compacted ? share(contextLimits.plan_share) : 0,
      },
      situation.item === null ? 'offered' : 'own',
    ),
  )
  const above = new Set(words.map(({ id }) => id))
  const noted = Math.min(contextLimits.notes_tokens.value, share(contextLimits.notes_share), left)
  const { said_tokens, said_share } = contextLimits
  const room_said = Math.min(said_tokens.value, share(said_share), left)
  const said = spend(saidSection(situation, above, section, room_said))
  const stands = { above, shown: new Set([...said.whole, ...answersOf(situation)]) }
  const notes = spend(notesSection(situation, { ...section, ...stands }, noted))
  const others = spend(candidateSection(situation, said.told, tokens, left))
  const tasks = spend(otherTasks(situation, tokens, left))
  const budget = spend(budgetPart(situation))
  const history = compacted ? 0 : share(contextLimits.earlier_share)
  const earlier = spend(
    historySection(situation.earlier, { ...whole, above }, Math.min(history, left)),
  )
  return [
    inherited,
    handoff,
    item,
    notes,
    others,
    said,
    tasks,
    budget,
    earlier,
    omitted('recap', 'no round went out of the request'),
    place,
    anchor,
    input,
  ].map((one) => withShort(one, short))
}

const sectionView = ({ now }: Situation, view: OpeningView, short: Short): SectionView => ({
  now,
  fence: view.random_fence,
  tokens: view.tokens,
  short,
  ...(view.image_path === undefined ? {} : { image_path: view.image_path }),
  sees_images: view.sees_images ?? false,
})

/** Messages of the input that stand beside the question they answer. */
const answersOf = ({ messages, answered = [] }: Situation): string[] =>
  messages.flatMap(({ id, wait_id }) => (answered.some((wait) => wait.id === wait_id) ? [id] : []))

/** The item in full, without ends that the reason of the turn and its input tell. */
function withoutToldBelow(situation: Situation): ItemView | null {
  const item = itemInFull(situation)
  if (item === null) return null
  const { woken_by, messages, brought = [] } = situation
  const waits = new Set<string>(woken_by.map(({ id }) => id))
  const tasks = new Set<string>(
    [...messages, ...brought].flatMap(({ kind, task_id }) =>
      kind === 'task_result' && task_id !== null ? task_id : [],
    ),
  )
  return {
    ...item,
    waits: item.waits.filter(({ id, status }) => status === 'active' || !waits.has(id)),
    tasks: item.tasks.filter((task) => !isTerminal(task) || !tasks.has(task.id)),
  }
}

/** What is quoted stays as it was said. */
const withShort = (one: Section, short: Short): Section => ({
  ...one,
  text: withShortOutside(one.text, short),
})

const wholeId: Short = (id) => id

function inheritedPart(text: string | null | undefined, tokens: TokenEstimator, max: number) {
  const shown = inheritedSection(text, tokens, max)
  if (shown === '') return omitted('inherited', 'nothing was inherited')
  return shown === text
    ? full('inherited', shown, 'what the child came with')
    : { section: 'inherited' as const, text: shown, form: 'compact' as const, why: 'no room' }
}

/** Of a child: what its parent's item leaves it. It is never cut, for it is what ends the work. */
function budgetPart({ agent, allowance }: Situation): Section {
  if (!allowance) return omitted('budget', 'nobody gave it an allowance')
  const { allowed, ...now } = allowance
  const parent = agent.supervisor_agent_id ?? 'your parent'
  const text = template('child', 'budget', { parent, used: budgetLine(allowed, now) })
  return full('budget', `# Budget\n\n${text}`, 'what the item of its parent leaves it')
}

function inputPart(situation: Situation, view: MessagesView & { goes_on: boolean }): Section {
  const text = inputSection(situation, view)
  if (text === '') return omitted('input', 'no message began it')
  const shown = [...situation.messages, ...(situation.brought ?? [])]
  const cut = shown.some(({ body }) => view.tokens(body) > view.max_tokens)
  return cut
    ? { section: 'input', text, form: 'compact', why: 'a message is longer than its room' }
    : full('input', text, 'what this turn was given')
}

/** What stays the same from turn to turn: no time, no counts, no random marks. */
function systemSections(situation: Situation, view: OpeningView): Section[] {
  return [
    full('system', promptText('system'), 'the same for every agent'),
    full('agent', agentText(situation), 'who the agent is'),
    instructionSection(situation.instructions ?? [], view),
    skillSection(situation.skills ?? { skills: [], not_looked_at: 0 }, view),
  ]
}

function agentText({ agent, agent_home, trigger_url, confined }: Situation): string {
  return [
    '# You',
    '',
    `agent: ${agent.id} (${agent.preset})`,
    `home: ${oneLine(agent_home)}`,
    `workspace: ${oneLine(agent.workspace.root)} (${agent.workspace.mode})`,
    ...(trigger_url === null
      ? []
      : [
          `trigger: ${oneLine(trigger_url)}`,
          'A POST to it (application/json or text/plain) wakes you from outside; your commands ' +
            'have it as HOLON_TRIGGER_URL. Give it only to what shall wake you; add ' +
            '?source=…&resource=… to match one wait.',
        ]),
    ...(confined === undefined
      ? []
      : [template('agent', 'confined', { network: networkText(confined) })]),
    ...childTexts(agent),
  ].join('\n')
}

const network = { open: 'an open network', none: 'no network, not even this machine' }

/** Hosts that are named to a model; of more it learns when one is refused. */
const HOSTS = 20

function networkText(confined: NonNullable<Situation['confined']>): string {
  if (typeof confined === 'string') return network[confined]
  const { allow } = confined
  const more = allow.length > HOSTS ? `, and ${allow.length - HOSTS} more` : ''
  const hosts = `${allow.slice(0, HOSTS).map(oneLine).join(', ')}${more}`
  return template('agent', 'hosts', { hosts })
}

/** Of a private child: whom it works for, and what that changes. */
function childTexts({ visibility, supervisor_agent_id, workspace }: Agent): string[] {
  if (visibility === 'public' || supervisor_agent_id === null) return []
  const parent = supervisor_agent_id
  const tree = workspace.mode === 'worktree' ? ['', template('child', 'worktree', { parent })] : []
  return ['', template('child', 'child', { parent }), ...tree]
}

/** Running tasks that are not among the turn's item's own. */
function otherTasks(
  { running_tasks, item, now }: Situation,
  tokens: TokenEstimator,
  max_tokens: number,
): Section {
  const own = new Set(item?.tasks.map(({ id }) => id))
  const others = running_tasks.filter(({ id }) => !own.has(id))
  if (others.length === 0) return omitted('tasks', 'no other task runs')
  const shown = others.slice(0, contextLimits.other_tasks.value)
  const more = others.length - shown.length
  const text = [
    '# Other running tasks',
    '',
    ...shown.map((task) => `- ${taskLine(task, now)}, ${task.work_item_id ?? 'no work item'}`),
    ...(more > 0 ? [`- and ${more} more: ListTasks`] : []),
  ].join('\n')
  if (tokens(text) >= max_tokens) return omitted('tasks', 'no room')
  return more === 0
    ? full('tasks', text, 'tasks of other items')
    : { section: 'tasks', text, form: 'compact', why: `${more} more run` }
}
