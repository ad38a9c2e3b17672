/**
 * What the memory tools get of the runtime: search and single records, as far as the agent whose
 * call it is may see them. Types only.
 */
import type { MemoryAnswer, MemoryQuery, MemoryShown } from '../../domain/memory/memory.ts'
import type { Rejection } from '../../domain/rejection.ts'

/** Contract. Both reject with a fault of the store (`code`, `message`) and with nothing else. */
export interface MemoryPort {
  search(asked: MemoryQuery): Promise<{ ok: true; answer: MemoryAnswer } | Rejection>
  get(source_ref: string): Promise<{ ok: true; record: MemoryShown } | Rejection>
}
