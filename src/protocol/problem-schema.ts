/** The schema of a problem document, for the API's own document and for tests of answers. */
import { z } from 'zod'
import type { Problem } from './problem.ts'

export const problemSchema = z
  .strictObject({
    type: z.string().describe('Stable: `urn:holon:problem:<code>`.'),
    title: z.string(),
    status: z.int(),
    code: z.string().describe('What the type ends in; programs decide by it.'),
    detail: z.string().describe('One sentence: what is wrong, and where.'),
    hint: z.string().nullable().describe('What to do about it.'),
    errors: z
      .array(z.strictObject({ field: z.string(), message: z.string() }))
      .optional()
      .describe('Each field that does not fit the schema.'),
    snapshot: z.string().optional().describe('Where to start anew, when events are gone.'),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem document.' }) satisfies z.ZodType<Problem>
