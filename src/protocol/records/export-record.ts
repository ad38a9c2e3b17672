/** An item as a file, on its way out and in: docs/reference/item-file.md says what is in it. */
import { z } from 'zod'
import { limits } from '../../domain/limits.ts'
import { count } from '../scalar.ts'

const cut = z
  .strictObject({
    item: count.optional(),
    plan: count.optional(),
    row: count.optional(),
    event: count.optional(),
    blob: count.optional(),
  })
  .meta({ id: 'ExportCut' })

export const exportedItem = z
  .strictObject({
    file: z.string().describe('JSON Lines in UTF-8; the last line has the sum of all before it.'),
    records: count,
    cut: cut.describe('Records there was no room for; what is newest has room first.'),
  })
  .meta({ id: 'ExportedItem' })
export type ExportedItem = z.infer<typeof exportedItem>

export const newImport = z
  .strictObject({
    file: z
      .string()
      .max(limits.export_file.value)
      .describe('The text of a file that was exported.'),
    again: z.boolean().optional().describe('Also when it was imported before.'),
  })
  .meta({ id: 'NewImport' })
