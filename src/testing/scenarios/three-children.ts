/**
 * The acceptance scenario of supervised children, as a model: a parent hands the three parts of a
 * ship to children in worktrees of their own, works on something else meanwhile, answers the one
 * that asks, merges each part as it comes in, and reports. Parent and child are one function of the
 * request's text; what must outlive a turn stands in the todos of the items. Nothing of it is ever
 * taken back, so a request that is sent again after a kill gets the same answer.
 */
import type { Json } from '../../ports/json.ts'
import type { ModelRequest } from '../../models/model.ts'
import { calls, scriptedModel, type ScriptedModel } from '../scripted-model.ts'

export type FamilyCall = { name: string; input: { readonly [field: string]: Json } }
export type FamilyAnswer = { text: string; calls: readonly FamilyCall[] }

export const partNames = ['part-a', 'part-b', 'part-c'] as const
export type Part = (typeof partNames)[number]

/** What the operator says; `ship` names the run: `r1`. */
export const shipIt = (ship: string): string => `Ship ${ship} in three parts.`

export const question = 'Which colour is it to have?'
export const colour = 'ultramarine'

// Each says more than one sentence: of one that is short it is asked whether there is more to say.
export const shipReport = (ship: string): string =>
  `${ship} is shipped. ${partNames.join(', ')} are merged, each with its report.`
export const otherReport = (ship: string): string =>
  `The other work beside ${ship} is done. It is committed on the main branch.`
export const partReport = (ship: string, part: string): string =>
  `${ship}-${part} is written. It is committed on its branch.`

/** Files on the main branch at the end of a run, and the one line in each. */
export const shippedFiles = (ship: string): Readonly<Record<string, string>> => ({
  [`${ship}/part-a.txt`]: 'part-a is plain\n',
  [`${ship}/part-b.txt`]: `part-b is ${colour}\n`,
  [`${ship}/part-c.txt`]: 'part-c is plain\n',
  [`${ship}/other.txt`]: 'other work\n',
})

/** Beside the branches in the shared git folder: every commit that anybody of the run made. */
export const commitLedger = 'holon-commits.log'

/** The next answer to a conversation, given as one text, the newest last. */
export function familyPolicy(text: string): FamilyAnswer {
  const at = text.lastIndexOf('# Why this turn runs')
  const view = { text, opening: text.slice(0, at), tail: text.slice(at) }
  return /^agent: \S+ \(private_child\)$/m.test(text) ? child(view) : parent(view)
}

type View = {
  text: string
  /** Up to why the turn runs: its item, the others, earlier rounds. */
  opening: string
  /** From there: input, and the rounds of this turn. */
  tail: string
}

const call = (name: string, input: FamilyCall['input']): FamilyCall => ({ name, input })
const say = (text: string, ...calls: FamilyCall[]): FamilyAnswer => ({ text, calls })
const todo = (text: string, state: string) => ({ text, state })

// The parent.

function parent(view: View): FamilyAnswer {
  const { tail } = view
  const asked = /^Ship (\S+) in three parts\.$/m.exec(tail)?.[1]
  if (asked !== undefined) return begin(view, asked) ?? ship(view, asked)
  const about = turnItem(view)
  if (about === null) return pickOne(view)
  return about.kind === 'Ship' ? ship(view, about.ship) : other(view, about)
}

const created = (tail: string): string[] =>
  [...tail.matchAll(/Created (work_[0-9a-f-]{4,36})/g)].map(([, id]) => id ?? '')

/** The first turn up to its wait; null when all of it is done. */
function begin({ text, tail }: View, name: string): FamilyAnswer | null {
  const [shipId = '', otherId = ''] = created(tail)
  if (shipId === '') {
    return say(
      `Two items for ${name}.`,
      call('CreateWorkItem', { objective: `Ship ${name}` }),
      call('CreateWorkItem', { objective: `Other work ${name}` }),
    )
  }
  if (!tail.includes(`${shipId} is in focus.`)) {
    return say('The ship first.', call('PickWorkItem', { work_item_id: shipId }))
  }
  const spawned = [...tail.matchAll(/(\S+) is at work; (task_[0-9a-f-]{4,36}) supervises it/g)]
  if (spawned.length === 0) {
    return say(`Three children for ${name}.`, ...partNames.map((part) => spawn(name, part)))
  }
  if (partsOf(text, name).length > 0) return null
  const todos = spawned.map(([, agent, task], i) => {
    return todo(`${name}-${partNames[i]} ${task} ${agent} awaited`, 'in_progress')
  })
  const known = todo(`beside it: ${otherId}`, 'completed')
  const todo_list = [...todos, known]
  const who = `Who does what: ${listed(todo_list)}`
  return say(who, call('UpdateWorkItem', { work_item_id: shipId, todo_list }))
}

/** What a call's arguments say is said beside it too: a result does not repeat it. */
const listed = (todos: readonly { text: string }[]): string =>
  todos.map(({ text }) => text).join('; ')

const spawn = (name: string, part: Part): FamilyCall =>
  call('SpawnAgent', {
    initial_message:
      `Write ${name}-${part}\nOne file ${name}/${part}.txt, committed on your branch. ` +
      'Report when it is committed.',
    workspace_mode: 'worktree',
  })

type PartSeen = { part: string; task: string; agent: string; merged: boolean }

/** As the todos say it; a part that was ever merged is. */
function partsOf(text: string, name: string): PartSeen[] {
  const pattern = /(r[\w]*)-(part-[abc]) (task_[0-9a-f-]{4,36}) (\S+) (awaited|merged)/g
  const found = new Map<string, PartSeen>()
  for (const [, of, part = '', task = '', agent = '', state] of text.matchAll(pattern)) {
    if (of !== name) continue
    const merged = state === 'merged' || found.get(part)?.merged === true
    found.set(part, { part, task, agent, merged })
  }
  return [...found.values()].sort((a, b) => (a.part < b.part ? -1 : 1))
}

/** Answers, merges, waits; and reports when nothing is left. */
function ship(view: View, name: string): FamilyAnswer {
  const { text, tail } = view
  const asks = /\((task_[0-9a-f-]{4,36}), [^)]*\) asks, and waits for TaskInput:/.exec(tail)?.[1]
  if (asks !== undefined && !tail.includes(`I answer ${asks}.`)) {
    return say(
      `I answer ${asks}.`,
      call('TaskInput', { task_id: asks, text: `The colour is ${colour}.` }),
    )
  }
  const parts = partsOf(text, name)
  const left = parts.filter(({ merged }) => !merged)
  const shipId = idOf(view, `Ship ${name}`)
  const ended = left.find(({ task }) => hasEnded(tail, task))
  if (ended !== undefined) return merge(view, name, shipId, parts, ended)
  const [first] = left
  if (first !== undefined) {
    const input = { wake: 'task_result', resource: first.task, reason: `${first.part} is written` }
    return say('', call('WaitFor', { ...input, work_item_id: shipId }))
  }
  if (!tail.includes('The rest may go on.')) {
    const input = { work_item_id: besideOf(text), plan_status: 'ready' }
    return say('The rest may go on.', call('UpdateWorkItem', input))
  }
  return say(shipReport(name), call('CompleteWorkItem', { work_item_id: shipId }))
}

/** By its message, or by the answer to a wait that came too late. */
const hasEnded = (tail: string, task: string): boolean =>
  new RegExp(`\\(${task}, [^)]*\\): completed|${task} has ended already`).test(tail)

function merge(
  { text, tail }: View,
  name: string,
  shipId: string,
  parts: readonly PartSeen[],
  { part, agent }: PartSeen,
): FamilyAnswer {
  if (!tail.includes(`I merge ${name}-${part}.`)) {
    // The output is joined by the command, so that its text is no proof of its end.
    const cmd =
      `git merge --quiet --no-edit holon/${agent} && ` +
      `${note} && printf '%s=%s\\n' merged ${name}-${part}`
    return say(`I merge ${name}-${part}.`, call('ExecCommand', { cmd }))
  }
  if (!tail.includes(`merged=${name}-${part}`)) return say(`${name}-${part} cannot be merged.`)
  const todo_list = parts.map((one) => {
    const isIn = one.merged || one.part === part
    const words = `${name}-${one.part} ${one.task} ${one.agent} ${isIn ? 'merged' : 'awaited'}`
    return todo(words, isIn ? 'completed' : 'in_progress')
  })
  const beside = todo(`beside it: ${besideOf(text)}`, 'completed')
  const all = [...todo_list, beside]
  return say(
    `${name}-${part} is in: ${listed(all)}`,
    call('UpdateWorkItem', { work_item_id: shipId, todo_list: all }),
  )
}

const besideOf = (text: string): string =>
  [...text.matchAll(/beside it: (work_[0-9a-f-]{4,36})/g)].at(-1)?.[1] ?? ''

const sharedFolder = '$(git rev-parse --git-common-dir)'
const note = `git rev-parse HEAD >> "${sharedFolder}/${commitLedger}"`

function other({ text, tail, opening }: View, { id, ship: name }: About): FamilyAnswer {
  if (!text.includes(`other ${name} committed`)) {
    if (!tail.includes('I commit the other work.')) {
      const file = `${name}/other.txt`
      const cmd =
        `mkdir -p ${name} && echo 'other work' > ${file} && git add ${file} && ` +
        `git commit --quiet -m 'other ${name}' && ${note} && ` +
        `touch "${sharedFolder}/${name}-other" && printf '%s=%s\\n' other ${name}`
      return say('I commit the other work.', call('ExecCommand', { cmd }))
    }
    if (!tail.includes(`other=${name}`)) return say('The other work cannot be committed.')
    const todo_list = [todo(`other ${name} committed`, 'completed')]
    const input = { work_item_id: id, todo_list }
    return say(`It is in: ${listed(todo_list)}`, call('UpdateWorkItem', input))
  }
  // Its own item says so: the section of the opening, or the record that picking it returned.
  if (!/^plan: ready,/m.test(opening) && !/plan_status: "?ready/.test(tail))
    return say(`The rest waits until ${name} is shipped.`)
  return say(otherReport(name), call('CompleteWorkItem', { work_item_id: id }))
}

/** Takes what is ready, the ship first. */
function pickOne({ opening }: View): FamilyAnswer {
  const [ready = ''] = opening.slice(opening.lastIndexOf('Queued and runnable')).split('\n\n')
  const lines = [...ready.matchAll(/^- (work_[0-9a-f-]{4,36}) "(Ship|Other work) /gm)]
  const one = /^# Queued work item[^\n]*\n\nid: (work_\S+)$/m.exec(opening)
  const line = one ?? lines.find(([, , kind]) => kind === 'Ship') ?? lines[0]
  if (line === undefined) return say('There is nothing to do.')
  return say('I take it up.', call('PickWorkItem', { work_item_id: line[1] ?? '' }))
}

type About = { id: string; kind: 'Ship' | 'Other work'; ship: string }

/** The item of the turn: that of its opening, until another is picked in it. */
function turnItem(view: View): About | null {
  const picked = [...view.tail.matchAll(/(work_[0-9a-f-]{4,36}) is in focus\./g)].at(-1)?.[1]
  const section = /^# (?:Current work item|This turn's work item[^\n]*)\n\nid: (\S+)$/gm
  const id = picked ?? [...view.opening.matchAll(section)].at(-1)?.[1]
  if (id === undefined) return null
  for (const [, of, kind, ship = ''] of named(view.opening)) {
    if (of === id) return { id, kind: kind as About['kind'], ship }
  }
  return null
}

/** Ids with their objectives: of the turn's item, and of the lines of the others. */
const named = (opening: string): RegExpExecArray[] => [
  ...opening.matchAll(/^id: (work_\S+)\nobjective: (Ship|Other work) (\S+)$/gm),
  ...opening.matchAll(/^- (work_\S+) "(Ship|Other work) (\S+)"/gm),
]

function idOf({ opening, tail }: View, objective: string): string {
  const [mine] = created(tail)
  if (mine !== undefined) return mine
  const found = named(opening).find(([, , kind, name]) => `${kind} ${name}` === objective)
  return found?.[1] ?? 'work_not_seen'
}

// A child.

function child(view: View): FamilyAnswer {
  const { text, tail, opening } = view
  const [, name = '', part = ''] = /Write (r\w*)-(part-[abc])/.exec(text) ?? []
  const mine = /^id: (work_\S+)$/m.exec(opening)?.[1] ?? created(tail)[0]
  if (mine === undefined) {
    return say('One item.', call('CreateWorkItem', { objective: `Write ${name}-${part}` }))
  }
  if (!opening.includes('# Current work item') && !tail.includes(`${mine} is in focus.`)) {
    return say('I take it up.', call('PickWorkItem', { work_item_id: mine }))
  }
  if (part === 'part-b' && !text.includes(`The colour is ${colour}.`)) {
    const input = { wake: 'operator_input', reason: question, work_item_id: mine }
    return say('', call('WaitFor', input))
  }
  return write(view, mine, name, part)
}

/**
 * Lasts until the other work is in, so that the parent has another item in focus when this part is
 * done. It also ends when its folder is gone, so that a failed test leaves nothing running.
 */
const otherIsIn = (name: string): string =>
  `until [ -e "${sharedFolder}/${name}-other" ] || [ ! -d "$PWD" ]; do sleep 0.1; done`

/** The last part is written in the background. */
function write({ text }: View, mine: string, name: string, part: string): FamilyAnswer {
  if (text.includes(`committed=${name}-${part}`)) {
    return say(partReport(name, part), call('CompleteWorkItem', { work_item_id: mine }))
  }
  if (!text.includes(`I write ${name}-${part}.`)) {
    const what = part === 'part-b' ? colour : 'plain'
    const slow = part === 'part-c' ? otherIsIn(name) : 'sleep 0.2'
    const cmd =
      `mkdir -p ${name} && echo '${part} is ${what}' > ${name}/${part}.txt && ${slow} && ` +
      `git add . && git commit --quiet -m ${name}-${part} && ${note} && ` +
      `printf '%s=%s\\n' committed ${name}-${part}`
    const yields = part === 'part-c' ? { yield_ms: 1 } : {}
    return say(`I write ${name}-${part}.`, call('ExecCommand', { cmd, ...yields }))
  }
  const task = [...text.matchAll(/task_[0-9a-f-]{4,36}/g)].at(-1)?.[0]
  if (task === undefined) return say(`${name}-${part} cannot be written.`)
  // The answer to a wait that came too late tells the end, and not the output.
  if (text.includes(`${task} has ended already`)) {
    return say('What did it write?', call('TaskOutput', { task_id: task }))
  }
  const input = { wake: 'task_result', resource: task, reason: 'it has to be committed' }
  return say('', call('WaitFor', { ...input, work_item_id: mine }))
}

/** The policy as a model within the process. */
export function familyModel(): ScriptedModel {
  return scriptedModel((request) => {
    const { text, calls: made } = familyPolicy(textOf(request))
    return calls(...(text === '' ? [] : [text]), ...made)
  })
}

/** All a request says, in order. */
export const textOf = ({ system, messages }: ModelRequest): string =>
  [system, ...saidIn(messages)].join('\n')

/** What the messages of a request say, without the arguments of calls. */
export const saidIn = (messages: ModelRequest['messages']): string[] =>
  messages.flatMap((message) => {
    switch (message.role) {
      case 'user':
        return [message.content]
      case 'assistant':
        return message.parts.map((part) => (part.type === 'text' ? part.text : ''))
      case 'tool':
        return message.results.map((result) => result.text)
    }
  })
