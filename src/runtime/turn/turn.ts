/**
 * One run of a turn, fresh or resumed: ask the rows what is next, do it, commit, and again, until
 * the turn has ended, the agent is held, or the host closes. The order of steps is domain/
 * domain/turns/step.ts; nothing here remembers anything that a row does not say.
 */
import { interruptionNote, isInterruptionNote } from '../../context/sections/notes.ts'
import { openTurn, roundsOf, type Draft } from '../../domain/facts/facts.ts'
import { activeHold } from '../../domain/waits/hold.ts'
import { holdForSpending } from '../../domain/budgets/spending.ts'
import { requestAgain } from '../../domain/state/turn.ts'
import { abortTurn } from '../../domain/turns/end.ts'
import { nextStep, type Step } from '../../domain/turns/step.ts'
import { advance } from './advance.ts'
import type { NewBlob } from '../../ledger/port.ts'
import type { AgentPorts } from '../agent-ports.ts'
import { runCall, startCall } from './calls.ts'
import type { TurnRun } from './turn-run.ts'
import { planNow } from './plan-now.ts'
import { openRequest, stream } from './request.ts'
import { Talk } from './conversation.ts'

/** Why a run came back: the turn ended, the agent is held, or the turn was left open. */
export type RunOutcome = 'ended' | 'held' | 'left'

/** Runs the open turn. What interrupted it is told to the model in the next request. */
export async function runTurn(run: TurnRun): Promise<RunOutcome> {
  const { env } = run
  const talk = new Talk(env)
  if (run.interruption !== null) await tellInterruption(run)
  for (;;) {
    if (openTurn(env.facts()) === null) return 'ended'
    if (run.isLeft) return 'left'
    const step = nextStep(env.facts(), env.now())
    // A call that was begun gets its outcome, aborted or not; nothing else is begun.
    if (run.isAborted && step.do !== 'run_call') return abortOrLeave(run)
    const outcome = await take(run, talk, step)
    if (outcome !== null) return outcome
  }
}

/** Takes one step; null: look again. */
async function take(run: TurnRun, talk: Talk, step: Step): Promise<RunOutcome | null> {
  const { env } = run
  switch (step.do) {
    case 'open': {
      if (run.over().length === 0) await openRequest(run, talk)
      else await env.transact(null, (d) => holdForSpending(d, run.over()))
      return isHeld(env) ? 'held' : null
    }
    case 'stream': {
      const streamed = await stream(run, talk, step.round)
      if (streamed === 'held') return 'held'
      return streamed === 'left' ? abortOrLeave(run) : null
    }
    case 'start_call':
      await startCall(run, step.call)
      return null
    case 'run_call':
      await runCall(run, step.call)
      return null
    case 'hold':
      await env.transact(null, (d) => advance(d, run.stepInputs({})))
      return isHeld(env) ? 'held' : null
    case 'request':
    case 'report':
    case 'end': {
      const blobs: NewBlob[] = []
      const plan = await planNow(env, blobs)
      await env.transact(null, (d) => advance(d, run.stepInputs({ plan })), { blobs })
      return isHeld(env) ? 'held' : null
    }
  }
}

/** More may have been allowed between the look and the commit. */
const isHeld = (env: AgentPorts): boolean =>
  openTurn(env.facts()) !== null && activeHold(env.facts()) !== null

/** An aborted run ends its turn if the operator asked, and is left open if the host closes. */
async function abortOrLeave(run: TurnRun): Promise<RunOutcome> {
  const { env } = run
  if (run.isClosing) return 'left'
  const blobs: NewBlob[] = []
  const plan = await planNow(env, blobs)
  const decide = (d: Draft) => abortTurn(d, { plan, stop: run.stopsAgent })
  await env.transact('operator', decide, { blobs })
  return 'ended'
}

/**
 * The next request carries one note of what interrupted the turn. A request that waits for its
 * answer is recorded again with it; otherwise the note goes on the request that comes.
 */
async function tellInterruption(run: TurnRun): Promise<void> {
  await run.env.transact(null, (d) => {
    const turn = openTurn(d)
    const last = turn ? roundsOf(d, turn).at(-1) : undefined
    if (last?.state !== 'requested' || run.interruption === null) return
    const said = last.notes.filter((text) => !isInterruptionNote(text))
    const notes = [...said, interruptionNote(run.interruption, d.now)]
    d.emit({ ...requestAgain(last), notes })
  })
}
