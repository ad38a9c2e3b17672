/**
 * What a search over the home answers (docs/spec/http.md#reads, `GET /search`): records by their
 * reference, the best first, each with the piece of text that was found.
 */
import { z } from 'zod'
import type { MemoryAnswer } from '../../domain/memory/memory.ts'
import { memoryKinds } from '../../domain/memory/memory.ts'
import { agentId, listOf, timestamp, workItemId } from '../scalar.ts'

export { memoryKinds }
export { limits } from '../../domain/limits.ts'

const searchResult = z
  .strictObject({
    source_ref: z
      .string()
      .describe('Names the record for good: brief_…, work_…/plan, file:@main/memory/x.md, …'),
    kind: z.enum(memoryKinds),
    agent_id: agentId,
    work_item_id: workItemId.nullable(),
    at: timestamp.describe('When it was written, or last changed.'),
    words: z
      .enum(['own', 'tool', 'external'])
      .describe('Whose text it is: of the agents and the operator, of a tool, or from outside.'),
    snippet: z.string().describe('Text around the words found, which stand in « ».'),
  })
  .meta({ id: 'SearchResult' })

export const searchAnswer = z
  .strictObject({
    query: z.string(),
    match: z
      .enum(['all', 'any'])
      .describe('`any`: no record has all of the words, and these have some.'),
    complete: z.boolean().describe('Whether everything written so far was looked through.'),
    incomplete_because: z.string().nullable(),
    results: listOf(searchResult),
  })
  .meta({ id: 'SearchAnswer' })
export type SearchAnswer = z.infer<typeof searchAnswer>

export const searchAnswerOf = (query: string, answer: MemoryAnswer): SearchAnswer => {
  const { hits, ...rest } = answer
  return { query, ...rest, results: hits as SearchAnswer['results'] }
}
