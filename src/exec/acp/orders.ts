/**
 * What the daemon tells a driver, a line of JSON each, through the FIFO that is its stdin. An order
 * is short, so that it arrives whole; a prompt's text stands in a file beside the journal. An order
 * carries the id of the request it serves, and the same one again is nothing.
 */
import { ACP_ORDER_BYTES } from './limits.ts'

export type AcpOrder =
  | { order: 'prompt'; request_id: string }
  /** `option` counts from 1 in the order of the question; null takes the question back. */
  | { order: 'answer'; request_id: string; permission_id: string; option: number | null }
  | { order: 'cancel'; request_id: string }
  | { order: 'end' }

/** The file of a prompt. `after_loss` is what a session that lost its memory is told instead. */
export type PromptFile = { text: string; after_loss: string }

/** Ids are names of files. */
export const isRequestId = (id: unknown): id is string =>
  typeof id === 'string' && /^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/.test(id)

export const promptFileName = (request_id: string): string => `prompt-${request_id}.json`

export function orderLine(order: AcpOrder): string {
  const line = `${JSON.stringify(order)}\n`
  if (line.length > ACP_ORDER_BYTES) throw new Error('an order is over its limit')
  return line
}

/** Null for a line that is no order: two daemons' writes may mix when one is killed. */
export function parseOrder(line: string): AcpOrder | null {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null || !('order' in value)) return null
  const { order } = value
  if (order === 'end') return { order }
  if (!('request_id' in value) || !isRequestId(value.request_id)) return null
  const { request_id } = value
  if (order === 'prompt' || order === 'cancel') return { order, request_id }
  if (order !== 'answer' || !('permission_id' in value) || !('option' in value)) return null
  const { permission_id, option } = value
  if (typeof permission_id !== 'string') return null
  if (option !== null && typeof option !== 'number') return null
  return { order, request_id, permission_id, option }
}

export function parsePromptFile(text: string): PromptFile | null {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) return null
  if (!('text' in value) || typeof value.text !== 'string') return null
  if (!('after_loss' in value) || typeof value.after_loss !== 'string') return null
  return { text: value.text, after_loss: value.after_loss }
}
