/**
 * The state of an item and of an agent by one name, with the one word that every screen has for it.
 * The API, tools and prompt say the names that the types have; people read short everyday words.
 */
import type { Next } from '../scheduler/next.ts'
import type { Projection } from '../facts/readiness.ts'

/** First that applies: what it is waiting for comes before where the scheduler has it. */
export const itemStates = [
  'completed',
  'triggered',
  'waiting_operator',
  'waiting_task',
  'waiting_timer',
  'waiting_external',
  'blocked',
  'current',
  'queued',
] as const
export type ItemState = (typeof itemStates)[number]

type Seen = Pick<Projection, 'scheduling_state' | 'candidate_class' | 'focus'>

export function itemStateOf({ scheduling_state: state, candidate_class, focus }: Seen): ItemState {
  if (candidate_class === 'triggered_blocked') return 'triggered'
  if (state !== 'runnable') return state
  return focus === 'current' ? 'current' : 'queued'
}

export const itemWord: { readonly [S in ItemState]: string } = {
  completed: 'done',
  triggered: 'triggered',
  waiting_operator: 'waits for you',
  waiting_task: 'waits for a task',
  waiting_timer: 'waits for a time',
  waiting_external: 'waits for an event',
  blocked: 'blocked',
  current: 'in hand',
  queued: 'ready',
}

export const postures = [
  'stop',
  'noop',
  'start_turn',
  'sleep',
  'wait:system',
  'wait:operator',
  'wait:task',
  'wait:external',
  'wait:timer',
  'wait:backoff',
] as const
/** What the scheduler says of an agent now. */
export type Posture = (typeof postures)[number]

export const postureOf = (next: Next): Posture =>
  next.do === 'wait' ? `wait:${next.for}` : next.do

export const postureWord: { readonly [P in Posture]: string } = {
  stop: 'stopped',
  noop: 'works',
  start_turn: 'starts a turn',
  sleep: 'sleeps',
  'wait:system': 'held',
  'wait:operator': itemWord.waiting_operator,
  'wait:task': itemWord.waiting_task,
  'wait:external': itemWord.waiting_external,
  'wait:timer': itemWord.waiting_timer,
  'wait:backoff': 'backs off',
}

const doesWord: { readonly [D in Next['do']]: string } = {
  stop: postureWord.stop,
  noop: postureWord.noop,
  start_turn: postureWord.start_turn,
  sleep: postureWord.sleep,
  wait: 'waits',
}

/** A decision by its name on record, `wait` or `start_turn(message)`, in its one word. */
export function decisionWord(name: string): string {
  const [does = name] = name.split('(', 1)
  return new Map<string, string>(Object.entries(doesWord)).get(does) ?? name
}
