/**
 * Sessions of third-party agents (ACP): each outlives this process, and a request in it is sent to
 * its agent once however often it is asked for. `exec` implements the port, `models` uses it, and
 * `main` joins the two. Types only.
 */

/** One entry of `acp` in the configuration. `env`: names to pass on, and fixed values. */
export type AcpSetting = {
  command: string
  args?: readonly string[] | undefined
  env?:
    | {
        pass?: readonly string[] | undefined
        set?: Readonly<Record<string, string>> | undefined
      }
    | undefined
}

export type AcpProgram = {
  command: string
  args: readonly string[]
  env: { pass: readonly string[]; set: Readonly<Record<string, string>> }
}

/** Whose session it is: the supervising task's; `workdir` is absolute. */
export type AcpPlace = { task_id: string; program: AcpProgram; workdir: string }

export type AcpOption = {
  option_id: string
  name: string
  kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always'
}

export type AcpQuestion = { permission_id: string; title: string; options: readonly AcpOption[] }

export type AcpStop = 'end_turn' | 'max_tokens' | 'max_turn_requests' | 'refusal' | 'cancelled'

/**
 * Why a prompt has no answer.
 * - `not_started`: the program cannot be run. `wrong_protocol`: it speaks another version.
 * - `needs_login`: it wants an authentication that only a person can give.
 * - `garbage`: what it wrote is no message of the protocol, or one over the limit.
 * - `agent_ended`: its process ended. `silent`: nothing came for too long, or no session.
 * - `agent_error`: it answered with an error of its own; `agent_refused`: one that repeats.
 * - `too_much`: it said more than is kept. `driver_lost`: its driver ended in the middle.
 */
export type AcpFailure =
  | 'not_started'
  | 'wrong_protocol'
  | 'needs_login'
  | 'garbage'
  | 'agent_ended'
  | 'silent'
  | 'agent_error'
  | 'agent_refused'
  | 'too_much'
  | 'driver_lost'

/** How the part of a session that serves one request came to its end. */
export type AcpEnd =
  | { state: 'asked'; question: AcpQuestion }
  | { state: 'ended'; stop: AcpStop }
  | { state: 'failed'; code: AcpFailure; message: string }
  /** Nothing was done: the question is no longer open, or has no such option. */
  | { state: 'refused'; why: string }

export type AcpToolCall = {
  tool_call_id: string
  title: string | null
  kind: string | null
  status: string | null
  locations: readonly string[]
}

export type AcpPlanEntry = { content: string; status: string }

/** `over` comes once, as the last. */
export type AcpEvent =
  | { type: 'text' | 'thought'; text: string }
  | ({ type: 'tool_call' | 'tool_call_update' } & AcpToolCall)
  | { type: 'plan'; entries: readonly AcpPlanEntry[] }
  | { type: 'over'; end: AcpEnd }

/** `option` counts from 1. `after_loss` is told instead to an agent that forgot its session. */
export type AcpWords =
  | { kind: 'prompt'; text: string; after_loss: string }
  | { kind: 'answer'; permission_id: string; option: number | null }

export type AcpSight = {
  /** The oldest question nobody has answered. */
  question: AcpQuestion | null
  /** What became of a request; null when it was never ordered. */
  leg(request_id: string): AcpEnd | { state: 'running' } | null
}

/**
 * *Contract.* `finds`: whether the program can be found by the PATH its process will have. `follow`
 * orders a request at most once, whoever calls it how often, and yields what was said from its
 * beginning; a new prompt takes the place of one that is open. Aborting ends the following and
 * leaves the agent at work. Request ids are letters, digits, `.`, `_` and `-`. Failures of the
 * machine are thrown, with `retry` on them.
 */
export interface AcpPort {
  finds(program: AcpProgram): boolean
  look(task_id: string): Promise<AcpSight>
  follow(
    place: AcpPlace,
    request_id: string,
    words: AcpWords,
    signal: AbortSignal,
  ): AsyncIterable<AcpEvent>
}
