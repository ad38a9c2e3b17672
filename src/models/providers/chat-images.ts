/**
 * Images where a wire takes none in the result of a call (Chat Completions): the result keeps its
 * text, and the images come right behind the results, as a message of the user that says whose they
 * are. Words of the user that follow join that message. Pure.
 */
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'

type User = Extract<LanguageModelV4Message, { role: 'user' }>
type Tool = Extract<LanguageModelV4Message, { role: 'tool' }>
type Result = Extract<Tool['content'][number], { type: 'tool-result' }>

export function liftImages(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const lifted: LanguageModelV4Prompt = []
  let behind: User['content'] = []
  for (const message of prompt) {
    if (behind.length > 0 && message.role === 'user') {
      lifted.push({ ...message, content: [...behind, ...message.content] })
      behind = []
      continue
    }
    if (behind.length > 0) lifted.push({ role: 'user', content: behind })
    behind = message.role === 'tool' ? imagesIn(message) : []
    lifted.push(message.role === 'tool' && behind.length > 0 ? textOnly(message) : message)
  }
  return behind.length > 0 ? [...lifted, { role: 'user', content: behind }] : lifted
}

const imagesIn = ({ content }: Tool): User['content'] =>
  content.flatMap((part) => {
    if (part.type !== 'tool-result' || part.output.type !== 'content') return []
    const files = part.output.value.filter((one) => one.type === 'file')
    const whose = `Image of the result of ${part.toolName} (${part.toolCallId}):`
    return files.length === 0 ? [] : [{ type: 'text' as const, text: whose }, ...files]
  })

const textOnly = (message: Tool): Tool => ({
  ...message,
  content: message.content.map((part) =>
    part.type === 'tool-result' ? { ...part, output: textOf(part.output) } : part,
  ),
})

function textOf(output: Result['output']): Result['output'] {
  if (output.type !== 'content') return output
  const texts = output.value.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return { type: 'text', value: texts.join('\n') }
}
