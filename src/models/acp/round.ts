/**
 * What an agent of another maker said and did, as one round: its words, its thoughts, and a short
 * account of its tool calls, which are its own and none of ours. A question ends the round with the
 * one call that makes it durable: a wait for the operator. Pure but for its own state.
 */
import { questionText } from './answer.ts'
import type { AcpEvent, AcpQuestion, AcpStop } from '../../ports/acp.ts'
import type { ModelPart } from '../../ports/model-message.ts'
import type { ModelEvent, ModelRound } from '../model.ts'

/** Tool calls listed by name; the others are counted. */
const CALLS_LISTED = 40

type Said = Exclude<AcpEvent, { type: 'over' }>
type Did = { title: string | null; kind: string | null; status: string | null; places: string[] }

export class AcpRound {
  readonly #model: string
  #thoughts = ''
  #words = ''
  readonly #did = new Map<string, Did>()
  #plan: readonly { content: string; status: string }[] = []

  constructor(model: string) {
    this.#model = model
  }

  take(said: Said): ModelEvent {
    switch (said.type) {
      case 'text':
        this.#words += said.text
        return { type: 'text_delta', text: said.text }
      case 'thought':
        this.#thoughts += said.text
        return { type: 'reasoning_delta', text: said.text }
      case 'tool_call':
      case 'tool_call_update': {
        const { title, kind, status, locations } = said
        const before = this.#did.get(said.tool_call_id)
        const places = locations.length > 0 ? [...locations] : (before?.places ?? [])
        this.#did.set(said.tool_call_id, {
          title: title ?? before?.title ?? null,
          kind: kind ?? before?.kind ?? null,
          status: status ?? before?.status ?? null,
          places,
        })
        const name = title ?? kind ?? 'a tool of its own'
        return before ? { type: 'alive' } : { type: 'tool_call_started', tool_name: name }
      }
      case 'plan':
        this.#plan = said.entries
        return { type: 'alive' }
    }
  }

  ended(stop: AcpStop): ModelRound {
    // A turn without words is a turn all the same: asking again would repeat the work.
    const words = this.#parts()
    const silent = !words.some(({ type }) => type === 'text')
    const note: ModelPart[] = silent
      ? [{ type: 'text', text: `(The agent ended its turn without a word: ${stop}.)` }]
      : []
    return this.#round([...words, ...note], finishOf(stop))
  }

  /** `durable`: whether a wait can be asked for; else the question is only said. */
  asked(question: AcpQuestion, durable: boolean): ModelRound {
    const reason = questionText(question)
    if (!durable) return this.#round([...this.#parts(), { type: 'text', text: reason }], 'stop')
    const { permission_id } = question
    const input = {
      wake: 'operator_input',
      source: 'permission',
      resource: permission_id,
      reason,
      question: reason,
    }
    const call: ModelPart = {
      type: 'tool_call',
      provider_call_id: permission_id,
      tool_name: 'WaitFor',
      input_json: JSON.stringify(input),
    }
    return this.#round([...this.#parts(), call], 'tool_calls')
  }

  #parts(): ModelPart[] {
    const text = (said: string): ModelPart[] =>
      said.trim() === '' ? [] : [{ type: 'text', text: said }]
    const thoughts: ModelPart[] =
      this.#thoughts.trim() === '' ? [] : [{ type: 'reasoning', text: this.#thoughts }]
    return [...thoughts, ...text(this.#words), ...text(this.#account())]
  }

  #account(): string {
    const calls = [...this.#did.values()].slice(0, CALLS_LISTED).map(callLine)
    const more = this.#did.size - calls.length
    if (more > 0) calls.push(`- and ${more} more`)
    const plan = this.#plan.map(({ content, status }) => `- ${status}: ${content}`)
    return [
      ...(calls.length === 0 ? [] : ['What the agent did with its own tools:', ...calls]),
      ...(plan.length === 0 ? [] : ['Its plan:', ...plan]),
    ].join('\n')
  }

  #round(parts: readonly ModelPart[], finish: ModelRound['finish']): ModelRound {
    return { parts, finish, usage: unknownUsage, model: this.#model, response_id: null }
  }
}

function callLine({ title, kind, status, places }: Did): string {
  const facts = [kind, status, ...places].filter((fact) => fact !== null).join(', ')
  return `- ${title ?? 'a call without a title'}${facts === '' ? '' : ` (${facts})`}`
}

/** The stable protocol has no counts of tokens: unknown, never zero. */
const unknownUsage = {
  input_tokens: null,
  output_tokens: null,
  reasoning_tokens: null,
  cached_input_tokens: null,
  cache_write_tokens: null,
}

function finishOf(stop: AcpStop): ModelRound['finish'] {
  switch (stop) {
    case 'end_turn':
      return 'stop'
    case 'max_tokens':
      return 'length'
    case 'refusal':
      return 'content_filter'
    case 'max_turn_requests':
    case 'cancelled':
      return 'other'
  }
}
