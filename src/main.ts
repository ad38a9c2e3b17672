/** The program: the only place that reads what was typed. It hands the command line its ports. */
import { main } from './cli/program.ts'
import { keepOwnFilesPrivate } from './exec/umask.ts'
import { exitOf, watchOutputs } from './main/machine/outputs.ts'
import { ports } from './main/commands/ports.ts'

keepOwnFilesPrivate()

watchOutputs()

// Not awaited at the top: a chunk that is loaded later imports what this file is bundled with, and
// would wait for its end. A rejection is a bug, and ends the process as one.
void main(process.argv.slice(2), ports).then((exit) => {
  process.stdout.write('', () => setImmediate(() => process.exit(exitOf(exit))))
})
