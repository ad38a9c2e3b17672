// Writes `src/testing/model-server/wire-schemas.json`: what the providers' published types allow in
// a request of text, images and tools, as JSON Schema, for the model server of the tests. The types
// are narrowed to the blocks and tools that such a request may have, so that everything else counts
// as unknown. Run it after changing the version of one of the packages: `npm run wire-schemas`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { chdir } from 'node:process'
import { fileURLToPath } from 'node:url'
import { createGenerator } from 'ts-json-schema-generator'

chdir(fileURLToPath(new URL('..', import.meta.url)))
const packages = ['@anthropic-ai/sdk', 'openai', '@google/genai']
const folder = 'node_modules/.cache/wire-schemas'
const output = 'src/testing/model-server/wire-schemas.json'

const types = `
import type * as A from '@anthropic-ai/sdk/resources/beta/messages/messages'
import type * as R from 'openai/resources/responses/responses'
import type * as C from 'openai/resources/chat/completions/completions'
import type * as G from '@google/genai'

type Image = Omit<A.BetaImageBlockParam, 'source'> & { source: A.BetaBase64ImageSource }
type Result = Omit<A.BetaToolResultBlockParam, 'content'> & {
  content?: string | (A.BetaTextBlockParam | Image)[]
}
type Block =
  | A.BetaTextBlockParam
  | Image
  | A.BetaThinkingBlockParam
  | A.BetaRedactedThinkingBlockParam
  | A.BetaToolUseBlockParam
  | Result
export type messages = Pick<
  A.MessageCreateParamsStreaming,
  | 'model' | 'max_tokens' | 'metadata' | 'output_config' | 'service_tier' | 'stop_sequences'
  | 'stream' | 'thinking' | 'tool_choice'
> & {
  system?: string | A.BetaTextBlockParam[]
  messages: { role: 'user' | 'assistant'; content: string | Block[] }[]
  tools?: A.BetaTool[]
}

type Input = (R.ResponseInputTextContent | R.ResponseInputImageContent)[]
type Item =
  | (Omit<R.EasyInputMessage, 'content'> & { content: string | Input })
  | (Pick<R.ResponseOutputMessage, 'role'> & {
      type?: 'message'
      id?: string
      status?: 'in_progress' | 'completed' | 'incomplete'
      phase?: R.ResponseOutputMessage['phase']
      content: { type: 'output_text'; text: string; annotations?: [] }[]
    })
  | (Omit<R.ResponseFunctionToolCall, 'type'> & { type: 'function_call' })
  | { type: 'function_call_output'; call_id: string; output: string | Input; id?: string | null }
  | (Omit<R.ResponseReasoningItem, 'id'> & { id?: string })
export type responses = Pick<
  R.ResponseCreateParamsStreaming,
  | 'include' | 'instructions' | 'max_output_tokens' | 'metadata' | 'model' | 'parallel_tool_calls'
  | 'prompt_cache_key' | 'reasoning' | 'safety_identifier' | 'service_tier' | 'store' | 'stream'
  | 'temperature' | 'text' | 'tool_choice' | 'top_p' | 'truncation' | 'user'
> & { input: Item[]; tools?: R.FunctionTool[] }

type Said = Omit<C.ChatCompletionAssistantMessageParam, 'content' | 'tool_calls'> & {
  content?: string | null
  tool_calls?: C.ChatCompletionMessageFunctionToolCall[]
  /** Not OpenAI's: what most other servers of this wire give and take. */
  reasoning_content?: string
  /** OpenRouter's. */
  reasoning_details?: (Detail<'text', { text?: string | null; signature?: string | null }>
    | Detail<'summary', { summary: string }>
    | Detail<'encrypted', { data: string }>)[]
}
type Detail<Kind extends string, Content> = Content & {
  type: \`reasoning.\${Kind}\`
  id?: string | null
  format?: string | null
  index?: number
}
type Words = { type: 'text'; text: string } | C.ChatCompletionContentPartImage
export type chat_completions = Pick<
  C.ChatCompletionCreateParamsStreaming,
  | 'frequency_penalty' | 'max_completion_tokens' | 'max_tokens' | 'model' | 'parallel_tool_calls'
  | 'presence_penalty' | 'reasoning_effort' | 'seed' | 'stop' | 'stream' | 'stream_options'
  | 'temperature' | 'tool_choice' | 'top_p' | 'user'
> & {
  messages: (
    | { role: 'system' | 'developer'; content: string; name?: string }
    | { role: 'user'; content: string | Words[]; name?: string }
    | Said
    | { role: 'tool'; content: string; tool_call_id: string }
  )[]
  tools?: C.ChatCompletionFunctionTool[]
}

type Part = Pick<
  G.Part,
  'text' | 'thought' | 'thoughtSignature' | 'functionCall' | 'functionResponse' | 'inlineData'
>
type Content = { role?: string; parts: Part[] }
export type google = {
  contents: Content[]
  systemInstruction?: Omit<Content, 'role'>
  tools?: { functionDeclarations?: G.FunctionDeclaration[] }[]
  toolConfig?: Pick<G.ToolConfig, 'functionCallingConfig'>
  generationConfig?: Pick<
    G.GenerationConfig,
    'maxOutputTokens' | 'seed' | 'stopSequences' | 'temperature' | 'topK' | 'topP'
  > & {
    thinkingConfig?: Omit<G.ThinkingConfig, 'thinkingLevel'> & {
      /** Written as the documentation of the API writes it. */
      thinkingLevel?: Lowercase<\`\${G.ThinkingLevel}\`>
    }
  }
}
`

mkdirSync(folder, { recursive: true })
const path = `${folder}/types.ts`
const tsconfig = `${folder}/tsconfig.json`
writeFileSync(path, types)
writeFileSync(
  tsconfig,
  JSON.stringify({
    compilerOptions: {
      target: 'es2022',
      module: 'nodenext',
      strict: true,
      skipLibCheck: true,
      noEmit: true,
    },
    files: ['types.ts'],
  }),
)
const schemaOf = (type) =>
  createGenerator({
    path,
    tsconfig,
    type,
    additionalProperties: false,
    jsDoc: 'none',
  }).createSchema(type)
const versions = Object.fromEntries(
  packages.map((name) => {
    const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'))
    return [name, version]
  }),
)
const schemas = Object.fromEntries(
  ['messages', 'responses', 'chat_completions', 'google'].map((type) => [type, schemaOf(type)]),
)
writeFileSync(output, `${JSON.stringify({ versions, schemas }, null, 2)}\n`)
