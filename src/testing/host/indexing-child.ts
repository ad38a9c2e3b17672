/**
 * A process that takes a home into its index and prints a line for each batch that is in. Tests
 * kill it: `node indexing-child.ts <home>`.
 */
import { writeSync } from 'node:fs'
import { openReader } from '../../ledger/store/open.ts'
import { memoryOver } from '../world/memory-home.ts'

const [, , home] = process.argv
if (home === undefined) throw new Error('usage: indexing-child.ts <home>')
const reader = await openReader(home)
const memory = memoryOver(home, reader, {
  over: (index) => ({
    ...index,
    async write(batch) {
      const done = await index.write(batch)
      writeSync(1, '.\n')
      return done
    },
  }),
})
await memory.settle()
writeSync(1, 'settled\n')
await memory.close()
await reader.close()
