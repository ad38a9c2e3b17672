/**
 * kill -9, really: `holon run` against a real HTTP model, ended by SIGKILL just before and just
 * after each of its database commits, then resumed by the command a person would type. Same end,
 * every time.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../src/exec/clock.ts'
import { createProcesses } from '../src/exec/commands/processes.ts'
import { openReader } from '../src/ledger/store/open.ts'
import { temporaryHome } from '../src/testing/host/host-fixture.ts'
import { endState, type EndState } from '../src/testing/scenarios/end-state.ts'
import { startModelServer, TEST_KEY } from '../src/testing/model-server/server.ts'
import {
  letsGo,
  logLines,
  slowPart,
  twoJobs,
  twoJobsPolicy,
} from '../src/testing/scenarios/two-jobs.ts'

const root = join(import.meta.dirname, '..')
const preload = join(root, 'test/support/kill-at-commit.ts')
const main = join(root, 'src/main.ts')

type Ran = { code: number | null; signal: string | null; stderr: string }
type Places = { home: string; workspace: string }

/** Runs the command to its end; `kill` is where it ends early. */
function holon(places: Places, base_url: string, words: string[], kill: string | null) {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: places.workspace,
    HOLON_HOME: places.home,
    OPENAI_COMPATIBLE_BASE_URL: base_url,
    OPENAI_COMPATIBLE_API_KEY: TEST_KEY,
    ...(kill === null ? { HOLON_TEST_COUNT: '1' } : { HOLON_TEST_KILL: kill }),
  }
  const args = ['--import', preload, main, ...words]
  const { promise, resolve } = Promise.withResolvers<Ran>()
  const child = execFile(process.execPath, args, { env, timeout: 60_000 }, (_, __, stderr) => {
    resolve({ code: child.exitCode, signal: child.signalCode, stderr })
  })
  return { pid: child.pid ?? 0, ran: promise }
}

const start = (places: Places) => [
  'run',
  ...['--model', 'openai-compatible/two-jobs', '--workspace', places.workspace],
  twoJobs,
]

/** Resumes as a person would; a home that never took the message in is told again. */
async function finish(places: Places, base_url: string): Promise<void> {
  const resumed = await holon(places, base_url, ['run', '--resume'], null).ran
  assert.equal(resumed.code, 0, resumed.stderr)
  if ((await messages(places)) > 0) return
  const again = await holon(places, base_url, start(places), null).ran
  assert.equal(again.code, 0, again.stderr)
}

async function messages({ home }: Places): Promise<number> {
  const reader = await openReader(home).catch(() => null)
  if (reader === null) return 0
  const rows = await reader.list('messages', { limit: 1 })
  await reader.close()
  return rows.length
}

/** What must be equal, whichever of the two jobs came first. */
async function ending(places: Places) {
  const reader = await openReader(places.home)
  const end: EndState = await endState(reader, places.workspace)
  await reader.close()
  const { log, results, messages, waits, ...rest } = end
  const words = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).toSorted()
  return {
    ...rest,
    log: log.toSorted(),
    results: results.toSorted(),
    messages: words(messages),
    waits: words(waits),
  }
}

async function killed(t: TestContext, kill: string) {
  const places = temporaryHome(t)
  const server = await provider(t, places)
  const died = await holon(places, server.base_url, start(places), kill).ran
  assert.equal(died.signal, 'SIGKILL', `${kill}: it was not killed: ${died.stderr}`)
  await finish(places, server.base_url)
  assert.deepEqual(server.violations, [])
  return ending(places)
}

/** The model's provider, which lets the slow part end when the other job is over. */
async function provider(t: TestContext, { workspace }: Places) {
  const server = await startModelServer(({ messages_text }) => {
    const answer = twoJobsPolicy(messages_text)
    if (letsGo(answer)) writeFileSync(join(workspace, 'go'), '')
    return answer
  })
  t.after(() => server.close())
  return server
}

const options = { concurrency: 3, timeout: 900_000 }

test('holon run killed by SIGKILL at every commit ends the same', options, async (t) => {
  const places = temporaryHome(t)
  const server = await provider(t, places)
  const whole = await holon(places, server.base_url, start(places), null).ran
  assert.equal(whole.code, 0, whole.stderr)
  const end = await ending(places)
  assert.deepEqual(end.log, logLines.toSorted())
  assert.equal(end.results.length, 2)
  const commits = Number(/commits: (\d+)/.exec(whole.stderr)?.[1])
  assert.ok(commits > 25, `only ${commits} commits`)
  const points = Array.from({ length: commits }, (_, i) => [`before:${i + 1}`, `after:${i + 1}`])
  await Promise.all(
    points.flat().map((kill) =>
      t.test(`killed ${kill.replace(':', ' commit ')}`, async (t) => {
        assert.deepEqual(await killed(t, kill), end)
      }),
    ),
  )
})

test('a command that runs on while its host is dead is joined again, not run again', async (t) => {
  const slow = 'sleep 3; echo slow >> log.txt'
  const server = await startModelServer(({ messages_text }) => {
    const answer = twoJobsPolicy(messages_text)
    const calls = answer.calls.map((call) =>
      call.input['cmd'] === slowPart ? { ...call, input: { cmd: slow, yield_ms: 20_000 } } : call,
    )
    return { ...answer, calls }
  })
  t.after(() => server.close())
  const places = temporaryHome(t)
  const running = holon(places, server.base_url, start(places), 'never:0')
  const pid = await commandRuns(places)
  process.kill(running.pid, 'SIGKILL')
  assert.equal((await running.ran).signal, 'SIGKILL')
  process.kill(pid, 0)
  await finish(places, server.base_url)
  const end = await ending(places)
  assert.deepEqual(end.log, logLines.toSorted())
  assert.deepEqual(end.unanswered_calls, [])
  assert.deepEqual(
    end.tasks.filter((task) => (task as { label: string }).label === slow),
    [{ label: slow, status: 'completed', exit_status: 0 }],
  )
})

/** The pid of the slow command once its runner has claimed it. */
async function commandRuns({ home }: Places): Promise<number> {
  for (;;) {
    const reader = await openReader(home).catch(() => null)
    const tasks = (await reader?.list('tasks', { limit: 10 })) ?? []
    await reader?.close()
    const slow = tasks.find((task) => task.label.startsWith('sleep') && task.status === 'queued')
    const seen = slow ? await observing(home).observe(slow.id) : null
    if (seen?.state === 'running') return seen.pid
    await new Promise((again) => setImmediate(again))
  }
}

const observing = (home: string) =>
  createProcesses({
    tasks_folder: join(home, 'tasks'),
    clock: systemClock(),
    parent_env: process.env,
  })
