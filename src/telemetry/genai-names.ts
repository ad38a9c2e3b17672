/**
 * The names of OpenTelemetry's conventions for generative AI, version 1.41, which is not stable:
 * when they change, this file changes and nothing else. Names of our own start with `holon.`.
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */

export const genai = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  request_model: 'gen_ai.request.model',
  response_model: 'gen_ai.response.model',
  finish_reasons: 'gen_ai.response.finish_reasons',
  first_chunk_seconds: 'gen_ai.response.time_to_first_chunk',
  input_tokens: 'gen_ai.usage.input_tokens',
  output_tokens: 'gen_ai.usage.output_tokens',
  reasoning_tokens: 'gen_ai.usage.reasoning.output_tokens',
  cache_read_tokens: 'gen_ai.usage.cache_read.input_tokens',
  cache_write_tokens: 'gen_ai.usage.cache_creation.input_tokens',
  agent_name: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  tool_name: 'gen_ai.tool.name',
  tool_type: 'gen_ai.tool.type',
  tool_call_id: 'gen_ai.tool.call.id',
  tool_arguments: 'gen_ai.tool.call.arguments',
  tool_result: 'gen_ai.tool.call.result',
  output_messages: 'gen_ai.output.messages',
  error_type: 'error.type',
} as const

export const operations = {
  agent: 'invoke_agent',
  chat: 'chat',
  tool: 'execute_tool',
} as const

/** Providers whose name in the conventions is another than ours; the rest stands as it is. */
const providers: Readonly<Record<string, string>> = { google: 'gcp.gemini' }

export const providerName = (provider: string): string => providers[provider] ?? provider

export type SpokenPart =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'tool_call'; provider_call_id: string; tool_name: string; input_json: string }

/** An answer in the schema of `gen_ai.output.messages`, as JSON. Only where content is recorded. */
export function outputMessages(parts: readonly SpokenPart[], finish: string): string {
  const said = parts.map((part) => {
    switch (part.type) {
      case 'text':
      case 'reasoning':
        return { type: part.type, content: part.text }
      case 'tool_call': {
        const { provider_call_id: id, tool_name: name, input_json } = part
        return { type: part.type, id, name, arguments: input_json }
      }
    }
  })
  const finish_reason = finish === 'tool_calls' ? 'tool_call' : finish
  return JSON.stringify([{ role: 'assistant', parts: said, finish_reason }])
}
