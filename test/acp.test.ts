// An agent of another maker as a model, whole: the adapter, its sessions, the driver under the real
// runner, and an agent on the published SDK. Each request goes through a daemon of its own.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { AcpSessions } from '../src/exec/acp/session.ts'
import { systemClock } from '../src/exec/clock.ts'
import { createProcesses } from '../src/exec/commands/processes.ts'
import { keptAliveFetch } from '../src/models/transport/fetch.ts'
import type { AgentSession, ModelOutcome } from '../src/models/model.ts'
import { openModel } from '../src/models/catalogue/open-model.ts'
import { tasksIn } from '../src/testing/host/tasks-in.ts'

const folder = mkdtempSync(join(tmpdir(), 'holon-acp-model-'))
const tasks_folder = join(folder, 'tasks')
const clock = systemClock()
const parent_env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder }
const log = join(folder, 'log')
const agent = new URL('../src/testing/acp-agent.ts', import.meta.url).pathname
const unused = keptAliveFetch()

after(async () => {
  const processes = createProcesses({ tasks_folder, clock, parent_env })
  const stop = (task_id: string) => processes.stop(task_id, 0)
  await Promise.all(tasksIn(tasks_folder).map(stop))
  await processes.close()
  unused.close()
  rmSync(folder, { recursive: true, force: true })
})

/** One request, by a process table, sessions and a model that nobody used before or uses again. */
async function asked(session: Omit<AgentSession, 'task_id' | 'workdir'>): Promise<ModelOutcome> {
  const processes = createProcesses({ tasks_folder, clock, parent_env })
  try {
    const opened = await openModel(
      'acp/other',
      {
        providers: {},
        acp: { other: { command: process.execPath, args: [agent, log, 'loads'] } },
        env: {},
        read_file: () => Promise.reject(new Error('no key is wanted')),
      },
      {
        clock: { now: () => clock.now(), after: (ms, fn) => clock.after(ms, fn) },
        fetch: unused.fetch,
        acp: async () => new AcpSessions({ tasks_folder, processes, clock, parent_env }),
      },
    )
    assert(opened.ok)
    return await opened.model.request(
      {
        model: 'acp/other',
        system: 'Not for it.',
        tools: [],
        tool_choice: 'auto',
        messages: [{ role: 'user', content: 'All that is known.' }],
        max_output_tokens: null,
        situation: null,
        agent_session: { task_id: 'task_1', workdir: folder, ...session },
      },
      { signal: AbortSignal.timeout(30_000) },
    )
  } finally {
    await processes.close()
  }
}

/** The words of a round, and what it calls. */
function said(outcome: ModelOutcome): string[] {
  assert(outcome.ok, JSON.stringify(outcome))
  return outcome.round.parts.map((part) =>
    part.type === 'tool_call' ? `${part.tool_name} ${part.input_json}` : part.text,
  )
}

test('a permission is asked through one daemon and given through the next; nothing is asked twice', async () => {
  const input = 'say First.\nread /etc/hosts\nask Write it\nsay Last.'
  const reason =
    'Permission asked: Write it (/etc/hosts)\nOptions:\n' +
    '1 Allow this (allow_once)\n2 Allow all (allow_always)\n3 Skip it (reject_once)'
  const wait = { wake: 'operator_input', source: 'permission', resource: 'perm_1', reason }
  const first = { request_id: 'turn_1:1', input, answer: null }
  const question = [
    'First.',
    'What the agent did with its own tools:\n- Read /etc/hosts (read, completed, /etc/hosts:3)',
    `WaitFor ${JSON.stringify({ ...wait, question: reason })}`,
  ]
  assert.deepEqual(said(await asked(first)), question)
  assert.deepEqual(said(await asked(first)), question)
  const answer = { permission_id: 'perm_1', text: 'Yes.' }
  const second = { request_id: 'turn_2:1', input: 'Yes.', answer }
  assert.deepEqual(said(await asked(second)), ['<yes>Last.'])
  assert.deepEqual(said(await asked(second)), ['<yes>Last.'])
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
  assert.deepEqual(lines, [
    'started -',
    `session s2 ${folder}`,
    `prompt ${JSON.stringify(input)}`,
    'answered yes',
  ])
})

test('an agent that ended in the middle is told so and goes on in the session it kept', async () => {
  const third = { request_id: 'turn_3:1', input: 'crash 3', answer: null }
  const broken = await asked(third)
  assert(!broken.ok)
  assert.equal(broken.fault.message, 'acp/other: it ended with exit code 3: out of luck.')
  await asked({ ...third, request_id: 'turn_3:1', input: 'say On.' })
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
  assert.deepEqual(lines.slice(-3, -1), ['started -', 'loaded s2'])
  assert.match(lines.at(-1) ?? '', /^prompt "\[Note: your process ended [^"]*\\n\\nsay On\."$/)
})
