/**
 * What a client of the API has seen: ids, cursors and hashes out of earlier answers, so that most
 * of its later requests are about something that is there.
 */
import type { Cases } from '../schema-cases.ts'
import type { Schema } from '../schema-fit.ts'

/** Of each kind that many, the newest: what is older has mostly ended. */
const kept = 24

export class Seen {
  readonly #texts = new Map<string, string[]>()
  readonly #hashes = new Map<string, string>()
  readonly #owners = new Map<string, string>()
  #agentsMade = 0

  add(kind: string, text: string): void {
    const known = (this.#texts.get(kind) ?? []).filter((one) => one !== text)
    this.#texts.set(kind, [...known, text].slice(-kept))
  }

  forget(kind: string, text: string): void {
    const left = (this.#texts.get(kind) ?? []).filter((one) => one !== text)
    this.#texts.set(kind, left)
  }

  all(kind: string): readonly string[] {
    return this.#texts.get(kind) ?? []
  }

  /** A name no agent has had. */
  newAgent(): string {
    this.#agentsMade += 1
    return `agent-${this.#agentsMade}`
  }

  /** The hash of an open question, by the id of its wait. */
  hashOf(wait_id: string): string | undefined {
    return this.#hashes.get(wait_id)
  }

  /** Every id in an answer, wherever it stands; a cursor belongs to the list at `path`. */
  harvest(path: string, value: unknown, key = ''): void {
    if (typeof value === 'string') {
      const noun = /^(work|wait|task|msg|turn|trig|sched|dlv)_[0-9a-f-]{30,}$/.exec(value)?.[1]
      if (noun !== undefined) this.add(noun, value)
      if (key === 'next_cursor') this.add(`cursor of ${path}`, value)
      if (key === 'current_run_id') this.add('run', value)
      if (key === 'url') this.add('token', value.split('/').at(-1) ?? '')
      return
    }
    if (Array.isArray(value)) for (const one of value) this.harvest(path, one, key)
    else if (typeof value === 'object' && value !== null) this.#harvestObject(path, value, key)
  }

  /** Whose it is: of another agent it would not be found. */
  ownerOf(id: string): string | undefined {
    return this.#owners.get(id)
  }

  #harvestObject(path: string, value: object, key: string): void {
    for (const [name, one] of Object.entries(value)) this.harvest(path, one, name)
    const { id, agent_id, current_run_id } = value as Readonly<Record<string, unknown>>
    if (typeof id !== 'string') return
    if (typeof agent_id === 'string') this.#owners.set(id, agent_id)
    if (typeof current_run_id === 'string') this.#owners.set(current_run_id, id)
    if (key === 'attention') this.add('entry', id)
    if (id.startsWith('wait_')) this.#harvestWait(id, { ...value })
    if (id.startsWith('task_')) this.#harvestTask(id, { ...value })
  }

  /** A worktree has the id of the task that owns it. */
  #harvestTask(id: string, one: Readonly<Record<string, unknown>>): void {
    if ('branch' in one) {
      const isGone = one['state'] === 'removed' || one['state'] === 'discarded'
      this.add('worktree', id)
      this[isGone ? 'add' : 'forget']('gone worktree', id)
      this[one['state'] === 'kept' ? 'add' : 'forget']('kept worktree', id)
    } else if ('survivors' in one) {
      const isChild = one['kind'] === 'child_agent' && one['status'] === 'running'
      this[isChild ? 'add' : 'forget']('child', id)
    }
  }

  #harvestWait(id: string, wait: Readonly<Record<string, unknown>>): void {
    const { bound_hash, wake, status } = wait
    const isActive = status === 'active'
    if (typeof bound_hash === 'string') this.#hashes.set(id, bound_hash)
    this[isActive && typeof bound_hash === 'string' ? 'add' : 'forget']('question', id)
    this[isActive && wake === 'external' ? 'add' : 'forget']('external', id)
  }
}

export type Surroundings = {
  seen: Seen
  /** Milliseconds since 1970, as the home has it. */
  now_ms: () => number
  workspace: string
  /** The path, as a pattern, that is about to be asked. */
  path: () => string
}

/** By the name of the field: words that mean something to the rules behind the schema. */
const wordsFor: Readonly<Record<string, readonly string[]>> = {
  cmd: ['true', 'echo hello', 'sleep 1', 'exit 3', 'no-such-program', 'cat'],
  model: ['scripted/model', 'scripted/model', 'scripted/other', 'no such model'],
  template: ['reviewer', 'reviewer', 'nobody'],
  fallback_model: ['scripted/model', 'scripted/other'],
  expression: ['* * * * *', '*/5 9-17 * * 1-5', '0 0 1 1 *', '0 0 31 2 *', 'every day', '* * *'],
  time_zone: ['UTC', 'Europe/Zurich', 'America/New_York', 'Mars/Olympus'],
  source: ['ci', 'ci', 'billing', 'x'.repeat(300)],
  resource: ['r1', 'r1', 'r2'],
  'idempotency-key': ['k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'with-a-long-name-0123456789'],
  accept: ['application/json', '*/*', 'text/event-stream', 'text/html, */*;q=0.1'],
  'if-match': ['"1"', '"2"', '3', 'W/"1"'],
  'last-event-id': ['0', '1', '7', ''],
}

const nouns: Readonly<Record<string, string>> = {
  work_item_id: 'work',
  item: 'work',
  wait_id: 'wait',
  run_id: 'run',
  entry: 'entry',
  token: 'token',
}

/** Which waits an act wants, by the last word of its path. */
const openWaits: Readonly<Record<string, string>> = { answer: 'question', trigger: 'external' }

/** Which of its nouns an act wants, by the last word of its path. */
const meant: Readonly<Record<string, string>> = {
  snapshot: 'kept worktree',
  remove: 'kept worktree',
  discard: 'kept worktree',
  restore: 'gone worktree',
  input: 'child',
}

/** What a list has entries of, by the last word of its path. */
const listed: Readonly<Record<string, string>> = {
  'work-items': 'work',
  messages: 'msg',
  waits: 'wait',
  tasks: 'task',
  worktrees: 'worktree',
  turns: 'turn',
  triggers: 'trig',
  schedules: 'sched',
  deliveries: 'dlv',
}

/** A text for a place of the API, by what it is called and what its schema says. */
export function knownText(cases: () => Cases, { seen, now_ms, workspace, path }: Surroundings) {
  const oneOf = (kind: string): string | null => {
    const known = seen.all(kind)
    return known.length === 0 ? null : cases().pick(known)
  }
  /** Whole, or a beginning or end of it, as a client may write it. */
  const id = (noun: string): string => {
    const prefix = noun === 'worktree' ? 'task' : noun
    const whole = cases().chance(0.95) ? oneOf(noun) : null
    if (whole === null)
      return `${prefix}_${cases().pick(['0000', 'ffff', 'nowhere', '1'.repeat(36)])}`
    const parts = [whole.slice(0, -3), whole.slice(-6), `${prefix}_${whole.slice(-6)}`]
    return cases().chance(0.9) ? whole : cases().pick(parts)
  }
  return (schema: Schema, name: string): string | null => {
    const { pattern = '', format } = schema
    if (name === 'id' && pattern.startsWith('^[a-z0-9]')) {
      return cases().chance(0.8) ? seen.newAgent() : 'main'
    }
    if (pattern.startsWith('^[a-z0-9]')) {
      return cases().chance(0.75) ? 'main' : (oneOf('agent') ?? 'nobody')
    }
    const noun = /^\^\(\?:([a-z]+)_/.exec(pattern)?.[1]
    const open = name === 'wait' ? oneOf(openWaits[path().split('/').at(-1) ?? ''] ?? '') : null
    if (open !== null && cases().chance(0.8)) return open
    const wanted =
      name === 'worktree' || name === 'task' ? meant[path().split('/').at(-1) ?? ''] : null
    const fit = typeof wanted === 'string' ? oneOf(wanted) : null
    if (fit !== null && cases().chance(0.8)) return fit
    if (noun !== undefined) return id(name === 'worktree' && oneOf(name) !== null ? name : noun)
    if (pattern.startsWith('^(work_item|plan')) {
      return cases().pick(['plan', 'brief,report', 'call,task_output,file'])
    }
    if (pattern.startsWith('^(agent|item')) return cases().pick(['agent', 'item,day', 'agent,day'])
    if (format === 'date-time') {
      const away = cases().pick([-60_000, 1_000, 60_000, 86_400_000])
      return new Date(now_ms() + away).toISOString()
    }
    if (format === 'date' || pattern.startsWith('^\\d{4}-')) {
      return cases().pick(['2026-01-05', '2026-01-06', '2025-12-31', '2026-02-30'])
    }
    if (name === 'agent') return cases().chance(0.8) ? 'main' : (oneOf('agent') ?? 'nobody')
    if (name === 'to') return cases().pick(['/srv/backups', 'backups', '..'])
    if (name === 'root' || name === 'workdir') {
      return cases().chance(0.8) ? workspace : cases().pick(['/nowhere', 'a/b', ''])
    }
    // A copy of the home each time: a few will do.
    if (name === 'to' && cases().chance(0.05)) return workspace
    const list = path().split('/').at(-1) ?? ''
    if (name === 'cursor') return oneOf(`cursor of ${path()}`) ?? 'bm9uZQ'
    if (name === 'before') return oneOf(listed[list] ?? 'turn') ?? 'work_0000'
    const kind = nouns[name]
    const found = kind === undefined ? null : oneOf(kind)
    if (found !== null) return found
    const words = wordsFor[name]
    return words === undefined || words.length === 0 ? null : cases().pick(words)
  }
}
