/**
 * The models of a run. The adversary answers with whatever a model may: every tool with arguments
 * that are right, nearly right or nonsense, text, nothing, half an answer, every error a provider
 * has, or silence. The diligent one brings everything to its end, for the time after the faults.
 */
import type { AgentFacts } from '../../src/domain/facts/agent-facts.ts'
import type { Facts } from '../../src/domain/facts/facts.ts'
import { openTurn } from '../../src/domain/facts/facts.ts'
import type { ModelPart } from '../../src/ports/model-message.ts'
import type { ModelFault, ModelRound } from '../../src/models/model.ts'
import {
  calls,
  cutAfter,
  fails,
  says,
  type Scripted,
  type ScriptedCall,
} from '../../src/testing/scripted-model.ts'
import type { Random } from '../soak/random.ts'
import { home, workspace } from './disk.ts'
import { fieldTooMany, neverRuns } from './witness.ts'

export type Seen = {
  facts: Facts | AgentFacts
  /** Counts every call of the run, so that no two commands are the same. */
  nth: number
  isReport: boolean
}

export const pick = <T>(random: Random, from: readonly T[]): T | undefined =>
  from[random.between(0, Math.max(0, from.length - 1))]

const idsOf = (facts: Facts, table: 'work_items' | 'tasks'): string[] =>
  [...facts.rows(table)].map(({ id }) => id)

const nowhere = 'work_00000000-0000-7000-8000-000000000000'

type Maker = (random: Random, seen: Seen) => ScriptedCall

const item = (random: Random, { facts }: Seen): string => {
  const turn = openTurn(facts)
  if (turn?.work_item_id && random.chance(0.6)) return turn.work_item_id
  return random.chance(0.04) ? nowhere : (pick(random, idsOf(facts, 'work_items')) ?? nowhere)
}
const task = (random: Random, { facts }: Seen): string =>
  pick(random, idsOf(facts, 'tasks')) ?? 'task_00000000-0000-7000-8000-000000000000'

const file = (random: Random, { facts }: Seen): string => {
  const plans = [...facts.rows('work_items')].map(({ plan_artifact }) => plan_artifact.path)
  const own = `${workspace}/notes-${random.between(1, 4)}.txt`
  if (random.chance(0.03)) return `${home}/control-token`
  return random.chance(0.4) ? (pick(random, plans) ?? own) : own
}

const todos = (random: Random) =>
  Array.from({ length: random.between(0, 3) }, (_, n) => ({
    text: `step ${n}`,
    state: pick(random, ['pending', 'in_progress', 'completed']) ?? 'pending',
  }))

const waitFor: Maker = (random, seen) => {
  const given = { reason: `reason ${seen.nth}` }
  const on = random.chance(0.3) ? { work_item_id: item(random, seen) } : {}
  switch (random.between(0, 4)) {
    case 0:
      return { name: 'WaitFor', input: { wake: 'operator_input', ...given, ...on } }
    case 1:
      return {
        name: 'WaitFor',
        input: { wake: 'task_result', ...given, ...on, resource: task(random, seen) },
      }
    case 2: {
      const wait_ms = random.chance(0.2) ? 0 : random.between(1, 600_000)
      return { name: 'WaitFor', input: { wake: 'timer', ...given, ...on, wait_ms } }
    }
    default: {
      const source = random.chance(0.7) ? { source: pick(random, sources) ?? 'ci' } : {}
      const resource = random.chance(0.5) ? { resource: pick(random, resources) ?? 'a' } : {}
      const recheck = random.chance(0.4) ? { recheck_after_ms: random.between(1, 300_000) } : {}
      const mode = random.chance(0.3) ? { delivery_mode: 'wake_hint' } : {}
      return {
        name: 'WaitFor',
        input: { wake: 'external', ...given, ...on, ...source, ...resource, ...recheck, ...mode },
      }
    }
  }
}

/** What events are about, and waits. */
export const sources = ['ci', 'mail'] as const
export const resources = ['a', 'b'] as const

const exec: Maker = (random, { nth }) => {
  const kind = pick(random, ['quick', 'quick', 'slow', 'endless', 'post']) ?? 'quick'
  return {
    name: 'ExecCommand',
    input: {
      cmd: `${kind} ${nth}`,
      ...(random.chance(0.4) ? { yield_ms: random.between(0, 2_000) } : {}),
      ...(random.chance(0.3) ? { timeout_ms: random.between(1, 120_000) } : {}),
      ...(random.chance(0.4) ? { accepts_input: true } : {}),
    },
  }
}

const spawn: Maker = (random, { nth }) => {
  if (random.chance(0.15)) {
    return {
      name: 'SpawnAgent',
      input: { preset: 'public_named', agent_id: `made-${nth}`, initial_message: 'Look around.' },
    }
  }
  return {
    name: 'SpawnAgent',
    input: {
      initial_message: `Do part ${nth}.`,
      ...(random.chance(0.2) ? { context: 'fork' } : {}),
      ...(random.chance(0.25) ? { workspace_mode: 'worktree' } : {}),
    },
  }
}

/** To a child that asks, where there is one. */
const tellChild: Maker = (random, seen) => {
  const asking = [...seen.facts.rows('tasks')].find((one) => one.asking !== null)
  return {
    name: 'TaskInput',
    input: { task_id: asking?.id ?? task(random, seen), text: `answer ${seen.nth}` },
  }
}

/** A question, of a child to its parent. */
const ask: Maker = (random, seen) => ({
  name: 'WaitFor',
  input: {
    wake: 'operator_input',
    reason: `question ${seen.nth}`,
    ...(random.chance(0.5) ? { work_item_id: item(random, seen) } : {}),
  },
})

/** As often as they stand here. */
const onWork: readonly Maker[] = [
  (random, { nth }) => ({
    name: 'CreateWorkItem',
    input: {
      objective: `objective ${nth}`,
      ...(random.chance(0.5) ? { plan: `# Plan ${nth}\n` } : {}),
      ...(random.chance(0.1) ? { plan_status: 'needs_input' } : {}),
      todo_list: todos(random),
    },
  }),
  (random, seen) => ({ name: 'PickWorkItem', input: { work_item_id: item(random, seen) } }),
  (random, seen) => ({
    name: 'PickWorkItem',
    input: { work_item_id: item(random, seen), reason: 'it is more urgent' },
  }),
  (random, seen) => ({
    name: 'CompleteWorkItem',
    input: { work_item_id: item(random, seen), leave_running: random.chance(0.7) },
  }),
  (random, seen) => ({
    name: 'UpdateWorkItem',
    input: {
      work_item_id: item(random, seen),
      ...(random.chance(0.3) ? { objective: `objective again ${seen.nth}` } : {}),
      ...(random.chance(0.2) ? { plan_status: pick(random, statuses) ?? 'ready' } : {}),
      ...(random.chance(0.3) ? { blocked_by: random.chance(0.4) ? 'a strike' : null } : {}),
      ...(random.chance(0.4) ? { todo_list: todos(random) } : {}),
    },
  }),
]

const onTasks: readonly Maker[] = [
  exec,
  exec,
  exec,
  (random, seen) => ({
    name: 'TaskOutput',
    input: {
      task_id: task(random, seen),
      ...(random.chance(0.5) ? { block: true, timeout_ms: random.between(1, 30_000) } : {}),
    },
  }),
  (random, seen) => ({ name: 'TaskStop', input: { task_id: task(random, seen) } }),
  (random, seen) => ({ name: 'TaskStatus', input: { task_id: task(random, seen) } }),
  (random, seen) => ({
    name: 'TaskInput',
    input: { task_id: task(random, seen), text: `line ${seen.nth}\n`, end: random.chance(0.3) },
  }),
]

const onFiles: readonly Maker[] = [
  (random, seen) => ({ name: 'ReadFile', input: { path: file(random, seen) } }),
  (random, seen) => ({
    name: 'EditFile',
    input: { path: file(random, seen), new_text: `text ${seen.nth}\n` },
  }),
  (random, seen) => ({
    name: 'EditFile',
    input: { path: file(random, seen), old_text: 'text', new_text: `more text ${seen.nth}` },
  }),
  (random, { nth }) => {
    const path = `patched-${random.between(1, 3)}-${nth}.txt`
    return {
      name: 'ApplyPatch',
      input: { patch: `--- /dev/null\n+++ ${path}\n@@ -0,0 +1,1 @@\n+line ${nth}\n` },
    }
  },
]

const looks: readonly Maker[] = [
  () => ({ name: 'ListTasks', input: {} }),
  () => ({ name: 'ListWorkItems', input: { filter: 'open' } }),
  (random, seen) => ({ name: 'GetWorkItem', input: { work_item_id: item(random, seen) } }),
  () => ({ name: 'AgentGet', input: {} }),
  () => ({ name: 'MemorySearch', input: { query: 'notes' } }),
]
const statuses = ['draft', 'ready', 'needs_input']

const waiting = [waitFor, waitFor, waitFor]
const everything = [...onWork, ...waiting, ...onTasks, spawn, ...onFiles, ...looks]

/** All that a round can do about one task and its item; together in one round, in any order. */
const aboutOne: readonly ((task_id: string, work_item_id: string, seen: Seen) => ScriptedCall)[] = [
  (task_id) => ({ name: 'TaskOutput', input: { task_id } }),
  (task_id) => ({ name: 'TaskOutput', input: { task_id, block: true, timeout_ms: 5_000 } }),
  (resource, _, { nth }) => ({
    name: 'WaitFor',
    input: { wake: 'task_result', resource, reason: `its end ${nth}` },
  }),
  (resource, work_item_id, { nth }) => ({
    name: 'WaitFor',
    input: { wake: 'task_result', resource, work_item_id, reason: `its end ${nth}` },
  }),
  (_, work_item_id, { nth }) => ({
    name: 'WaitFor',
    input: { wake: 'timer', wait_ms: 60_000, work_item_id, reason: `a pause ${nth}` },
  }),
  (_, work_item_id) => ({
    name: 'CompleteWorkItem',
    input: { work_item_id, leave_running: true },
  }),
  (_, work_item_id) => ({
    name: 'PickWorkItem',
    input: { work_item_id, reason: 'it is more urgent' },
  }),
  (task_id) => ({ name: 'TaskStop', input: { task_id } }),
]

/** Null: nothing of the agent runs. */
function roundAboutOne(random: Random, seen: Seen): ScriptedCall[] | null {
  const one = pick(random, [...seen.facts.rows('tasks')])
  if (one === undefined) return null
  const left = [...aboutOne]
  const many = random.between(2, 4)
  return Array.from({ length: many }, (_, n) => {
    const [make = aboutOne[0]] = left.splice(random.between(0, left.length - 1), 1)
    const about = random.chance(0.8) ? one.work_item_id : null
    const made = make?.(one.id, about ?? item(random, seen), { ...seen, nth: seen.nth * 10 + n })
    return made ?? waitFor(random, seen)
  })
}

type Temper = { makers: readonly Maker[]; text: number }

/**
 * What a model is given to, for a whole run: a bit of everything, or more of one thing, so that
 * rare sequences come in some runs. The lazy one says much and changes nothing.
 */
const tempers: readonly Temper[] = [
  { makers: everything, text: 0.12 },
  { makers: everything, text: 0.12 },
  { makers: [...onWork, ...waiting, ...waiting], text: 0.12 },
  { makers: [...onTasks, ...onTasks, ...waiting], text: 0.08 },
  {
    makers: [
      ...onWork,
      spawn,
      spawn,
      spawn,
      ...waiting,
      ...onTasks,
      ask,
      ask,
      tellChild,
      tellChild,
    ],
    text: 0.15,
  },
  { makers: [...looks, ...onWork.slice(0, 2)], text: 0.7 },
]

export const temperOf = (seed: number): Temper => tempers[seed % tempers.length] ?? neutral
const neutral: Temper = { makers: everything, text: 0.12 }

/** A call that may not run, marked so that it shows if it does; one of them runs with a warning. */
const wrongCall = (random: Random, seen: Seen): ScriptedCall => {
  const { nth } = seen
  const id = `${neverRuns}${nth}`
  switch (random.between(0, 5)) {
    case 0:
      return { name: 'ExecCommand', id, input_json: `{"cmd": "quick ${nth}` }
    case 1:
      return { name: 'RunShell', id, input: { cmd: `quick ${nth}` } }
    case 2:
      return {
        name: 'ExecCommand',
        id: `${fieldTooMany}${nth}`,
        input: { cmd: `quick ${nth}`, sudo: true },
      }
    case 3:
      return { name: 'CompleteWorkItem', id, input: {} }
    case 4:
      // Input cannot be taken back: with a field that nobody knows none of it is given.
      return {
        name: 'TaskInput',
        id,
        input: { task_id: task(random, seen), text: `line ${nth}\n`, sudo: true },
      }
    default:
      return { name: 'EditFile', id, input_json: '[]' }
  }
}

const kinds: readonly (Pick<ModelFault, 'kind' | 'code'> & Partial<ModelFault>)[] = [
  { kind: 'world', code: 'timeout', status: 408 },
  { kind: 'world', code: 'rate_limited', status: 429 },
  { kind: 'world', code: 'rate_limited', status: 429, retry_after_ms: 2_000 },
  { kind: 'world', code: 'rate_limited', status: 429, retry_after_ms: 900_000 },
  { kind: 'world', code: 'server_error', status: 500 },
  { kind: 'world', code: 'stream_broken' },
  { kind: 'world', code: 'quota', status: 429 },
  { kind: 'setup', code: 'unauthorized', status: 401 },
  { kind: 'refused', code: 'bad_request', status: 400 },
  { kind: 'refused', code: 'context_length', status: 400 },
]

const sentences = ['Done.', 'I looked at it and everything is in order.', 'Let me see:', '']

/** Whatever a model may answer. `faults`: also what is no answer. */
export function adversary(
  random: Random,
  seen: Seen,
  { makers, text: silent }: Temper,
  faults: boolean,
): Scripted {
  if (faults && random.chance(0.1)) {
    if (random.chance(0.15)) return 'hang'
    const fault = fails(pick(random, kinds) ?? { kind: 'world', code: 'network' })
    // Some of the answer had come: it is paid for.
    return random.chance(0.4) ? { ...fault, cut: cutAfter(random.between(0, 4_000)) } : fault
  }
  const text = pick(random, sentences) ?? ''
  if (seen.isReport) return says(text)
  if (random.chance(silent)) return says(text, random.chance(0.1) ? { finish: 'length' } : {})
  const related = random.chance(0.08) ? roundAboutOne(random, seen) : null
  if (related !== null) return calls(...(random.chance(0.5) ? [text] : []), ...related)
  const many = random.chance(0.6) ? 1 : random.between(2, 4)
  const made = Array.from({ length: many }, (_, n): ScriptedCall => {
    const one = { ...seen, nth: seen.nth * 10 + n }
    if (faults && random.chance(0.05)) return wrongCall(random, one)
    const isGranted = [...seen.facts.rows('grants')].length > 0
    const make = makers[random.between(0, makers.length - 1)] ?? waitFor
    // What was granted is made use of.
    const call = (isGranted && random.chance(0.5) ? exec : make)(random, one)
    if (random.chance(0.03)) return { ...call, id: '' }
    return random.chance(0.03) ? { ...call, id: 'same' } : call
  })
  const round = calls(...(random.chance(0.5) ? [text] : []), ...made)
  return faults && random.chance(0.03) ? cut(round) : round
}

/** The provider stopped in the middle: the last call is half there. */
function cut(round: ModelRound): ModelRound {
  const parts = round.parts.map((part, at): ModelPart => {
    if (part.type !== 'tool_call' || at < round.parts.length - 1) return part
    const half = part.input_json.slice(0, Math.max(1, Math.floor(part.input_json.length / 2)))
    return { ...part, input_json: half, provider_call_id: `${neverRuns}${half.length}_${at}` }
  })
  return { ...round, parts, finish: 'length' }
}

/** Brings what the turn is about to its end. */
export function diligent({ facts, isReport }: Seen): Scripted {
  if (isReport) return says('Everything that was asked for is there.')
  const turn = openTurn(facts)
  const about = turn?.work_item_id ?? null
  const row = about === null ? undefined : facts.row('work_items', about)
  if (row?.state === 'open') {
    const input = { work_item_id: row.id, leave_running: true }
    const done = { name: 'CompleteWorkItem', input }
    return calls('Everything that was asked for is there.', done)
  }
  if (turn?.cause.kind === 'queued_available') {
    const open = turn.cause.work_item_ids.find(
      (id) => facts.row('work_items', id)?.state === 'open',
    )
    if (open !== undefined) return calls({ name: 'PickWorkItem', input: { work_item_id: open } })
  }
  return says('There is nothing else to do.')
}
