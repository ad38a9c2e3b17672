/**
 * A program that runs out of descriptors on purpose: it takes all there are, tries what the daemon
 * does while it has none, gives them back and tries again. Prints what came of each as one line of
 * JSON. Started with a low limit, by `ulimit -n`; its argument is a scratch folder.
 */
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../../exec/clock.ts'
import { systemFiles } from '../../exec/files/files.ts'
import { readSecretFile } from '../../exec/files/private-files.ts'
import { createProcesses } from '../../exec/commands/processes.ts'
import { programBeside } from '../../exec/program.ts'
import { processTable } from '../../exec/commands/process-table.ts'
import { Spawner } from '../../exec/commands/spawner.ts'
import { guarded } from '../../ledger/sqlite/fault.ts'
import { readToken } from '../../main/homes/control.ts'
import { webhookPorts } from '../../main/serve/webhook-secrets.ts'
import { createLog } from '../../telemetry/log.ts'

const folder = process.argv[2] ?? ''
const at = (name: string): string => join(folder, name)
writeFileSync(at('secret'), `${'0a'.repeat(20)}\n`, { mode: 0o600 })
writeFileSync(at('control-token'), 'the token\n', { mode: 0o600 })
new DatabaseSync(at('database')).close()
const clock = systemClock()
const table = processTable('proc')
const processes = createProcesses({
  tasks_folder: at('tasks'),
  clock,
  parent_env: { PATH: process.env['PATH'] ?? '' },
})
const spec = { workdir: folder, env: {}, timeout_ms: null, stdin: 'none' } as const
await processes.prepare({ task_id: 'task_before', cmd: 'exit 3', ...spec })
const spawner = new Spawner({
  tasks_folder: at('tasks'),
  shell: '/bin/sh',
  setsid: null,
  kind: 'proc',
  path: process.env['PATH'] ?? '',
  clock,
  reader: programBeside('output-reader', import.meta.resolve('../../exec/commands/processes.ts')),
  onClaimed: () => {},
  onEnded: () => {},
})

const log = createLog({ clock, level: 'error', redact: (text) => text, write: () => {} })
const webhooks = webhookPorts(
  { webhooks: { ci: { scheme: 'github', secret_files: [at('secret')] } } },
  { log, delivery: () => {} },
)

const tries: Record<string, () => Promise<unknown>> = {
  'a file': async () => (await systemFiles().read(at('secret'), { max_bytes: 100 })).bytes.length,
  'a secret': async () => (await readSecretFile(at('secret'))).ok,
  'the control token': () => readToken(folder),
  'a webhook': async () => (await webhooks.find('ci'))?.secrets.length,
  'its own process': async () => (await table.identity(process.pid))?.pid === process.pid,
  'all processes': async () => (await table.rows()).some(({ pid }) => pid === process.pid),
  'a command that was prepared': async () => (await processes.observe('task_before')).state,
  'a new command': () => processes.prepare({ task_id: 'task_new', cmd: 'true', ...spec }),
  'a spawner': () => spawner.hand('task_before'),
  'a database': () => guarded('Opening', () => new DatabaseSync(at('database')).close()),
}

async function tried(): Promise<Record<string, unknown>> {
  const found: [string, unknown][] = []
  for (const [name, body] of Object.entries(tries)) {
    const came = await body().catch((error: unknown) => {
      const { name, code, retry } = error as { name: string; code?: string; retry?: string }
      return `${name} ${code} ${retry}`
    })
    found.push([name, came ?? 'done'])
  }
  return Object.fromEntries(found)
}

function takeAll(): number[] {
  const taken: number[] = []
  for (;;) {
    try {
      taken.push(openSync('/dev/null', 'r'))
    } catch {
      return taken
    }
  }
}

const taken = takeAll()
const without = await tried()
for (const one of taken) closeSync(one)
console.log(JSON.stringify({ without, again: await tried() }))
spawner.close()
await processes.close()
process.exit(0)
