/**
 * MemorySearch: records of the agent, and of those it made, by their words. Reading is no progress.
 */
import { z } from 'zod'
import { limits } from '../../domain/limits.ts'
import { memoryKinds, type MemoryHit } from '../../domain/memory/memory.ts'
import { isShared } from '../../domain/memory/reference.ts'
import { isRejection } from '../../domain/rejection.ts'
import { storeFault } from './memory-fault.ts'
import {
  nothingNew,
  pureTool,
  refused,
  succeeded,
  type EffectOutcome,
  type ToolContext,
} from '../tool/tool.ts'

const NAME = 'MemorySearch'
/** Results when the call does not say how many. */
const usual = 10

const input = () =>
  z.strictObject({
    query: z.string().max(limits.search_query.value).optional(),
    kinds: z.array(z.enum(memoryKinds)).min(1).optional(),
    agent_id: z.string().optional(),
    limit: z.int().min(1).max(limits.search_results.value).optional().describe(`Default ${usual}.`),
  })
type Input = z.infer<ReturnType<typeof input>>

export const memorySearch = pureTool<Input>({
  name: NAME,
  input,
  title: ({ query = 'the newest' }) => query,
  run: search,
})

/** Whose it is; without an agent where all who work in the workspace write. */
function seen({ agent_id, ...hit }: MemoryHit) {
  return isShared(hit.source_ref) ? hit : { ...hit, agent_id }
}

async function search(given: Input, ctx: ToolContext): Promise<EffectOutcome> {
  const { query = null, kinds = null, agent_id = null, limit = usual } = given
  try {
    const found = await ctx.memory.search({ query, kinds, agent_id, limit })
    if (isRejection(found)) return { result: refused(NAME, found), ...nothingNew }
    const { hits, match, complete, incomplete_because } = found.answer
    const result = {
      ...(query === null ? {} : { match }),
      ...(complete ? {} : { incomplete: incomplete_because }),
      results: hits.map(seen),
    }
    const count = hits.length === 1 ? '1 record' : `${hits.length} records`
    return { result: succeeded(NAME, `${count} found`, result), ...nothingNew }
  } catch (error) {
    return { result: storeFault(NAME, error), ...nothingNew }
  }
}
