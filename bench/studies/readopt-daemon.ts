/**
 * The same figure through the whole daemon: `node bench/studies/readopt-daemon.ts --commands 500
 * --kills 10`. Commands are started over HTTP, the daemon is killed with SIGKILL again and again
 * while they run, and at the end every task's row, output and processes are looked at. Exits 1 when
 * one is wrong.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { processTable } from '../../src/exec/commands/process-table.ts'
import { command, linesOf, statusOf } from '../../src/testing/host/readopt.ts'
import { load, spread } from '../fixtures/machine.ts'

const { values } = parseArgs({
  options: {
    commands: { type: 'string', default: '500' },
    kills: { type: 'string', default: '10' },
    // Or the bundle: dist/main.js
    program: { type: 'string', default: 'src/main.ts' },
  },
})
const [commands, kills] = [Number(values.commands), Number(values.kills)]
/** Tasks that one agent may run at a time. */
const perAgent = 32
/** Milliseconds a daemon works before it is killed, at most. */
const mostAlive = 300

const folder = mkdtempSync(join(tmpdir(), 'holon-readopt-'))
const home = join(folder, 'home')
const main = resolve(import.meta.dirname, '../..', values.program)
const env = { PATH: process.env['PATH'] ?? '', HOME: folder, HOLON_HOME: home, LANG: 'C.UTF-8' }

type Daemon = { child: ChildProcess; url: string; ready_ms: number }

async function serve(): Promise<Daemon> {
  const from = performance.now()
  const child = spawn(process.execPath, [main, 'serve', '--json', '--port', '0'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let text = ''
  child.stdout.setEncoding('utf8')
  while (!text.includes('\n')) text += String((await once(child.stdout, 'data'))[0])
  child.stdout.resume()
  const { ready } = JSON.parse(text.split('\n')[0] ?? '') as { ready: { url: string } }
  return { child, url: ready.url, ready_ms: performance.now() - from }
}

async function kill({ child }: Daemon): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

async function ask<T>({ url }: Daemon, path: string, body?: object): Promise<T> {
  const token = readFileSync(join(home, 'control-token'), 'utf8').trim()
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

type Task = { id: string; status: string; exit_status: number | null }

const agentOf = (n: number) => `a${Math.floor(n / perAgent)}`
let daemon = await serve()
const ids: string[] = []
for (let n = 0; n < commands; n++) {
  if (n % perAgent === 0) await ask(daemon, '/agents', { id: agentOf(n), model: 'runbook' })
  const cmd = command(n, { folder, pause_s: 1 })
  const { task } = await ask<{ task: Task }>(daemon, `/agents/${agentOf(n)}/tasks`, { cmd })
  ids.push(task.id)
}
const ready_ms: number[] = []
for (let i = 0; i < kills; i++) {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * mostAlive))
  await kill(daemon)
  daemon = await serve()
  ready_ms.push(daemon.ready_ms)
}
const states = await Promise.all(
  ids.map((id, n) => ask<Task>(daemon, `/agents/${agentOf(n)}/tasks/${id}`)),
)
const running = states.filter(({ status }) => status === 'running').length
const from = performance.now()
writeFileSync(join(folder, 'go'), '')
const wrong: string[] = running === commands ? [] : [`${running} ran when they were let go`]
let lines = 0
for (const [n, id] of ids.entries()) {
  const look = () => ask<Task>(daemon, `/agents/${agentOf(n)}/tasks/${id}`)
  let task = await look()
  while (['queued', 'running'].includes(task.status)) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    task = await look()
  }
  if (task.status !== 'completed' || task.exit_status !== statusOf(n)) {
    wrong.push(`${id} is ${task.status}, ${task.exit_status}, not completed, ${statusOf(n)}`)
  }
  const count = linesOf(n, join(home, 'tasks', id, 'stdout'))
  if (count === null) wrong.push(`the output of ${id} is not whole`)
  lines += count ?? 0
}
const end_ms = performance.now() - from
const table = processTable()
for (const { pid } of await table.rows()) {
  for (const id of ids) {
    if (await table.carries(pid, 'HOLON_TASK_ID', id)) wrong.push(`process ${pid} is left of ${id}`)
  }
}
await kill(daemon)
rmSync(folder, { recursive: true, force: true })
console.log(`${commands} commands, ${kills} kills of the daemon, load ${load()}`)
console.log(`from the start of a daemon to its being ready: ${spread(ready_ms)} ms`)
console.log(
  `${lines} numbered lines, last end known ${Math.round(end_ms)} ms after the start of it`,
)
for (const one of wrong) console.log(`wrong: ${one}`)
console.log(`${wrong.length} wrong`)
process.exitCode = wrong.length === 0 ? 0 : 1
