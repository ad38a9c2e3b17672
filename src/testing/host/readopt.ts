/**
 * Many commands that outlive their daemon: one small daemon after the other starts what is not
 * started, follows what runs, and is killed with SIGKILL; the last one may live to see all ends.
 * Every command writes numbered lines until it is let go and ends with a status of its own, so that
 * a lost line, a second start, a wrong status and a process left over all show.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../exec/clock.ts'
import type { TaskProcess } from '../../exec/ports.ts'
import { createProcesses } from '../../exec/commands/processes.ts'
import { processTable } from '../../exec/commands/process-table.ts'

export type ReadoptOptions = {
  /** Absolute; is made. */
  folder: string
  commands: number
  kills: number
  /** Seconds between two lines of a command. */
  pause_s: number
  /** Repeats the moments of the kills, as far as the machine lets it. */
  seed: number
}

export type Readopted = {
  /** What is not as it should be, a sentence each. */
  wrong: string[]
  /** Commands that ran when each daemon was killed. */
  running_at_kills: number[]
  lines: number
  /** Milliseconds for a new process from its start to knowing all the commands that run. */
  adopt_ms: number[]
  /** Milliseconds from letting them go to the last end. */
  end_ms: number
}

/** Lines that a command writes in one go when it is let go: the daemon must not lose its tail. */
const LAST_LINES = 200
const clock = systemClock()
const parent_env = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' }
const url = (name: string) => JSON.stringify(new URL(name, import.meta.url).href)

/** Of no other test: a stop looks for its task over the whole machine. */
const idOf = (n: number) => `task_readopt_${n}`
export const statusOf = (n: number) => (n * 7 + 3) % 256

/** Runs until the file `go` is in the folder. */
export const command = (
  n: number,
  { folder, pause_s }: Pick<ReadoptOptions, 'folder' | 'pause_s'>,
) => `
echo "begin ${n}"
line=0
until [ -e '${folder}/go' ] || [ ! -d '${folder}' ]; do
  line=$((line + 1)); echo "${n} $line"; sleep ${pause_s}
done
last=$((line + ${LAST_LINES}))
while [ $line -lt $last ]; do line=$((line + 1)); echo "${n} $line"; done
echo "end $line"
exit ${statusOf(n)}`

/** Says a line of JSON when it knows all commands, and one when all have ended. */
const daemon = (options: ReadoptOptions) => `
import { createProcesses } from ${url('../../exec/commands/processes.ts')}
import { systemClock } from ${url('../../exec/clock.ts')}
const tasks_folder = ${JSON.stringify(join(options.folder, 'tasks'))}
const parent_env = ${JSON.stringify(parent_env)}
const processes = createProcesses({ tasks_folder, parent_env, clock: systemClock() })
const env = { HOLON_READOPT: ${JSON.stringify(options.folder)} }
const commands = ${JSON.stringify(numbers(options).map((n) => [idOf(n), command(n, options)]))}
const say = (what) => process.stdout.write(JSON.stringify(what) + '\\n')
say({ born: true })
let began = 0
for (const [task_id, cmd] of commands) {
  if ((await processes.observe(task_id)).state !== 'absent') continue
  const spec = { task_id, cmd, workdir: '/', env, timeout_ms: null, stdin: 'none' }
  await processes.prepare(spec)
  await processes.start(task_id)
  if (++began % 10 === 0) say({ began })
}
const ends = commands.map(([id]) => processes.ended(id, new AbortController().signal))
const seen = await Promise.all(commands.map(([id]) => processes.observe(id)))
const running = seen.filter((one) => one.state === 'running').length
say({ running, spawner: processes.spawnerPid() })
const ended = await Promise.all(ends)
say({ ended })
await processes.close()`

const numbers = ({ commands }: ReadoptOptions) => Array.from({ length: commands }, (_, n) => n)

export async function readopt(options: ReadoptOptions): Promise<Readopted> {
  const { folder, kills, seed } = options
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'daemon.mjs'), daemon(options))
  const random = lottery(seed)
  const [running_at_kills, adopt_ms]: [number[], number[]] = [[], []]
  const spawners: number[] = []
  for (let kill = 0; kill < kills; kill++) {
    const from = clock.monotonic()
    const killed = begin(folder)
    // The first half is killed in the middle of starting and taking over, the others behind it.
    const mayBegin = kill < kills / 2
    const said = await killed.until((line) => 'running' in line || (mayBegin && 'began' in line))
    if ('running' in said) {
      adopt_ms.push(clock.monotonic() - from)
      if (said.spawner) spawners.push(said.spawner)
    }
    await clock.sleep(random() * 200)
    killed.child.kill('SIGKILL')
    await killed.gone
    running_at_kills.push(await countRunning(options))
  }
  const last = begin(folder)
  const whole = await last.until((line) => 'running' in line)
  if (whole.spawner) spawners.push(whole.spawner)
  const wrong =
    whole.running === options.commands
      ? []
      : [`${whole.running} of ${options.commands} commands ran when they were let go`]
  const from = clock.monotonic()
  writeFileSync(join(folder, 'go'), '')
  const { ended = [] } = await last.until((line) => 'ended' in line)
  const end_ms = clock.monotonic() - from
  await last.gone
  const lines = numbers(options).map((n) => judge(n, ended[n], options, wrong))
  for (const pid of spawners) await untilGone(pid)
  wrong.push(...(await orphans(options)))
  const sum = lines.reduce((a, b) => a + b, 0)
  return { wrong, running_at_kills, lines: sum, adopt_ms, end_ms }
}

type Line = { running?: number; spawner?: number | null; ended?: TaskProcess[] }

function begin(folder: string) {
  const child = spawn(process.execPath, [join(folder, 'daemon.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(child, 'exit')
  const lines: Line[] = []
  let rest = ''
  const { stdout } = child
  stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts.map((line): Line => JSON.parse(line)))
  })
  const until = async (wanted: (line: Line) => boolean): Promise<Line> => {
    for (;;) {
      const found = lines.find(wanted)
      if (found) return found
      if (stdout.closed) throw new Error('a daemon ended before it said what was awaited')
      const heard = new AbortController()
      const { signal } = heard
      await Promise.race([once(stdout, 'data', { signal }), once(stdout, 'close', { signal })])
      heard.abort()
    }
  }
  return { child, gone, until }
}

const openProcesses = ({ folder }: ReadoptOptions) =>
  createProcesses({ tasks_folder: join(folder, 'tasks'), clock, parent_env })

async function countRunning(options: ReadoptOptions): Promise<number> {
  const processes = openProcesses(options)
  const seen = await Promise.all(numbers(options).map((n) => processes.observe(idOf(n))))
  await processes.close()
  return seen.filter(({ state }) => state === 'running').length
}

/** Returns how many numbered lines there are; adds what is wrong with them, or with the end. */
function judge(
  n: number,
  end: TaskProcess | undefined,
  { folder }: ReadoptOptions,
  wrong: string[],
): number {
  if (end?.state !== 'ended' || end.how !== 'exited' || end.exit_status !== statusOf(n)) {
    wrong.push(`${idOf(n)} ended ${JSON.stringify(end)}, not with ${statusOf(n)}`)
  }
  const count = linesOf(n, join(folder, 'tasks', idOf(n), 'stdout'))
  if (count === null) wrong.push(`the output of ${idOf(n)} is not whole`)
  return count ?? 0
}

/** How many numbered lines command `n` wrote; null when one is missing, twice or torn. */
export function linesOf(n: number, path: string): number | null {
  const [first, ...lines] = readFileSync(path, 'utf8').split('\n')
  const count = lines.length - 2
  const expected = Array.from({ length: count }, (_, line) => `${n} ${line + 1}`)
  expected.push(`end ${count}`, '')
  return first === `begin ${n}` && lines.join('\n') === expected.join('\n') ? count : null
}

async function orphans(options: ReadoptOptions): Promise<string[]> {
  const table = processTable()
  const found: number[] = []
  for (const { pid } of await table.rows()) {
    if (await table.carries(pid, 'HOLON_READOPT', options.folder)) found.push(pid)
  }
  return found.map((pid) => `process ${pid} is left over`)
}

async function untilGone(pid: number): Promise<void> {
  while (await processTable().identity(pid)) await clock.sleep(20)
}

/** Numbers in [0, 1) that a seed repeats. */
function lottery(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
