/**
 * MemoryGet: one record by its reference, bounded, with where its words come from.
 */
import { z } from 'zod'
import { limits } from '../../domain/limits.ts'
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

const NAME = 'MemoryGet'

const input = () =>
  z.strictObject({
    source_ref: z.string().max(limits.path.value),
  })
type Input = z.infer<ReturnType<typeof input>>

export const memoryGet = pureTool<Input>({
  name: NAME,
  input,
  ids: () => ['source_ref'],
  title: ({ source_ref }) => source_ref,
  run: get,
})

async function get({ source_ref }: Input, ctx: ToolContext): Promise<EffectOutcome> {
  try {
    const found = await ctx.memory.get(source_ref)
    if (isRejection(found)) return { result: refused(NAME, found), ...nothingNew }
    const { record } = found
    const { agent_id, ...rest } = record
    const isAnyones = isShared(record.source_ref)
    const summary = `${record.kind} of ${isAnyones ? 'the workspace' : agent_id}, ${record.at}`
    return { result: succeeded(NAME, summary, isAnyones ? rest : record), ...nothingNew }
  } catch (error) {
    return { result: storeFault(NAME, error), ...nothingNew }
  }
}
