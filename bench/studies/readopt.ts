/**
 * The figure for commands that outlive their daemon: `node bench/studies/readopt.ts --commands 500
 * --kills 10 [--seed 1]`. Exits 1 when a status is wrong, a line is missing or a process is left
 * over.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readopt } from '../../src/testing/host/readopt.ts'
import { load, spread } from '../fixtures/machine.ts'

const { values } = parseArgs({
  options: {
    commands: { type: 'string', default: '500' },
    kills: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
  },
})
const [commands, kills, seed] = [values.commands, values.kills, values.seed].map(Number)
if (!commands || kills === undefined || seed === undefined) throw new Error('numbers, please')

const folder = mkdtempSync(join(tmpdir(), 'holon-readopt-'))
const found = await readopt({ folder, commands, kills, pause_s: 1, seed })
rmSync(folder, { recursive: true, force: true })
const { wrong, running_at_kills, lines, adopt_ms, end_ms } = found
console.log(`${commands} commands, ${kills} kills, seed ${seed}, load ${load()}`)
console.log(`running at each kill: ${running_at_kills.join(' ')}`)
console.log(`from the start of a process to knowing all of them: ${spread(adopt_ms)} ms`)
console.log(`${lines} numbered lines, last end ${Math.round(end_ms)} ms after they were let go`)
for (const one of wrong) console.log(`wrong: ${one}`)
console.log(`${wrong.length} wrong`)
process.exitCode = wrong.length === 0 ? 0 : 1
