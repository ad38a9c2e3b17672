/**
 * The bytes of the images that a request shows, from the ledger. One that is damaged or gone is
 * left out: the adapter says so in its place.
 */
import type { Image } from '../../domain/image.ts'
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

function imagesOf(message: ModelMessage): readonly Image[] {
  switch (message.role) {
    case 'user':
      return (message.images ?? []).map(({ image }) => image)
    case 'assistant':
      return []
    case 'tool':
      return message.results.flatMap(({ image }) => image ?? [])
  }
}
