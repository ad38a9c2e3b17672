/** The one content hash of the tools: hex SHA-256, as the file port gives it. Pure. */
import { createHash } from 'node:crypto'

export const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex')
