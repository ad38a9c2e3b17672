/**
 * The opening of a turn's requests: a prefix that changes rarely (system text, then instructions
 * and what the agent is) and one projection of the ledger, ordered by how rarely its parts change.
 * Pure: the same situation and options give the same text.
 */
import type { Agent } from '../domain/agent.ts'
import type { Call } from '../domain/call.ts'
import { anchorSection } from './anchor.ts'
import { candidateSection } from './candidate-section.ts'
import type { TokenEstimator } from './estimate.ts'
import { cutBlock } from './fence.ts'
import { answerTokens } from './fits.ts'
import { historySection } from './history-section.ts'
import { inheritedSection } from './inherited-section.ts'
import { itemSection, taskLine } from './item-section.ts'
import { contextLimits } from './limits.ts'
import type { Opening } from './message.ts'
import { inputSection } from './message-section.ts'
import { oneLine } from './phrase.ts'
import type { Situation } from './situation.ts'
import { promptText, template } from './template.ts'

export type OpeningView = {
  tokens: TokenEstimator
  /** The model's context window in tokens. */
  window: number
  /** Random per opening, ≥ 8 letters or digits: the code of the quoted blocks. */
  random_fence: string
  /** Path of a call's full output, for earlier results that are cut; none without it. */
  full_path?: (call: Call) => string | null
}

/**
 * `opening_share` of the window is the aim. What gives way, first to last: earlier rounds, other
 * items from the last class up, tasks and preview of the item, long messages. Anchor, the item's
 * own facts and the counts stay, so a window too small for those is for `fits` to refuse.
 */
export function renderOpening(situation: Situation, view: OpeningView): Opening {
  const { tokens, window } = view
  const system = systemText(situation, view)
  const section = { now: situation.now, fence: view.random_fence, tokens }
  let left = Math.floor(window * contextLimits.opening_share.value) - tokens(system)
  const spend = (text: string): string => {
    left -= tokens(text) + 1
    return text
  }
  // Spent in order of importance, put together in order of stability.
  const anchor = spend(anchorSection(situation))
  const inheritable = Math.floor(window * contextLimits.inherited_share.value)
  const inherited = spend(inheritedSection(situation.inherited, tokens, inheritable))
  const beside = tokens(system) + tokens(anchor) + tokens(inherited)
  const room = window - answerTokens(window) - beside
  const input = spend(inputSection(situation, { ...section, max_tokens: Math.floor(room / 2) }))
  const item = spend(itemSection(situation.item, section, left))
  const others = spend(candidateSection(situation, tokens, left))
  const tasks = otherTasks(situation)
  const running = tasks !== '' && tokens(tasks) < left ? spend(tasks) : ''
  const share = Math.floor(window * contextLimits.earlier_share.value)
  const history = historySection(
    situation.earlier,
    { ...section, full_path: view.full_path ?? (() => null) },
    Math.min(share, left),
  )
  const user = [inherited, item, others, running, history, anchor, input]
    .filter((text) => text !== '')
    .join('\n\n')
  return { system, user }
}

/** What stays the same from turn to turn: no time, no counts, no random marks. */
function systemText(situation: Situation, view: OpeningView): string {
  return [promptText('system'), agentText(situation), ...instructionTexts(situation, view)].join(
    '\n\n',
  )
}

function agentText({ agent, agent_home, trigger_url }: Situation): string {
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
          'The trigger URL wakes you from outside, also as HOLON_TRIGGER_URL in your commands. ' +
            'Give it only to what shall wake you; add ?source=…&resource=… to match one wait.',
        ]),
    ...childTexts(agent),
  ].join('\n')
}

/** Of a private child: whom it works for, and what that changes. */
function childTexts({ visibility, supervisor_agent_id, workspace }: Agent): string[] {
  if (visibility === 'public' || supervisor_agent_id === null) return []
  const parent = supervisor_agent_id
  const tree = workspace.mode === 'worktree' ? ['', template('child', 'worktree', { parent })] : []
  return ['', template('child', 'child', { parent }), ...tree]
}

function instructionTexts({ instructions }: Situation, view: OpeningView): string[] {
  if (instructions.length === 0) return []
  const all = Math.floor(view.window * contextLimits.instructions_share.value)
  const max_tokens = Math.floor(all / instructions.length)
  const texts = instructions.map(({ path, text }) =>
    cutBlock('instructions', oneLine(path), text, {
      max_tokens,
      tokens: view.tokens,
      full_path: path,
    }),
  )
  const head =
    '# Instructions of this agent and workspace\n\n' +
    'How work is done here, nearest file last: where two disagree, the later one holds. They ' +
    'cannot widen what you may do, and what an operator tells you goes before them.'
  return [head, ...texts]
}

/** Running tasks that are not among the turn's item's own. */
function otherTasks({ running_tasks, item, now }: Situation): string {
  const own = new Set(item?.tasks.map(({ id }) => id))
  const others = running_tasks.filter(({ id }) => !own.has(id))
  if (others.length === 0) return ''
  const shown = others.slice(0, contextLimits.other_tasks.value)
  const more = others.length - shown.length
  return [
    '# Other running tasks',
    '',
    ...shown.map((task) => `- ${taskLine(task, now)}, ${task.work_item_id ?? 'no work item'}`),
    ...(more > 0 ? [`- and ${more} more: ListTasks`] : []),
  ].join('\n')
}
