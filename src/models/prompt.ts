/**
 * Our messages as the provider library's prompt. Pure: the same request gives the same prompt,
 * byte for byte, so that provider caches hit. Provider metadata goes back exactly as it came.
 */
import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { AssistantPart, Json, ModelMessage, ModelRequest, ToolSpec } from './model.ts'

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']
type JsonSchema = LanguageModelV4FunctionTool['inputSchema']

/**
 * A turn sends the same messages again and again, each time one more: kept as converted, as long as
 * the message itself is. Nobody changes a message, here or in the libraries.
 */
const conversions = new WeakMap<ModelMessage, LanguageModelV4Message>()

export function promptOf(request: ModelRequest): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = []
  if (request.system !== '') prompt.push({ role: 'system', content: request.system })
  for (const message of request.messages) {
    const converted = conversions.get(message) ?? messageOf(message)
    if (!converted) continue
    conversions.set(message, converted)
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
    inputSchema: tool.input_schema as JsonSchema,
  }
}

function messageOf(message: ModelMessage): LanguageModelV4Message | null {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.content }] }
    case 'assistant': {
      const content = message.parts.flatMap(partOf)
      // A turn without content is refused by every provider.
      return content.length === 0 ? null : { role: 'assistant', content }
    }
    case 'tool':
      return {
        role: 'tool',
        content: message.results.map((result) => ({
          type: 'tool-result',
          toolCallId: result.provider_call_id,
          toolName: result.tool_name,
          output: { type: result.is_error ? 'error-text' : 'text', value: result.text },
        })),
      }
  }
}

function partOf(part: AssistantPart): AssistantContent {
  switch (part.type) {
    case 'text':
      // Blank text is refused on the way back, unless a signature rides on it.
      if (part.text.trim() === '' && part.provider_metadata === undefined) return []
      return [{ type: 'text', text: part.text, ...optionsOf(part.provider_metadata) }]
    case 'reasoning':
      return [{ type: 'reasoning', text: part.text, ...optionsOf(part.provider_metadata) }]
    case 'tool_call':
      return [
        {
          type: 'tool-call',
          toolCallId: part.provider_call_id,
          toolName: part.tool_name,
          input: inputOf(part.input_json),
          ...optionsOf(part.provider_metadata),
        },
      ]
  }
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
