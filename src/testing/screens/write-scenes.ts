/** Writes the events of every scene as fixtures: `node src/testing/screens/write-scenes.ts`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { linesOf, scenes } from './scenes.ts'

const folder = join(import.meta.dirname, '..', '..', 'present', 'fixtures')
for (const name of Object.keys(scenes)) writeFileSync(join(folder, `${name}.jsonl`), linesOf(name))
