/**
 * An agent of another maker as a model: one request is one turn in its session, or the answer to a
 * question it asked in the last one. It has its own instructions, tools and memory, so it is told
 * only what is new. The session outlives this process, and a request that is sent again is followed
 * again, never asked again.
 */
import { optionNamed } from './answer.ts'
import type {
  AcpEnd,
  AcpFailure,
  AcpPlace,
  AcpPort,
  AcpProgram,
  AcpQuestion,
  AcpSight,
  AcpWords,
} from '../../ports/acp.ts'
import type { ModelMessage } from '../../ports/model-message.ts'
import { AcpRound } from './round.ts'
import { aborted } from '../fault.ts'
import { modelLimits } from '../limits.ts'
import type {
  AgentSession,
  Model,
  ModelFault,
  ModelFaultCode,
  ModelOptions,
  ModelOutcome,
  ModelRequest,
} from '../model.ts'

/** `name` is the id behind `acp/`, for messages. */
export function acpModel(name: string, program: AcpProgram, port: AcpPort): Model {
  return {
    async request(request, options) {
      const { agent_session } = request
      if (options.signal.aborted) return { ok: false, fault: aborted() }
      if (agent_session === undefined) return { ok: false, fault: noSession(name) }
      const { task_id, workdir } = agent_session
      const place = { task_id, workdir, program }
      const halt = Promise.withResolvers<ModelOutcome>()
      const onAbort = () => halt.resolve({ ok: false, fault: aborted() })
      options.signal.addEventListener('abort', onAbort, { once: true })
      try {
        const exchange = exchangeOf(name, port, place, request, agent_session, options)
        return await Promise.race([exchange, halt.promise])
      } catch (error) {
        if (options.signal.aborted) return { ok: false, fault: aborted() }
        return { ok: false, fault: machineFault(name, error) }
      } finally {
        options.signal.removeEventListener('abort', onAbort)
      }
    },
  }
}

async function exchangeOf(
  name: string,
  port: AcpPort,
  place: AcpPlace,
  request: ModelRequest,
  session: AgentSession,
  { signal, on_event }: ModelOptions,
): Promise<ModelOutcome> {
  const sight = await port.look(place.task_id)
  const { request_id, failed } = attemptOf(session.request_id, sight)
  const last = failed.at(-1)
  if (last !== undefined && failed.length >= modelLimits.acp_attempts.value && isWorlds(last)) {
    return { ok: false, fault: { ...faultOf(name, last), ...spent } }
  }
  const round = new AcpRound(request.model)
  const durable = request.tool_choice === 'auto'
  const begun = sight.leg(request_id) !== null
  const news = newsOf(request, session)
  const isNothing = news.text.trim() === '' && news.answer === null
  if (!begun && sight.question !== null && isNothing) {
    // Nothing was said to it: the question stands as it was.
    return { ok: true, round: round.asked(sight.question, durable) }
  }
  const words = begun ? onlyFollow : wordsFor(request, news, sight.question, last ?? null)
  for await (const event of port.follow(place, request_id, words, signal)) {
    if (signal.aborted) break
    if (event.type === 'over') return outcomeOf(name, round, event.end, durable)
    const sign = round.take(event)
    on_event?.(sign)
  }
  return { ok: false, fault: aborted() }
}

/** What a request that is known already is sent with: nobody reads it. */
const onlyFollow: AcpWords = { kind: 'prompt', text: '', after_loss: '' }

type Failed = AcpEnd & { state: 'failed' }

/** The first attempt that has not failed: to be followed when it is there, else to be made. */
function attemptOf(round_id: string, sight: AcpSight): { request_id: string; failed: Failed[] } {
  const base = round_id.replaceAll(':', '.')
  const failed: Failed[] = []
  for (let attempt = 1; ; attempt += 1) {
    const request_id = attempt === 1 ? base : `${base}.${attempt}`
    const found = sight.leg(request_id)
    if (found?.state === 'failed') failed.push(found)
    // An answer that came too late was no attempt at all: its words become a prompt.
    else if (found?.state !== 'refused') return { request_id, failed }
  }
}

type News = Pick<AgentSession, 'answer'> & { text: string }

/**
 * What the agent has not heard. In a later round of the turn it knows the input and the answer, and
 * only what followed its own words is new: an answer never serves a second question.
 */
function newsOf(request: ModelRequest, { input, answer }: AgentSession): News {
  const spoke = request.messages.findLastIndex(({ role }) => role === 'assistant')
  if (spoke < 0) return { text: input, answer }
  return {
    text: request.messages
      .slice(spoke + 1)
      .map(textOf)
      .join('\n\n'),
    answer: null,
  }
}

function textOf(message: ModelMessage): string {
  switch (message.role) {
    case 'user':
      return message.content
    case 'tool':
      return message.results.map(({ tool_name, text }) => `${tool_name}: ${text}`).join('\n\n')
    case 'assistant':
      return ''
  }
}

function wordsFor(
  request: ModelRequest,
  news: News,
  question: AcpQuestion | null,
  failed: Failed | null,
): AcpWords {
  const { text, answer } = news
  const isOpen = answer !== null && answer.permission_id === question?.permission_id
  if (isOpen && question !== null) {
    const option = optionNamed(answer.text, question.options)
    if (option !== null) return { kind: 'answer', permission_id: question.permission_id, option }
  }
  const notes = [
    ...(failed !== null && mayHaveBegun[failed.code] ? [interrupted] : []),
    ...(answer === null ? [] : [isOpen ? refused : voided]),
  ]
  const opening = request.messages.find(({ role }) => role === 'user')
  const known = opening === undefined ? text : textOf(opening)
  const whole = known.includes(text) ? known : `${known}\n\n${text}`
  return {
    kind: 'prompt',
    text: [...notes, text].join('\n\n'),
    after_loss: [forgotten, ...notes, whole].join('\n\n'),
  }
}

const interrupted =
  '[Note: your process ended while you worked on what follows. Part of it may be done: look ' +
  'before you repeat anything.]'
const voided =
  '[Note: what follows answers a permission you asked for. That request is void, because your ' +
  'turn ended before the answer came: ask again if you still need it.]'
const refused = '[Note: the permission you asked for is not given. What follows is the answer.]'
const forgotten =
  '[Note: your earlier session could not be restored. What follows is what is known of it; your ' +
  'files are as you left them. Tools that it names are not yours: use your own.]'

/** Whether the agent may have done something before it failed. */
const mayHaveBegun: Readonly<Record<AcpFailure, boolean>> = {
  not_started: false,
  wrong_protocol: false,
  needs_login: false,
  garbage: true,
  agent_ended: true,
  silent: true,
  agent_error: true,
  agent_refused: true,
  too_much: true,
  driver_lost: true,
}

function outcomeOf(name: string, round: AcpRound, end: AcpEnd, durable: boolean): ModelOutcome {
  switch (end.state) {
    case 'asked':
      return { ok: true, round: round.asked(end.question, durable) }
    case 'ended':
      return { ok: true, round: round.ended(end.stop) }
    case 'failed':
      return { ok: false, fault: faultOf(name, end) }
    case 'refused':
      // The next attempt prompts with the same words.
      return { ok: false, fault: world('conflict', `acp/${name}: ${end.why}.`) }
  }
}

function faultOf(name: string, { code, message }: Failed): ModelFault {
  const said = `acp/${name}: ${message.replace(/[.\s]+$/, '')}.`
  switch (code) {
    case 'not_started':
    case 'wrong_protocol':
      return { ...world('unknown_model', said), kind: 'setup', retryable: false }
    case 'needs_login':
      return { ...world('unauthorized', said), kind: 'setup', retryable: false }
    case 'garbage':
    case 'agent_refused':
    case 'too_much':
      return { ...world('bad_request', said), kind: 'refused', retryable: false }
    case 'silent':
      return world('stream_hung', said)
    case 'agent_error':
      return world('server_error', said)
    case 'agent_ended':
    case 'driver_lost':
      return world('stream_broken', said)
  }
}

/** The same again would end the same way: the turn fails, and who waits for it is told. */
const spent = { kind: 'refused', code: 'bad_request', retryable: false } as const

const isWorlds = (failed: Failed): boolean => faultOf('', failed).kind === 'world'

const world = (code: ModelFaultCode, message: string): ModelFault => ({
  kind: 'world',
  code,
  message,
  status: null,
  retry_after_ms: null,
  retryable: true,
})

const noSession = (name: string): ModelFault => ({
  ...world('bad_request', `acp/${name} runs only as a child that an agent has spawned.`),
  kind: 'refused',
  retryable: false,
})

/** The port's faults say themselves whether trying again makes sense. */
function machineFault(name: string, error: unknown): ModelFault {
  if (!(error instanceof Error) || !('retry' in error)) throw error
  const fault = world('network', `acp/${name}: ${error.message.replace(/\.$/, '')}.`)
  return error.retry === 'never' ? { ...fault, ...spent } : fault
}
