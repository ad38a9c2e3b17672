// The example agent of the published SDK (of the last release that ships it), under the real
// driver.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AcpWords } from '../src/ports/acp.ts'
import { AcpSessions } from '../src/exec/acp/session.ts'
import { systemClock } from '../src/exec/clock.ts'
import { createProcesses } from '../src/exec/commands/processes.ts'

test('the example agent of the SDK asks for a permission, and goes on with the answer', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holon-acp-example-'))
  const clock = systemClock()
  const common = {
    tasks_folder: join(folder, 'tasks'),
    clock,
    parent_env: { PATH: process.env['PATH'] },
  }
  const processes = createProcesses(common)
  const sessions = new AcpSessions({ ...common, processes })
  t.after(async () => {
    await sessions.stop('task_acp_example', 0)
    await processes.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const example = new URL('../node_modules/acp-example/dist/examples/agent.js', import.meta.url)
    .pathname
  const program = { command: process.execPath, args: [example], env: { pass: [], set: {} } }
  const place = { task_id: 'task_acp_example', workdir: folder, program }
  const gather = async (request_id: string, words: AcpWords) => {
    const all: string[] = []
    for await (const event of sessions.follow(
      place,
      request_id,
      words,
      AbortSignal.timeout(60_000),
    )) {
      all.push(event.type === 'over' ? `over ${event.end.state}` : event.type)
    }
    return all
  }
  const prompt = { kind: 'prompt' as const, text: 'Hello', after_loss: '' }
  const heard = ['text', 'tool_call', 'tool_call_update', 'text', 'tool_call', 'over asked']
  assert.deepEqual(await gather('r1', prompt), heard)
  const { question } = await sessions.look('task_acp_example')
  assert.equal(
    question?.title,
    'Modifying critical configuration file (/home/user/project/config.json)',
  )
  const answer = { kind: 'answer' as const, permission_id: 'perm_1', option: 1 }
  assert.deepEqual(await gather('r2', answer), ['tool_call_update', 'text', 'over ended'])
  assert.equal((await sessions.stop('task_acp_example', 1000)).stopped, true)
})
