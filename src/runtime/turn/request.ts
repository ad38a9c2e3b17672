/**
 * One request to the model: the opening of a turn, the stream, and what becomes of its outcome.
 * Only a whole answer is recorded; a fault is retried, falls back, holds the agent or ends the
 * turn, by its kind (docs/spec/turn.md#faults-of-a-provider, *Provider errors*).
 */
import { charTokens } from '../../context/estimate.ts'
import { budgetNote } from '../../context/sections/notes.ts'
import { contextLimits } from '../../context/limits.ts'
import { renderOpening } from '../../context/opening/render.ts'
import type { Situation } from '../../context/sections/situation.ts'
import { imageTokens } from '../../domain/image.ts'
import type { Agent } from '../../domain/state/agent.ts'
import type { Call } from '../../domain/state/call.ts'
import type { Message } from '../../domain/state/message.ts'
import { mustTurn, agentOf, openTurn, type Draft, type Facts } from '../../domain/facts/facts.ts'
import { reserve, untold } from '../../domain/budgets/settle.ts'
import { deliverFailure, holdAgent } from '../../domain/scheduler/park.ts'
import { carryClaimed } from '../../domain/turns/shown.ts'
import { holdForSpending } from '../../domain/budgets/spending.ts'
import { stableHash } from '../../domain/stable-hash.ts'
import { plus } from '../../domain/time.ts'
import { endTurn } from '../../domain/turns/end.ts'
import { roundId, type Round, type RequestSize, type Turn } from '../../domain/state/turn.ts'
import type { ModelMessage } from '../../ports/model-message.ts'
import type { Model, ModelFault, ModelOutcome } from '../../models/model.ts'
import { nextModel, withRetry, type NextModel } from '../../models/retry.ts'
import type { NewBlob } from '../../ledger/port.ts'
import { imagePathIn, outputPath } from '../home.ts'
import { charged, mayAsk } from './charged.ts'
import type { AgentPorts } from '../agent-ports.ts'
import type { TurnRun } from './turn-run.ts'
import { recordRound } from './record-answer.ts'
import { foreignSession } from './foreign-session.ts'
import { compactRequest } from './compaction.ts'
import { factorFrom } from './token-factor.ts'
import { imageBytes } from './image-bytes.ts'
import { keepInputFiles } from './input-files.ts'
import { gather, gatherOpening } from '../gather/situation.ts'
import { wholeResultOf, type Talk } from './conversation.ts'
import { planNow } from './plan-now.ts'
import { toolSpecs } from './tool-specs.ts'

/** Projects the context and commits the first request. */
export async function openRequest(run: TurnRun, talk: Talk): Promise<void> {
  const { env } = run
  const situation = await gatherOpening(env)
  const factor = await factorFrom(env, situation.turn.model)
  const view = {
    tokens: charTokens,
    window: Math.floor(situation.context_window / factor),
    random_fence: env.ports.ids.token(9).replace(/[^A-Za-z0-9]/g, 'x'),
    full_path: (call: Call) => wholeResultOf(env.ports.home, call),
    message_path: ({ id }: Message) => outputPath(env.ports.home, id),
    image_path: imagePathIn(env.ports.home),
    sees_images: env.ports.models.facts(situation.turn.model).vision,
  }
  const rendered = await env.withShort((short) => renderOpening(situation, { ...view, short }))
  // It quotes files, which no commit has looked at.
  const opening = env.redacted(rendered)
  const bytes = new TextEncoder().encode(env.urls.sealed(env.facts(), JSON.stringify(opening)))
  const blob = env.store.blob(bytes)
  talk.open(opening, situation.turn.model, 0, factor)
  const pictures = situation.messages.flatMap(({ images = [] }) => images)
  const { vision } = env.ports.models.facts(situation.turn.model)
  const seen = vision ? pictures.reduce((sum, image) => sum + imageTokens(image), 0) : 0
  const tokens = charTokens(opening.system) + charTokens(opening.user) + seen
  const decide = (d: Draft) => {
    // Others may have spent it while the opening was gathered.
    const over = run.over()
    if (over.length > 0) holdForSpending(d, over)
    else firstRequest(d, situation, blob.sha256, tokens)
  }
  await env.transact(situation.turn.id, decide, { blobs: [blob] })
}

function firstRequest(
  d: Draft,
  situation: Situation,
  opening_sha256: string,
  opening_tokens: number,
): void {
  const { turn } = situation
  const nearly = untold(d, turn, d.now)
  d.emit({
    type: 'request_sent',
    id: roundId(turn.id, 1),
    turn_id: turn.id,
    work_item_id: turn.work_item_id,
    n: 1,
    kind: 'work',
    model: turn.model,
    opening_sha256,
    notes: nearly.length === 0 ? [] : [budgetNote(turn.work_item_id ?? '', nearly)],
    message_ids: situation.messages.map((message) => message.id),
  })
  carryClaimed(d, turn)
  reserve(d, turn, roundId(turn.id, 1), opening_tokens, nearly)
}

/** What the lap does after a request that did not bring the turn on. */
export type Streamed = 'recorded' | 'ended' | 'held' | 'left'

/** Sends the recorded request and records the answer, or does what its fault asks for. */
export async function stream(run: TurnRun, talk: Talk, round: Round): Promise<Streamed> {
  const { env } = run
  const turn = mustTurn(env.facts())
  const opened = await env.ports.models.open(turn.model)
  if (!opened.ok) {
    return afterFault(run, turn, setupFault(opened.code, opened.message))
  }
  let conversation = await talk.request()
  if (conversation !== null && (await compactedInTime(run, talk, round))) {
    conversation = await talk.request()
  }
  // A summary was being written: what it would have made room for is not sent.
  if (run.signal.aborted) return 'left'
  if (conversation === null) {
    await env.transact(turn.id, (d) => endUnanswered(d, 'failed', 'opening_lost'))
    return 'ended'
  }
  if (!talk.fits()) {
    // Nothing was asked yet: what the turn is for must not pass for consumed.
    if (round.n === 1) return afterFault(run, turn, tooSmall(turn.model))
    const blobs: NewBlob[] = []
    const plan = await planNow(env, blobs)
    const decide = (d: Draft) =>
      endTurn(d, { outcome: 'completed', reason: 'context_limit', text: '', plan })
    await env.transact(turn.id, decide, { blobs })
    return 'ended'
  }
  await keepInputFiles(env, conversation.messages)
  let outcome = await ask(run, opened.model, turn, round, conversation)
  if (!outcome.ok && leavesOut(talk, outcome.fault)) {
    conversation = (await talk.request()) ?? conversation
    outcome = await ask(run, opened.model, turn, round, conversation)
  }
  if (outcome.ok) {
    run.answered()
    await recordRound(run, round, outcome.round, conversation.sent)
    return 'recorded'
  }
  // The next step ends the turn, or holds it: no model is asked, and none is at fault.
  if (!mayAsk(env)) return 'recorded'
  if (outcome.fault.code === 'context_length') {
    if (await compactedHard(run, talk, round)) return 'recorded'
    if (run.signal.aborted) return 'left'
  }
  return afterFault(run, turn, outcome.fault)
}

/**
 * What a provider may refuse of a request that is well otherwise, left out from now on: the model's
 * own parts may be bound to something that changed, or to another key; an image may be damaged, or
 * of a kind that it does not take.
 */
function leavesOut(talk: Talk, { code }: ModelFault): boolean {
  if (code === 'thinking_refused') return talk.leaveOutOwn()
  return code === 'bad_request' && talk.leaveOutImages()
}

/** A request that comes near the window is made shorter before it is sent. */
async function compactedInTime(run: TurnRun, talk: Talk, round: Round): Promise<boolean> {
  const { tokens, window } = talk.size()
  if (round.n === 1 || tokens <= window * contextLimits.compact_at.value) return false
  return compactRequest(run, talk, round, contextLimits.compact_to.value)
}

/** The provider counts more than it was thought to: once for a request, and it is asked again. */
async function compactedHard(run: TurnRun, talk: Talk, round: Round): Promise<boolean> {
  const now = run.env.facts().row('rounds', round.id)
  if (round.n === 1 || !now || now.opening_sha256 !== null) return false
  return compactRequest(run, talk, now, contextLimits.compact_hard.value)
}

const tooSmall = (model: string): ModelFault => ({
  kind: 'refused',
  code: 'context_length',
  message: `The context window of ${model} is too small for the opening of a turn.`,
  status: null,
  retry_after_ms: null,
  retryable: false,
})

async function ask(
  run: TurnRun,
  model: Model,
  turn: Turn,
  round: Round,
  conversation: {
    system: string
    messages: readonly ModelMessage[]
    plain: boolean
    sent: RequestSize
  },
): Promise<ModelOutcome> {
  const { env } = run
  const { clock, ids } = env.ports
  const read = Math.ceil(conversation.sent.estimated * conversation.sent.factor)
  const patient = withRetry(charged(env, model, round, read), {
    sleep: (ms, signal) => clock.sleep(ms, signal),
    random: () => ids.random(),
    on_retry: ({ fault, delay_ms, attempt }) =>
      env.notify({
        kind: 'retry',
        agent_id: env.agent_id,
        turn_id: turn.id,
        message: fault.message,
        delay_ms,
        attempt,
      }),
  })
  const { max_output, effort, request_minutes } = env.ports.models.facts(turn.model)
  const situation = model.reads_situation ? await gather(env) : null
  const agent_session = await foreignSession(env, turn, round)
  const images = await imageBytes(env, conversation.messages)
  return env.effect(`request ${round.id}`, () =>
    patient.request(
      {
        model: turn.model,
        system: conversation.system,
        tools: toolSpecs(agentOf(env.facts()).visibility),
        tool_choice: round.kind === 'report' ? 'none' : 'auto',
        messages: conversation.messages,
        ...(images.size === 0 ? {} : { images }),
        max_output_tokens: max_output,
        ...(effort === null ? {} : { effort }),
        ...(request_minutes === null ? {} : { time_limit_ms: request_minutes * 60_000 }),
        ...(conversation.plain ? { plain: true } : {}),
        cache_key: cacheKey(agentOf(env.facts())),
        situation,
        ...(agent_session === null ? {} : { agent_session }),
      },
      {
        signal: run.signal,
        on_event: (event) =>
          env.notify({
            kind: 'live',
            agent_id: env.agent_id,
            turn_id: turn.id,
            round: round.n,
            event,
          }),
      },
    ),
  )
}

/** Names differ between homes, so two agents called `main` share none. */
const cacheKey = ({ id, created_at }: Agent): string => `holon-${stableHash(`${id} ${created_at}`)}`

/** Why a model was not opened, as the code of the hold; every other reason: it is not known. */
const setupCodes: Readonly<Record<string, ModelFault['code']>> = {
  no_key: 'no_key',
  key_unreadable: 'no_key',
  secret_unreadable: 'secret_unreadable',
}

/** The model cannot even be opened: nothing changes until someone changes the setting. */
const setupFault = (code: string, message: string): ModelFault => ({
  kind: 'setup',
  code: setupCodes[code] ?? 'unknown_model',
  message,
  status: null,
  retry_after_ms: null,
  retryable: false,
})

/** Whom to ask next, or how to hold or end the turn; `nextModel` is the rule. */
async function afterFault(run: TurnRun, turn: Turn, fault: ModelFault): Promise<Streamed> {
  run.failed({ model: turn.model, fault })
  return afterTried(run, turn, fault)
}

async function afterTried(run: TurnRun, turn: Turn, fault: ModelFault): Promise<Streamed> {
  const { env } = run
  const set = modelsSet(env.facts())
  const next = nextModel(await modelsFor(run), run.tried)
  if (next.next === 'request') {
    await changeModel(env, turn, next.model, `${fault.code}: ${fault.message}`)
    return 'recorded'
  }
  switch (next.next) {
    case 'abort':
      return 'left'
    case 'hold':
    case 'hold_for_setup': {
      // All are spent: after the hold the first model is asked again.
      const first = run.tried[0]?.model ?? turn.model
      if (first !== turn.model) await changeModel(env, turn, first, 'no model could answer')
      const isHeld = await env.transact(turn.id, (d) => {
        if (modelsSet(d) !== set) return false
        hold(d, next)
        return true
      })
      if (isHeld) return 'held'
      // Another model was set meanwhile: what failed is not what is to be asked.
      const now = openTurn(env.facts())
      return now === null ? 'ended' : afterTried(run, now, fault)
    }
    case 'fail': {
      const blobs: NewBlob[] = []
      const plan = await planNow(env, blobs)
      const decide = (d: Draft) => {
        deliverFailure(d, turn, `The provider refused the request: ${sentence(next.fault)}`)
        endTurn(d, { outcome: 'failed', reason: next.fault.code, text: '', plan })
      }
      await env.transact(turn.id, decide, { blobs })
      return 'ended'
    }
  }
}

function hold(d: Draft, next: NextModel & { next: 'hold' | 'hold_for_setup' }): void {
  const ms = next.next === 'hold' ? next.retry_after_ms : null
  holdAgent(d, {
    cause: next.next === 'hold' ? 'provider_world' : 'provider_setup',
    message: sentence(next.fault),
    until: ms === null ? null : plus(d.now, ms),
  })
}

const sentence = (fault: ModelFault): string =>
  /[.!?]$/.test(fault.message) ? fault.message : `${fault.message}.`

/** Which models the operator has set. */
function modelsSet(facts: Facts): string {
  const { model, fallback_model } = agentOf(facts)
  return `${model} ${fallback_model}`
}

/**
 * The model that failed first for this request, and those that can be opened of the one that is set
 * by now and the fallback.
 */
async function modelsFor({ env, tried }: TurnRun): Promise<string[]> {
  const models = tried.slice(0, 1).map(({ model }) => model)
  const { model, fallback_model } = agentOf(env.facts())
  for (const other of [model, fallback_model]) {
    if (other === null || models.includes(other)) continue
    if ((await env.ports.models.open(other)).ok) models.push(other)
  }
  return models
}

const changeModel = (env: AgentPorts, turn: Turn, model: string, cause: string): Promise<void> =>
  env.transact(turn.id, (d) => d.emit({ type: 'model_fell_back', id: turn.id, model, cause }))

function endUnanswered(d: Draft, outcome: 'failed', reason: string): void {
  const turn = openTurn(d)
  if (!turn) return
  deliverFailure(d, turn, 'The turn could not go on: its opening is missing from the ledger.')
  endTurn(d, { outcome, reason, text: '', plan: null })
}
