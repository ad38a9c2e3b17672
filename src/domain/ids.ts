/**
 * Names of things. Every id is `<prefix>_<UUIDv7>`, minted once in the commit that makes the thing
 * (docs/spec/ledger.md#rules-of-storing); agents are the exception: their id is a name and is never
 * used again.
 */

export type MessageId = `msg_${string}`
export type TurnId = `turn_${string}`
export type CallId = `call_${string}`
export type WorkItemId = `work_${string}`
export type WaitId = `wait_${string}`
export type TaskId = `task_${string}`
export type DelegationId = `deleg_${string}`
export type BriefId = `brief_${string}`
export type DecisionId = `dec_${string}`
export type TriggerId = `trig_${string}`
export type DeliveryId = `dlv_${string}`
export type ScheduleId = `sched_${string}`
export type GrantId = `grant_${string}`
/** A schedule and the moment: the same slot cannot be settled twice. */
export type SlotId = `${ScheduleId}@${string}`
/** Not minted: the hash of agent, route and idempotency key. */
export type ReceiptId = `rcpt_${string}`
export type AgentId = string
/** An id, and whose it is. */
export type IdOf = { id: string; agent_id: AgentId }

type Prefixes = {
  msg: MessageId
  turn: TurnId
  call: CallId
  work: WorkItemId
  wait: WaitId
  task: TaskId
  deleg: DelegationId
  brief: BriefId
  dec: DecisionId
  trig: TriggerId
  dlv: DeliveryId
  sched: ScheduleId
  grant: GrantId
}

/** A supply of fresh ids, handed in from outside: the domain never makes one up. */
export type Mint = <P extends keyof Prefixes>(prefix: P) => Prefixes[P]

/** The id of a name: the first 30 of its hex digits, as a UUIDv7 stands. */
export function idOfDigits<P extends string>(prefix: P, hex: string): `${P}_${string}` {
  const [a, b, c, d] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 15), hex.slice(15, 18)]
  return `${prefix}_${a}-${b}-7${c}-8${d}-${hex.slice(18, 30)}`
}

const agentName = /^[a-z0-9][a-z0-9._-]{0,63}$/

/** Whether `text` may name an agent (docs/spec/nouns.md#ids). */
export const isAgentId = (text: string): boolean => agentName.test(text)

/** The one message that carries a task's end: a function of the task, so it cannot come twice. */
export const taskResultId = (task: TaskId): MessageId => `msg_${task.slice('task_'.length)}`

export const slotId = (schedule: ScheduleId, due_at: string): SlotId => `${schedule}@${due_at}`
