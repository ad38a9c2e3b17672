/**
 * The program that drives one agent of another maker for the daemon, and outlives it: run as a
 * command by the runner, with the FIFO of its orders as stdin. Arguments: the file that says what
 * to run (read once and removed, for it may hold a key), and the folder of the journal.
 */
import { readFileSync, rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { systemClock } from '../clock.ts'
import { Drive, type DriveSettings } from './drive.ts'
import { parseOrder } from './orders.ts'

const [settingsPath, folder] = process.argv.slice(2)
if (settingsPath === undefined || folder === undefined) {
  throw new Error('usage: acp-driver <settings file> <folder of the journal>')
}
// Only the daemon writes it, and whole.
const settings = JSON.parse(readFileSync(settingsPath, 'utf8')) as DriveSettings
rmSync(settingsPath)

const task_id = process.env['HOLON_TASK_ID'] ?? ''
const env = { ...settings.program.env, HOLON_TASK_ID: task_id }
const program = { ...settings.program, env }
const drive = new Drive(folder, { ...settings, program }, systemClock())

let ending = false
function end(why: string, status: number): void {
  if (ending) return
  ending = true
  drive.end(why).then(
    () => process.exit(status),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
}
const broken = (error: unknown) => {
  console.error(error)
  end(error instanceof Error ? error.message : String(error), 1)
}

process.on('SIGTERM', () => end('TERM', 0))
process.on('SIGINT', () => end('INT', 0))
process.on('uncaughtException', broken)
process.on('unhandledRejection', broken)

createInterface({ input: process.stdin }).on('line', (line) => {
  const order = parseOrder(line)
  if (order === null) console.error('no order:', JSON.stringify(line.slice(0, 100)))
  else if (order.order === 'end') end('told to', 0)
  else drive.take(order)
})
