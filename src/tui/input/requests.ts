/**
 * What keys ask the server for: every act by its route, and the dialogs that ask before. An action
 * is offered only where the record's own `can` allows it; else its reason is what is said. Pure.
 */
import type { Attention } from '../../protocol/views/attention.ts'
import type { WorkItemRecord } from '../../protocol/records/work-item-record.ts'
import type { BodyRow } from '../drawing/body.ts'
import { readOf } from '../screens/item-tabs.ts'
import type { Act, MenuChoice, TuiModel } from '../model/model.ts'
import type { Reply } from '../model/step.ts'
import { boundTo, momentIn, runChecksAct, settle } from './settle.ts'

const refuse = (why: string): Reply => ({ do: 'refuse', why })

/** Milliseconds in which keys that were on their way are not taken for a choice. */
export const settle_ms = 400

const questions = (text: string): string[] =>
  text
    .split('\n')
    // Numbered lines are choices; what has a dash may be anything that is told.
    .map((one) => /^\s*\d+[.)]\s+(.{1,80})$/.exec(one)?.[1]?.trim())
    .filter((one) => one !== undefined)

type Offered = { readonly label: string; readonly key?: string }

/** What may be said by a key: the choices offered, else what the text numbers, or yes and no. */
export function offeredBy({ text, choices }: Pick<Attention, 'text' | 'choices'>): Offered[] {
  if (choices.length > 0) return [...choices]
  const offered = questions(text).slice(0, 6)
  return (offered.length > 0 ? offered : ['yes', 'no']).map((label) => ({ label }))
}

/** The answer to exactly this question. */
export const answerAct = (
  { agent_id, id, bound_hash }: { agent_id: string; id: string; bound_hash: string },
  said: string,
): Act => ({
  route: 'POST /agents/{agent}/waits/{wait}/answer',
  given: { agent: agent_id, wait: id, body: { text: said, bound_hash } },
  says: `answered: ${said}`,
})

export function answerDialog(model: TuiModel, entry: Attention | null): Reply {
  if (entry === null) return refuse('nothing here needs an answer')
  if (entry.kind === 'check_asked' || entry.kind === 'check_failed') {
    const asked = checkDialog(model, entry)
    if (asked !== null) return asked
  }
  if (entry.kind === 'approval' && entry.bound_hash !== null) {
    return approvalDialog(model, { ...entry, bound_hash: entry.bound_hash })
  }
  if (entry.kind !== 'question' || entry.bound_hash === null) {
    const cli = cliOf(entry)
    const by = cli === null ? 'only what it waits for does' : `from a shell: ${cli}`
    return settle(model, entry) ?? refuse(`nothing here settles it: ${by}`)
  }
  const { agent_id, id: wait_id, bound_hash, text } = entry
  const answer = (said: string): Act => answerAct({ agent_id, id: wait_id, bound_hash }, said)
  const choices: MenuChoice[] = [
    ...offeredBy(entry).map(({ label, key }) => ({
      label,
      act: answer(label),
      ...(key !== undefined && key.length === 1 ? { key } : {}),
    })),
    {
      label: 'answer in words',
      act: null,
      words: { for: 'answer', agent_id, wait_id, bound_hash },
    },
  ]
  const lines = [
    ...text.split('\n'),
    '',
    `bound to this exact question (${bound_hash.slice(0, 6)})`,
  ]
  return dialog(model, `QUESTION ${placeOf(model, wait_id)}`, lines, choices, entry)
}

/** Which of the entries it is, by its short id. */
function placeOf({ p, ids }: TuiModel, id: string): string {
  const all = p?.state.attention ?? []
  const at = all.findIndex((one) => one.id === id) + 1
  return `${ids.short(id)}, ${at} of ${all.length} that need you`
}

type Approval = Attention & { bound_hash: string }

/** Whether exactly this command may run; nothing is chosen beforehand. */
export const approvalAct = (
  { agent_id, id, bound_hash }: Pick<Approval, 'agent_id' | 'id' | 'bound_hash'>,
  { choice, text }: { choice: string; text?: string },
): Act => ({
  route: 'POST /agents/{agent}/tasks/{task}/answer',
  given: {
    agent: agent_id,
    task: id,
    body: { choice, bound_hash, ...(text === undefined ? {} : { text }) },
  },
  says: text === undefined ? `answered: ${choice}` : `answered: ${choice}, ${text}`,
})

function approvalDialog(model: TuiModel, entry: Approval): Reply {
  const { agent_id, id, bound_hash, text, choices } = entry
  const lines = [...text.split('\n'), '', `bound to exactly this (${bound_hash.slice(0, 6)})`]
  const refusal: MenuChoice = {
    label: 'do not run it, and say why',
    act: null,
    words: { for: 'refusal', agent_id, task_id: id, bound_hash },
  }
  const answers = choices.map(({ key, label }) => ({
    label,
    act: approvalAct(entry, { choice: key }),
  }))
  return dialog(model, `APPROVAL ${placeOf(model, id)}`, lines, [...answers, refusal], entry)
}

/** The first command that does something about it now. */
export const cliOf = ({ can }: Attention): string | null =>
  can.find(({ allowed, cli }) => allowed && cli !== null)?.cli ?? null

/** A check that asks a person. The answer names the run that it was shown with. */
function checkDialog(model: TuiModel, entry: Attention): Reply | null {
  const { work_item_id: item, agent_id: agent, can } = entry
  if (item === null) return null
  const record = readOf<WorkItemRecord>(model, `item ${item}`)
  if (record === null) return refuse('its checks are being read; once more, please')
  const asked = (record.checks ?? []).find(
    ({ kind, run }) => kind === 'person' && run?.state === 'owed',
  )
  if (asked?.kind !== 'person' || asked.run === null) return null
  const { name, run, question } = asked
  const answer = (passed: boolean): Act => ({
    route: 'POST /agents/{agent}/work-items/{item}/checks/{name}/answer',
    given: { agent, item, name, body: { run: run.n, passed } },
    says: `${name}: ${passed ? 'passed' : 'failed'}`,
  })
  const lines = [...question.split('\n'), '', `of "${record.objective}", which claims to be done`]
  const again = can.filter(({ key, allowed }) => key === 'run_checks' && allowed)
  const choices: MenuChoice[] = [
    { label: 'it is so: the check passes', act: answer(true) },
    { label: 'it is not so: the check fails', act: answer(false) },
    ...again.map(({ label }) => ({ label, act: runChecksAct(agent, item) })),
  ]
  return dialog(model, `CHECK ${name} of ${model.ids.short(item)}`, lines, choices, entry)
}

const dialog = (
  model: TuiModel,
  title: string,
  lines: readonly string[],
  choices: readonly MenuChoice[],
  about: Attention | null = null,
): Reply => ({
  do: 'open',
  overlay: {
    kind: 'dialog',
    title,
    lines,
    choices,
    chosen: null,
    about: about && boundTo(about),
    top: 0,
    opened_at: model.key_at,
  },
})

const nevermind: MenuChoice = { label: 'leave it as it is', act: null }

/** What `x` stops, said exactly: a task, else the open turn with its agent. */
export function stopDialog(model: TuiModel, row: BodyRow | null, task: string | null): Reply {
  const { p } = model
  const agent = row?.agent_id ?? null
  if (p === null || agent === null) return refuse('nothing is selected that could be stopped')
  if (task !== null) {
    const found = p.state.tasks.find(({ id }) => id === task)
    if (found === undefined) return refuse('it has ended already')
    const act: Act = {
      route: 'POST /agents/{agent}/tasks/{task}/stop',
      given: { agent, task },
      says: `${model.ids.short(task)} is being stopped`,
    }
    const lines = [found.label, 'TERM, then KILL after 5 s, then it is looked whether it is gone.']
    const choices = [{ label: 'stop this command', act }, nevermind]
    return dialog(model, `STOP ${model.ids.short(task)}`, lines, choices)
  }
  const record = p.state.agents.find(({ id }) => id === agent)
  const turn = p.state.turns.find(({ agent_id }) => agent_id === agent)
  const stop: MenuChoice = {
    label: `stop ${agent}; it starts no turn until you start it`,
    act: { route: 'POST /agents/{agent}/stop', given: { agent }, says: `${agent} is stopped` },
  }
  if (turn === undefined) {
    if (record?.state === 'stopped') return refuse(`${agent} is stopped already; R starts it`)
    return dialog(
      model,
      `STOP ${agent}`,
      ['No turn is open. Its commands run on.'],
      [stop, nevermind],
    )
  }
  const abort = (label: string, stops: boolean): MenuChoice => ({
    label,
    act: {
      route: 'POST /agents/{agent}/abort',
      given: { agent, body: { run_id: turn.id, stop: stops } },
      says: `turn ${turn.number} of ${agent} is stopped`,
    },
  })
  const lines = [
    `Turn ${turn.number} of ${agent}, because ${turn.because}.`,
    'Its commands run on.',
  ]
  return dialog(model, `STOP turn ${turn.number}`, lines, [
    abort('stop this turn, and the agent with it', true),
    abort('stop this turn only; the agent goes on with the next', false),
    nevermind,
  ])
}

export function startAct(model: TuiModel, row: BodyRow | null): Reply {
  const agent = row?.agent_id ?? null
  const record = model.p?.state.agents.find(({ id }) => id === agent)
  if (agent === null || record === undefined) return refuse('no agent is selected')
  const able = record.can.find(({ key }) => key === 'start_agent')
  if (able !== undefined && !able.allowed) return refuse(able.why ?? `${agent} cannot be started`)
  const says = `${agent} is started`
  return { do: 'act', act: { route: 'POST /agents/{agent}/start', given: { agent }, says } }
}

export function dismissAct(entry: Attention | null): Reply {
  if (entry === null) return refuse('nothing here needs you')
  const able = entry.can.find(({ key }) => key === 'dismiss')
  if (able !== undefined && !able.allowed) return refuse(able.why ?? 'it cannot be dismissed')
  const says = 'put away until it changes'
  return {
    do: 'act',
    act: { route: 'POST /attention/{entry}/dismiss', given: { entry: entry.id }, says },
  }
}

/** `30m`, `2h`, `1d` from now on. */
export function snoozeAct(entry: string, text: string, now: string): Reply {
  const until = momentIn(text, now)
  if (until === null) return refuse('say for how long: 30m, 2h or 1d')
  const given = { entry, body: { until } }
  return {
    do: 'act',
    act: { route: 'POST /attention/{entry}/snooze', given, says: `put away for ${text.trim()}` },
  }
}
