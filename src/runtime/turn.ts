/**
 * One run of a turn, fresh or resumed: ask the rows what is next, do it, commit, and again, until
 * the turn has ended, the agent is held, or the host closes. The order of steps is domain/
 * turn-step.ts; nothing here remembers anything that a row does not say.
 */
import { interruptionNote, isInterruptionNote, type Interruption } from '../context/notes.ts'
import { openTurn, roundsOf, type Draft } from '../domain/facts.ts'
import { activeHold } from '../domain/hold.ts'
import { holdForSpending } from '../domain/spending.ts'
import { requestAgain } from '../domain/turn.ts'
import { abortTurn } from '../domain/turn-end.ts'
import { nextStep, type Step } from '../domain/turn-step.ts'
import { advance } from './advance.ts'
import type { NewBlob } from '../ledger/port.ts'
import { runCall, startCall } from './calls.ts'
import type { LaneEnv } from './lane-env.ts'
import { planNow } from './plan-now.ts'
import { openRequest, stream } from './request.ts'
import { Talk } from './talk.ts'

/** Why a run came back: the turn ended, the agent is held, or the turn was left open. */
export type RunOutcome = 'ended' | 'held' | 'left'

/** Runs the open turn. `interruption` is told to the model in the next request. */
export async function runTurn(
  env: LaneEnv,
  interruption: Interruption | null,
): Promise<RunOutcome> {
  const talk = new Talk(env)
  env.interruption = interruption
  if (interruption !== null) await tellInterruption(env)
  for (;;) {
    if (openTurn(env.facts()) === null) return 'ended'
    if (env.stopping || env.suspended) return 'left'
    const step = nextStep(env.facts(), env.now())
    // A call that was begun gets its outcome, aborted or not; nothing else is begun.
    if (env.abort.signal.aborted && step.do !== 'run_call') return abortOrLeave(env)
    const outcome = await take(env, talk, step)
    if (outcome !== null) return outcome
  }
}

/** Takes one step; null: look again. */
async function take(env: LaneEnv, talk: Talk, step: Step): Promise<RunOutcome | null> {
  switch (step.do) {
    case 'open': {
      const over = () => env.spending.over(env.agent_id)
      if (over().length === 0) await openRequest(env, talk)
      else await env.transact(null, (d) => holdForSpending(d, over()))
      return isHeld(env) ? 'held' : null
    }
    case 'stream': {
      const streamed = await stream(env, talk, step.round)
      if (streamed === 'held') return 'held'
      return streamed === 'left' ? abortOrLeave(env) : null
    }
    case 'start_call':
      await startCall(env, step.call)
      return null
    case 'run_call':
      await runCall(env, step.call)
      return null
    case 'hold':
      await env.transact(null, (d) => advance(d, env.onward({})))
      return isHeld(env) ? 'held' : null
    case 'request':
    case 'report':
    case 'end': {
      const blobs: NewBlob[] = []
      const plan = await planNow(env, blobs)
      await env.transact(null, (d) => advance(d, env.onward({ plan })), { blobs })
      return isHeld(env) ? 'held' : null
    }
  }
}

/** More may have been allowed between the look and the commit. */
const isHeld = (env: LaneEnv): boolean =>
  openTurn(env.facts()) !== null && activeHold(env.facts()) !== null

/** An aborted run ends its turn if the operator asked, and is left open if the host closes. */
async function abortOrLeave(env: LaneEnv): Promise<RunOutcome> {
  if (env.stopping) return 'left'
  const blobs: NewBlob[] = []
  const plan = await planNow(env, blobs)
  const decide = (d: Draft) => abortTurn(d, { plan, stop: env.stopAfterAbort })
  await env.transact('operator', decide, { blobs })
  return 'ended'
}

/**
 * The next request carries one note of what interrupted the turn. A request that waits for its
 * answer is recorded again with it; otherwise the note goes on the request that comes.
 */
async function tellInterruption(env: LaneEnv): Promise<void> {
  await env.transact(null, (d) => {
    const turn = openTurn(d)
    const last = turn ? roundsOf(d, turn).at(-1) : undefined
    if (last?.state !== 'requested' || env.interruption === null) return
    const said = last.notes.filter((text) => !isInterruptionNote(text))
    const notes = [...said, interruptionNote(env.interruption, d.now)]
    d.emit({ ...requestAgain(last), notes })
  })
}
