/** Until when an entry of the attention list is put away (`attention.ts`). */
import { z } from 'zod'
import { timestamp } from '../scalar.ts'

export const snoozeBody = z
  .strictObject({ until: timestamp.describe('When it is to stand there again.') })
  .meta({ id: 'Snooze' })
