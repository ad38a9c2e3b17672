/**
 * How what needs a person is settled here: each act that its record allows, as a choice that is
 * done at once or asks for the one thing it needs. Pure.
 */
import type { Can } from '../../protocol/actions/action.ts'
import type { Attention } from '../../protocol/views/attention.ts'
import {
  budgetWords,
  type Act,
  type BudgetLimit,
  type MenuChoice,
  type PromptPurpose,
  type TuiModel,
} from '../model/model.ts'
import { settledBy } from '../model/settles.ts'
import type { Reply } from '../model/step.ts'

/** One choice is done, or asked for, without a menu. Null: nothing can be done about it here. */
export function settle(model: TuiModel, entry: Attention): Reply | null {
  const choices = settledBy(entry.can).flatMap((one) => choicesOf(model, entry, one))
  const [only] = choices
  if (only === undefined) return null
  if (choices.length === 1) {
    if (only.words !== undefined) return { do: 'write', prompt: only.words }
    if (only.act !== null) return { do: 'act', act: only.act }
  }
  const { agent_id, text } = entry
  return {
    do: 'open',
    overlay: {
      kind: 'dialog',
      title: `${agent_id} NEEDS YOU`,
      lines: text.split('\n'),
      choices,
      chosen: null,
      about: boundTo(entry),
      top: 0,
      opened_at: model.key_at,
    },
  }
}

/** What a dialog is of: the entry, as it stood when it was opened. */
export const boundTo = ({ id, bound_hash }: Attention) => ({ id, bound_hash })

function choicesOf(model: TuiModel, entry: Attention, can: Can): MenuChoice[] {
  const { agent_id, work_item_id: item } = entry
  const { key, label, path } = can
  const agent = agentOf(path) ?? agent_id
  const by = (route: string, given: object, says: string): MenuChoice[] => [
    { label, act: { route, given: { ...given }, says } },
  ]
  const asks = (words: PromptPurpose): MenuChoice[] => [{ label, act: null, words }]
  switch (key) {
    case 'update_item':
      if (item === null) return []
      return asks({ for: 'budget', agent_id, work_item_id: item, limit: limitOf(can) })
    case 'configure_agent':
      return limitOf(can) === 'max_usd' && can.cli?.includes('--max-usd') === true
        ? asks({ for: 'budget', agent_id: agent, work_item_id: null, limit: 'max_usd' })
        : asks({ for: 'model', agent_id: agent })
    case 'unblock':
      return item === null ? [] : [{ label, act: unblockAct(agent_id, item) }]
    case 'run_checks':
      return item === null ? [] : [{ label, act: runChecksAct(agent, item) }]
    case 'pick': {
      const given = { agent, item }
      return by('POST /agents/{agent}/work-items/{item}/pick', given, 'it is in focus')
    }
    case 'send': {
      const about = can.cli?.includes('--work-item') === true ? item : null
      const target = { agent_id: agent, work_item_id: about }
      return asks({ for: 'message', target, delivery: 'next' })
    }
    case 'start_agent':
      return [
        ...by('POST /agents/{agent}/start', { agent }, `${agent} is started`),
        ...(entry.kind === 'held' && hasProvider(model, agent) ? [setsUp] : []),
      ]
    case 'stop_task': {
      const given = { agent, task: entry.id }
      return by('POST /agents/{agent}/tasks/{task}/stop', given, 'it is being stopped')
    }
    case 'redeliver': {
      const given = { agent, delivery: entry.id }
      const route = 'POST /agents/{agent}/deliveries/{delivery}/redeliver'
      return by(route, given, 'it is delivered again')
    }
    case 'remove_worktree': {
      const given = { agent, worktree: entry.id }
      return by('POST /agents/{agent}/worktrees/{worktree}/remove', given, 'it is removed')
    }
    case 'discard_worktree': {
      const given = { agent, worktree: entry.id }
      return by('POST /agents/{agent}/worktrees/{worktree}/discard', given, 'it is discarded')
    }
  }
  return []
}

/** A key is typed unseen in the terminal, and stored as `holon init` stores it. */
const setsUp: MenuChoice = {
  label: 'give it a key or another model, in the terminal (holon init)',
  act: null,
  sets_up: true,
}

/** An act names whole paths: whose it is may be another agent than the one that is held. */
const agentOf = (path: string | null): string | undefined =>
  /^\/agents\/([^/]+)/.exec(path ?? '')?.[1]

const hasProvider = ({ p }: TuiModel, agent_id: string): boolean => {
  const model = p?.state.agents.find(({ id }) => id === agent_id)?.model ?? 'runbook'
  return model !== 'runbook' && !model.startsWith('acp/')
}

const limits: readonly BudgetLimit[] = ['max_usd', 'max_tokens', 'max_rounds', 'deadline']

/** The first limit that its shell line raises. */
const limitOf = ({ cli }: Can): BudgetLimit => {
  const flag = /--(max-usd|max-tokens|max-rounds|deadline)/.exec(cli ?? '')?.[1]
  return limits.find((one) => one === flag?.replace('-', '_')) ?? 'max_usd'
}

/** What raises the budget of an item: the limit that holds it, else that of money. */
export function budgetPrompt(
  entry: Attention | null,
  { agent_id, work_item_id }: { agent_id: string; work_item_id: string },
): PromptPurpose {
  const raises = entry?.can.find(({ key, allowed }) => key === 'update_item' && allowed)
  const limit = raises === undefined ? 'max_usd' : limitOf(raises)
  return { for: 'budget', agent_id, work_item_id, limit }
}

export const runChecksAct = (agent: string, item: string): Act => ({
  route: 'POST /agents/{agent}/work-items/{item}/checks/run',
  given: { agent, item },
  says: 'its checks run again',
})

export const unblockAct = (agent: string, item: string) => ({
  route: 'PATCH /agents/{agent}/work-items/{item}',
  given: { agent, item, body: { blocked_by: null } },
  says: 'it may go on',
})

/** `2.50`, or for a deadline `2h` from now. */
export function budgetAct(
  prompt: PromptPurpose & { for: 'budget' },
  text: string,
  now: string,
): Reply {
  const value = prompt.limit === 'deadline' ? momentIn(text, now) : numberIn(text, prompt.limit)
  if (value === null) return { do: 'refuse', why: `it is ${budgetWords[prompt.limit]}` }
  const { agent_id: agent, work_item_id: item, limit } = prompt
  const budget = { [limit]: value }
  const says = `the limit is ${text.trim()} now`
  return item === null
    ? {
        do: 'act',
        act: {
          route: 'PATCH /agents/{agent}',
          given: { agent, body: budgetOfAgent(budget) },
          says,
        },
      }
    : {
        do: 'act',
        act: {
          route: 'PATCH /agents/{agent}/work-items/{item}',
          given: { agent, item, body: { budget } },
          says,
        },
      }
}

const budgetOfAgent = (limit: object) => ({ budget: { all: limit } })

function numberIn(text: string, limit: BudgetLimit): number | null {
  const found = /^\s*\$?(\d{1,12}(\.\d{1,9})?)\s*$/.exec(text)?.[1]
  const value = Number(found ?? 0)
  return value > 0 && (limit === 'max_usd' || Number.isSafeInteger(value)) ? value : null
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `30m`, `2h`, `1d` from now on, as a time; null: it is no span. */
export function momentIn(text: string, now: string): string | null {
  const [, count = '', unit = ''] = /^\s*(\d{1,4})\s*([mhd])\s*$/.exec(text) ?? []
  const ms = Number(count) * (units[unit] ?? 0)
  return ms === 0 ? null : new Date(Date.parse(now) + ms).toISOString()
}
