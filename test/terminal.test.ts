/**
 * An agent talks with a program in a terminal, over a restart of the host in the middle of it: the
 * program runs on, takes the next input, and its end is the agent's message (docs/spec/tools.md,
 * docs/spec/task.md#runner).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HostFixture, openBox } from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel, type Script } from '../src/testing/scripted-model.ts'

const program = [
  'test -t 0 || exit 9',
  `printf '\\033[1mfirst?\\033[0m '; read -r one`,
  `printf 'second? '; read -r two`,
  'echo "$one and $two"; exit 4',
].join('\n')

async function asked(box: HostFixture, task_id: string, question: string): Promise<void> {
  const { processes, clock } = box.ports
  const said = () => processes.output(task_id, { stream: 'stdout', max_bytes: 1_000 })
  while (!(await said()).text.includes(question)) await clock.sleep(5)
}

test('a program in a terminal outlives the host, and takes input before and after', async (t) => {
  let task_id = ''
  const first: Script = async (request, n) => {
    const last = request.messages.at(-1)
    const results = JSON.stringify(last)
    const shown = /task_[0-9a-f-]{4,36}/.exec(results)?.[0] ?? ''
    task_id ||= (await box.ledger.idOfShort('main', shown)) ?? ''
    if (n === 1)
      return calls({ name: 'ExecCommand', input: { cmd: program, tty: true, yield_ms: 0 } })
    if (n > 2) return says('It has the first.')
    // What is typed before the question is shown before it.
    await asked(box, task_id, 'first?')
    return calls({ name: 'TaskInput', input: { task_id, text: 'salt\n' } })
  }
  const box = await openBox(t, { models: { default: scriptedModel(first) } })
  const { home, workspace } = box
  await box.makeAgent('test/scripted')
  await box.host.open()
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Go.' })
  await box.rests('main')
  const [begun] = await box.ledger.list('tasks', { limit: 1 })
  assert.deepEqual([begun?.id, begun?.status, begun?.promoted], [task_id, 'running', true])
  await asked(box, task_id, 'second?')
  await box.close()

  const model = scriptedModel((_, n) =>
    n === 1
      ? calls({ name: 'TaskInput', input: { task_id, text: 'pepper\n' } })
      : n === 2
        ? calls({ name: 'TaskOutput', input: { task_id, block: true, timeout_ms: 60_000 } })
        : says('It is over.'),
  )
  const again = await openBox(t, { home, workspace, models: { default: model } })
  await again.host.open()
  await again.host.act({ do: 'send', agent_id: 'main', text: 'The second.' })
  await again.rests('main', () => model.requests.length >= 3)
  const [ended] = await again.ledger.list('tasks', { limit: 1 })
  assert.deepEqual([ended?.status, ended?.exit_status], ['completed', 4])
  const results = (await again.ledger.list('calls', { limit: 9 })).flatMap(
    ({ tool_name, result }) =>
      tool_name === 'TaskOutput' && result?.status === 'success' ? [result.result] : [],
  )
  assert.deepEqual(results, [
    {
      task_id,
      task_kind: 'command',
      status: 'completed',
      exit_status: 4,
      reason: null,
      stdout: 'first? salt\nsecond? pepper\nsalt and pepper\n',
      stderr: '',
    },
  ])
  assert.deepEqual((await again.ledger.verify()).problems, [])
})
