/**
 * What an agent is told about how work is done, as its files are now: instructions, and the skills
 * it may look up (docs/spec/agent.md, docs/spec/context.md#order). What an earlier request had of
 * them is in its manifest.
 */
import { z } from 'zod'
import { count } from '../scalar.ts'

const path = z.string().describe('Absolute.')
const bytes = count.nullable().describe('Null: nobody could count them.')
const notice = z.string().describe('It continues a sentence about the file.')

const instruction = z
  .discriminatedUnion('state', [
    z.strictObject({
      state: z.literal('loaded'),
      path,
      bytes: count,
      notice: notice.nullable().describe('What of it is not followed; null: all of it is.'),
    }),
    z.strictObject({
      state: z.literal('same'),
      path,
      bytes: count,
      as: z.string().describe('A nearer file that is the same, or has the same text.'),
    }),
    z.strictObject({ state: z.literal('unusable'), path, bytes, notice }),
  ])
  .meta({ id: 'Instruction' })

const skill = z
  .discriminatedUnion('state', [
    z.strictObject({
      state: z.literal('offered'),
      path,
      bytes: count,
      name: z.string(),
      description: z.string(),
    }),
    z.strictObject({
      state: z.literal('hidden'),
      path,
      bytes: count,
      name: z.string(),
      by: z.string().describe('A nearer skill of this name, or the same file elsewhere.'),
    }),
    z.strictObject({ state: z.literal('unusable'), path, bytes, notice }),
  ])
  .meta({ id: 'Skill' })

export const agentInstructions = z
  .strictObject({
    agent_id: z.string(),
    instructions: z
      .array(instruction)
      .describe('Farthest first; where two disagree the later holds.'),
    skills: z.array(skill).describe('Nearest first.'),
    not_looked_at: count.describe('Folders of skills beyond the limit.'),
  })
  .meta({ id: 'AgentInstructions' })
export type AgentInstructions = z.infer<typeof agentInstructions>
