/**
 * Our messages as the provider library's prompt. Pure: the same request gives the same prompt,
 * byte for byte, so that provider caches hit. Provider metadata goes back exactly as it came; names
 * and ids that a provider would refuse go back in a form that each of them takes.
 */
import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { Image } from '../../domain/image.ts'
import type { ModelMessage, ModelPart, ToolResultMessage } from '../../ports/model-message.ts'
import type { Json } from '../../ports/json.ts'
import type { ModelRequest, ToolSpec } from '../model.ts'

type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content']
type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']
type ToolContent = Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number]
type ToolOutput = Extract<ToolContent, { type: 'tool-result' }>['output']
type Images = NonNullable<ModelRequest['images']>

/**
 * What call ids a wire takes back: `plain` are letters, digits, `_` and `-`, at most 64; `any` is
 * also what a server made up itself, which its model was trained to see again.
 */
export type IdForm = 'plain' | 'any'

/**
 * A turn sends the same messages again and again, each time one more: kept as converted, as long as
 * the message itself is. Nobody changes a message, here or in the libraries.
 */
const conversions: Readonly<Record<IdForm, WeakMap<ModelMessage, LanguageModelV4Message>>> = {
  plain: new WeakMap(),
  any: new WeakMap(),
}

export function promptOf(request: ModelRequest, ids: IdForm = 'plain'): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = []
  if (request.system !== '') prompt.push({ role: 'system', content: request.system })
  for (const message of request.messages) {
    const converted = conversions[ids].get(message) ?? messageOf(message, ids, request.images)
    if (!converted) continue
    conversions[ids].set(message, converted)
    prompt.push(converted)
  }
  return prompt
}

/** Throws for a schema whose root is not a plain object: the caller's bug, not the world's. */
export function toolOf(tool: ToolSpec): LanguageModelV4FunctionTool {
  const union = ['anyOf', 'oneOf', 'allOf'].find((key) => key in tool.input_schema)
  if (tool.input_schema['type'] !== 'object' || union !== undefined) {
    throw new Error(`The input schema of ${tool.name} must be an object at its root.`)
  }
  return {
    type: 'function',
    name: tool.name,
    description: tool.description,
    inputSchema: tool.input_schema,
  }
}

function messageOf(
  message: ModelMessage,
  ids: IdForm,
  images: Images = new Map(),
): LanguageModelV4Message | null {
  switch (message.role) {
    case 'user':
      return {
        role: 'user',
        content: [
          { type: 'text', text: message.content },
          ...(message.images ?? []).flatMap(({ label, image }) => attached(label, image, images)),
        ],
      }
    case 'assistant': {
      const separators = separatorsIn(message.parts)
      const content = message.parts.flatMap((part) => partOf(part, ids, separators.has(part)))
      // A turn without content is refused by every provider.
      return content.length === 0 ? null : { role: 'assistant', content }
    }
    case 'tool':
      return {
        role: 'tool',
        content: message.results.map((result) => ({
          type: 'tool-result',
          toolCallId: idOf(result.provider_call_id, ids),
          toolName: nameOf(result.tool_name),
          output: outputOf(result, images),
        })),
      }
  }
}

/** An image of a message stands behind the line that says which it is. */
function attached(label: string, { sha256, media_type }: Image, images: Images): UserContent {
  const data = images.get(sha256)
  if (data === undefined) return [{ type: 'text', text: `${label} ${lost}` }]
  return [
    { type: 'text', text: label },
    { type: 'file', mediaType: media_type, data: { type: 'data', data } },
  ]
}

/** An image stands behind the text of its result. */
function outputOf({ text, image, is_error }: ToolResultMessage, images: Images): ToolOutput {
  if (image === undefined) return { type: is_error ? 'error-text' : 'text', value: text }
  const data = images.get(image.sha256)
  if (data === undefined) return { type: 'text', value: `${text}\n${lost}` }
  const file = { type: 'file', mediaType: image.media_type, data: { type: 'data', data } } as const
  return { type: 'content', value: [{ type: 'text', text }, file] }
}

const lost = 'The image itself is not shown: it is missing from the ledger.'

/**
 * Blank texts between two thoughts of the provider's own. They stay, since the provider refuses
 * thoughts that moved.
 */
function separatorsIn(parts: readonly ModelPart[]): ReadonlySet<ModelPart> {
  const isOwn = (part: ModelPart) =>
    part.type === 'reasoning' && part.provider_metadata !== undefined
  const between = parts.slice(parts.findIndex(isOwn) + 1, Math.max(0, parts.findLastIndex(isOwn)))
  return new Set(between.filter((part) => part.type === 'text' && part.text.trim() === ''))
}

function partOf(part: ModelPart, ids: IdForm, separates: boolean): AssistantContent {
  switch (part.type) {
    case 'text':
      // Blank text is refused on the way back, unless a signature rides on it.
      if (separates && part.text === '') {
        // An empty one is refused too; the space is not.
        return [{ type: 'text', text: ' ', ...optionsOf(part.provider_metadata) }]
      }
      if (part.text.trim() === '' && part.provider_metadata === undefined && !separates) return []
      return [{ type: 'text', text: part.text, ...optionsOf(part.provider_metadata) }]
    case 'reasoning':
      return [{ type: 'reasoning', text: part.text, ...optionsOf(part.provider_metadata) }]
    case 'tool_call':
      return [
        {
          type: 'tool-call',
          toolCallId: idOf(part.provider_call_id, ids),
          toolName: nameOf(part.tool_name),
          input: inputOf(part.input_json),
          ...optionsOf(part.provider_metadata),
        },
      ]
  }
}

/** A name that the model made up is refused in the history where a declared one would be. */
const nameOf = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || '_'

/** The same for a call and its result, and different for different ids. */
function idOf(id: string, form: IdForm): string {
  if (form === 'any' || /^[A-Za-z0-9_-]{1,64}$/.test(id)) return id
  return `${id.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 48)}_${hashOf(id)}`
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return (hash >>> 0).toString(16).padStart(8, '0')
}

/**
 * Valid arguments go back as the text they were. Anything else would be refused (or break the
 * server's chat template), so it goes back as an object that carries the text.
 */
function inputOf(inputJson: string): unknown {
  try {
    const value: unknown = JSON.parse(inputJson)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return inputJson
  } catch {
    // Falls through: not JSON.
  }
  return { invalid_input: inputJson }
}

function optionsOf(metadata: Json | undefined): { providerOptions?: SharedV4ProviderOptions } {
  return metadata === undefined ? {} : { providerOptions: metadata as SharedV4ProviderOptions }
}
