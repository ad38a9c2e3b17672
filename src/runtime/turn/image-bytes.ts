/**
 * The bytes of the images that a request shows, from the ledger. One that is damaged or gone is
 * left out: the adapter says so in its place.
 */
import type { ModelMessage } from '../../ports/model-message.ts'
import type { AgentPorts } from '../agent-ports.ts'

export async function imageBytes(
  { store }: AgentPorts,
  messages: readonly ModelMessage[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>()
  for (const { sha256 } of messages.flatMap(imagesOf)) {
    const bytes = found.has(sha256) ? null : await store.ledger.blob(sha256)
    if (bytes !== null) found.set(sha256, bytes)
  }
  return found
}

const imagesOf = (message: ModelMessage) =>
  message.role === 'tool' ? message.results.flatMap(({ image }) => image ?? []) : []
