/**
 * `npm run awaits`: which awaits of runtime, ledger and exec were open while somebody else wrote to
 * the ledger, by file, and why the others never were. `-- --write` writes the list of those anew;
 * what is new in it is without a reason, which a person has to give. 1 on a violation, or where
 * table and list do not agree.
 */
import { argv } from 'node:process'
import { disagreements, linesOf, tableOfAwaits, writeNever } from './awaits-table.ts'

const table = await tableOfAwaits()
if (argv.includes('--write')) writeNever(table)
const wrong = [...table.violations, ...disagreements(table)]
for (const line of [...linesOf(table), ...wrong]) console.log(line)
process.exitCode = wrong.length === 0 ? 0 : 1
