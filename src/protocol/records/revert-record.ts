/**
 * A revert of an item's files: what is asked, and what became of each file. A file that is not as
 * the agent left it is left, with the reason and what was changed since.
 */
import { z } from 'zod'
import { fileDiffShape } from './turn-record.ts'

const about = { path: z.string(), name: z.string() }

export const revertOutcome = z
  .discriminatedUnion('outcome', [
    z.strictObject({ ...about, outcome: z.literal('put_back') }),
    z.strictObject({ ...about, outcome: z.literal('same') }),
    z.strictObject({
      ...about,
      outcome: z.literal('left'),
      why: z.string(),
      diff: z.strictObject(fileDiffShape).nullable().describe('What was changed since.'),
    }),
  ])
  .meta({ id: 'RevertOutcome' })

export const revertBody = z
  .strictObject({
    files: z
      .array(z.string())
      .optional()
      .describe('By path, or by name as the changes have it; all of them when left out.'),
    undo: z.boolean().optional().describe('What earlier reverts replaced comes back.'),
  })
  .meta({ id: 'Revert' })
