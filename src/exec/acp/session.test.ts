// Real drivers under the real runner, each with a real agent on the published SDK's agent side
// (src/testing/acp-agent.ts): what it is told is what it does. The count of its prompts is its own.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { AcpEvent, AcpPlace } from '../../ports/acp.ts'
import { type AcpLine, JOURNAL, parseJournal } from './journal.ts'
import { AcpSessions, type AcpSessionsOptions } from './session.ts'
import { systemClock } from '../clock.ts'
import { createProcesses } from '../commands/processes.ts'
import { processTable } from '../commands/process-table.ts'
import { tasksIn } from '../../testing/host/tasks-in.ts'

const folder = mkdtempSync(join(tmpdir(), 'holon-acp-'))
const tasks_folder = join(folder, 'tasks')
const clock = systemClock()
const parent_env = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: folder,
  SECRET_KEY: 'k',
  A_KEY: 'a',
}
const processes = createProcesses({ tasks_folder, clock, parent_env })
const options: AcpSessionsOptions = { tasks_folder, processes, clock, parent_env }
const sessions = new AcpSessions(options)
const patience = () => AbortSignal.timeout(30_000)
const agentPath = new URL('../../testing/acp-agent.ts', import.meta.url).pathname
let count = 0

after(async () => {
  for (const task_id of tasksIn(tasks_folder)) await processes.stop(task_id, 0)
  await processes.close()
  rmSync(folder, { recursive: true, force: true })
})

type Child = AcpPlace & { log: () => string[] }

/** A child of its own; `abilities` are arguments of the agent. */
function child(...abilities: string[]): Child {
  count += 1
  const workdir = join(folder, `work ${count}`)
  const log = join(folder, `log-${count}`)
  mkdirSync(workdir)
  const args = [agentPath, log, ...abilities]
  const env = { pass: ['A_KEY'], set: { GREETING: 'hello' } }
  return {
    task_id: `task_${count}`,
    program: { command: process.execPath, args, env },
    workdir,
    log: () => readFileSync(log, 'utf8').trimEnd().split('\n'),
  }
}

/** Each event in a few words. */
function told(event: AcpEvent): string {
  switch (event.type) {
    case 'text':
    case 'thought':
      return `${event.type} ${event.text}`
    case 'tool_call':
    case 'tool_call_update': {
      const { tool_call_id, title, kind, status, locations } = event
      return [event.type, tool_call_id, title, kind, status, ...locations].join(' ')
    }
    case 'plan':
      return 'plan'
    case 'over': {
      const { end } = event
      switch (end.state) {
        case 'asked':
          return `asked ${end.question.permission_id}: ${end.question.title}`
        case 'ended':
          return `ended ${end.stop}`
        case 'failed':
          return `failed ${end.code}: ${end.message}`
        case 'refused':
          return `refused: ${end.why}`
      }
    }
  }
}

async function prompt(place: AcpPlace, request_id: string, deeds: string[], under = sessions) {
  const words = {
    kind: 'prompt' as const,
    text: deeds.join('\n'),
    after_loss: `say lost\n${deeds.join('\n')}`,
  }
  return gather(under.follow(place, request_id, words, patience()))
}

async function answer(
  place: AcpPlace,
  request_id: string,
  permission_id: string,
  option: number | null,
) {
  const words = { kind: 'answer' as const, permission_id, option }
  return gather(sessions.follow(place, request_id, words, patience()))
}

async function gather(events: AsyncIterable<AcpEvent>): Promise<string[]> {
  const all: string[] = []
  for await (const event of events) all.push(told(event))
  return all
}

const prompts = (log: string[]) => log.filter((line) => line.startsWith('prompt '))

test('text, thoughts and tool calls come in their order, and the same request again replays them', async () => {
  const one = child()
  const deeds = ['think Hm.', 'say One,', 'read /a b.txt', 'say two.']
  const expected = [
    'thought Hm.',
    'text One,',
    'tool_call call_1 Read /a b.txt read pending /a b.txt:3',
    'tool_call_update call_1   completed',
    'text two.',
    'ended end_turn',
  ]
  assert.deepEqual(await prompt(one, 'r1', deeds), expected)
  assert.deepEqual(await prompt(one, 'r1', deeds), expected)
  assert.deepEqual(await prompt(one, 'r1', deeds, new AcpSessions(options)), expected)
  assert.deepEqual(await prompt(one, 'r2', ['say Three.']), ['text Three.', 'ended end_turn'])
  assert.deepEqual(one.log(), [
    'started hello',
    `session s2 ${one.workdir}`,
    `prompt ${JSON.stringify(deeds.join('\n'))}`,
    'prompt "say Three."',
  ])
})

test('a question ends the leg, and its answer goes on with the same prompt', async () => {
  const one = child()
  const deeds = ['say Before.', 'ask Write a file', 'ask Write another', 'say After.']
  assert.deepEqual(await prompt(one, 'r1', deeds), [
    'text Before.',
    'asked perm_1: Write a file (/etc/hosts)',
  ])
  const { question } = await sessions.look(one.task_id)
  assert.deepEqual(question, {
    permission_id: 'perm_1',
    title: 'Write a file (/etc/hosts)',
    options: [
      { option_id: 'yes', name: 'Allow this', kind: 'allow_once' },
      { option_id: 'always', name: 'Allow all', kind: 'allow_always' },
      { option_id: 'no', name: 'Skip it', kind: 'reject_once' },
    ],
  })
  const next = ['text <yes>', 'asked perm_2: Write another (/etc/hosts)']
  assert.deepEqual(await answer(one, 'r2', 'perm_1', 1), next)
  assert.deepEqual(await answer(one, 'r2', 'perm_1', 1), next)
  assert.deepEqual(await answer(one, 'r3', 'perm_1', 1), ['refused: nobody asks that any more'])
  assert.deepEqual(await answer(one, 'r4', 'perm_2', 9), ['refused: there is no such option'])
  assert.deepEqual(await answer(one, 'r5', 'perm_2', null), [
    'text <cancelled>',
    'text After.',
    'ended end_turn',
  ])
  assert.deepEqual(one.log().slice(-2), ['answered yes', 'answered cancelled'])
  assert.equal((await sessions.look(one.task_id)).question, null)
})

test('a new prompt takes the place of the open one, whose question falls away', async () => {
  const one = child()
  await prompt(one, 'r1', ['ask Delete all', 'say Never said.'])
  assert.deepEqual(await prompt(one, 'r2', ['say Instead.']), [
    'text <cancelled>',
    'text Instead.',
    'ended end_turn',
  ])
  assert.deepEqual(
    one.log().slice(2),
    [
      'prompt "ask Delete all\\nsay Never said."',
      'answered cancelled',
      'cancelled',
      'prompt "say Instead."',
    ].sort((a, b) => one.log().indexOf(a) - one.log().indexOf(b)),
  )
})

test('a cancel ends the turn of an agent that listens', async () => {
  const one = child()
  const running = prompt(one, 'r1', [`until ${join(folder, 'never')}`, 'say Not this.'])
  await untilLogged(one, 'waits')
  await sessions.cancel(one.task_id, 'c1')
  assert.deepEqual(await running, ['ended cancelled'])
})

test('a turn that is cancelled twice is cancelled once, by a word or by another prompt', async () => {
  const one = child('stubborn')
  const gate = join(folder, 'cancelled twice')
  const first = prompt(one, 'r1', [`until ${gate}`])
  await untilLogged(one, 'waits')
  await sessions.cancel(one.task_id, 'c1')
  await sessions.cancel(one.task_id, 'c2')
  const second = prompt(one, 'r2', ['say Next.'])
  await untilKept(one, (line) => line.type === 'prompt_received' && line.request_id === 'r2')
  writeFileSync(gate, '')
  assert.deepEqual(await first, ['ended cancelled'])
  assert.deepEqual(await second, ['text Next.', 'ended end_turn'])
  const cancels = journal(one).flatMap((one) =>
    one.type === 'cancel_received' ? [one.request_id] : [],
  )
  assert.deepEqual(cancels, ['c1', 'c2'])
  // What the agent was told stands before the next prompt, which came the same way.
  assert.deepEqual(
    one.log().filter((line) => line === 'cancelled'),
    ['cancelled'],
  )
})

test('a driver that is stopped says what became of the open prompt, and its own end last', async () => {
  const one = child()
  const running = prompt(one, 'r1', ['hang'])
  await untilLogged(one, 'hangs')
  const seen = await processes.observe(one.task_id)
  assert(seen.state === 'running')
  process.kill(seen.pid, 'SIGTERM')
  assert.deepEqual(await running, ['failed agent_ended: it was stopped'])
  await processes.ended(one.task_id, patience())
  assert.deepEqual(
    journal(one)
      .slice(-3)
      .map(({ type }) => type),
    ['agent_ended', 'prompt_failed', 'driver_ended'],
  )
})

test('an agent that ignores the cancel is ended, and the next prompt starts it again', async () => {
  const hasty = new AcpSessions({ ...options, cancel_ms: 100 })
  const one = child('stubborn')
  const running = prompt(one, 'r1', ['hang'], hasty)
  await untilLogged(one, 'hangs')
  await hasty.cancel(one.task_id, 'c1')
  assert.deepEqual(await running, ['failed silent: it did not end when it was cancelled'])
  assert.deepEqual(await prompt(one, 'r2', ['say Back.'], hasty), [
    'text lost',
    'text Back.',
    'ended end_turn',
  ])
})

test('an agent that says nothing for too long is ended, one that waits for an answer is not', async () => {
  const hasty = new AcpSessions({ ...options, silence_ms: 300 })
  const one = child()
  assert.deepEqual(await prompt(one, 'r1', ['hang'], hasty), [
    'failed silent: it said nothing for 300 ms',
  ])
  const two = child()
  await prompt(two, 'r1', ['ask May I'], hasty)
  assert.deepEqual(await prompt(one, 'r2', ['hang'], hasty), [
    'text lost',
    'failed silent: it said nothing for 300 ms',
  ])
  assert.equal((await hasty.look(two.task_id)).question?.permission_id, 'perm_1')
})

test('an agent that crashes in mid prompt fails that prompt; the next one says that its memory is gone', async () => {
  const one = child()
  assert.deepEqual(await prompt(one, 'r1', ['say Half', 'crash 7']), [
    'text Half',
    'failed agent_ended: it ended with exit code 7: out of luck',
  ])
  assert.deepEqual(await prompt(one, 'r2', ['say Again.']), [
    'text lost',
    'text Again.',
    'ended end_turn',
  ])
  assert.equal(prompts(one.log()).length, 2)
})

test('an agent that keeps sessions loads its own, and what it repeats of it is not news', async () => {
  const one = child('loads')
  await prompt(one, 'r1', ['crash 1'])
  assert.deepEqual(await prompt(one, 'r2', ['say Again.']), ['text Again.', 'ended end_turn'])
  assert.deepEqual(one.log().slice(3), ['started hello', 'loaded s2', 'prompt "say Again."'])
})

test('what is no message of the protocol ends the agent with a sentence that quotes it', async () => {
  const one = child()
  assert.deepEqual(await prompt(one, 'r1', ['say A', 'garbage']), [
    'text A',
    'failed garbage: it wrote a line that is no JSON: "this is no message"',
  ])
  const two = child()
  assert.deepEqual(await prompt(two, 'r1', [`endless ${17 * 1024 * 1024}`]), [
    'failed garbage: it wrote a line of more than 16777216 bytes',
  ])
})

const asks = (id: string, options: object[]) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'session/request_permission',
    params: { sessionId: '$S', toolCall: { toolCallId: 'c', title: 'May I' }, options },
  })
const anOption = { optionId: 'yes', name: 'Yes', kind: 'allow_once' }
const tells = (sessionId: string, update: object) =>
  JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } })
const commands = { sessionUpdate: 'available_commands_update', availableCommands: [] }
const text = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'x' } }

/** Every direction in which a lying agent may go, and where each ends. */
const lies: [string, string, string][] = [
  [
    'asks permissions in a loop and reads no answer',
    `lie 2000 ${asks('$N', [anOption])}`,
    'failed too_much: it asked more than 500 times in one turn',
  ],
  [
    'asks for files that it was not offered',
    `lie 2000 ${JSON.stringify({
      jsonrpc: '2.0',
      id: '$N',
      method: 'fs/read_text_file',
      params: { sessionId: '$S', path: '/etc/passwd' },
    })}`,
    'failed too_much: it asked more than 500 times in one turn',
  ],
  [
    'sends updates that nobody keeps',
    `lie 100000 ${tells('$S', commands)}`,
    'failed too_much: it sent more than 60000 messages in a minute',
  ],
  [
    'sends updates of another session',
    `lie 100000 ${tells('another', text)}`,
    'failed too_much: it sent more than 60000 messages in a minute',
  ],
  [
    'asks with two options of one id',
    `lie 1 ${asks('1', [anOption, { ...anOption, name: 'No' }])}`,
    'failed garbage: it asked a question with two options of one id',
  ],
  [
    'asks without an option',
    `lie 1 ${asks('1', [])}`,
    'failed garbage: it asked a question with no option that can be chosen',
  ],
  [
    'ends with a reason of its own',
    'end {"stopReason":"victory"}',
    'failed garbage: its answer does not fit the protocol: stopReason is "victory"',
  ],
  [
    'ends without a reason',
    'end {}',
    'failed garbage: its answer does not fit the protocol: stopReason is missing',
  ],
]
for (const [what, deed, end] of lies) {
  test(`an agent that ${what} fails its prompt, and is there for the next`, async () => {
    const one = child()
    const seen = await prompt(one, 'r1', [deed])
    // Of what it asked in between the first question ends the leg, and the prompt ends without one.
    if (seen.at(-1)?.startsWith('asked perm_1')) {
      while ((await sessions.look(one.task_id)).question !== null) await clock.sleep(5)
      const text = readFileSync(join(tasks_folder, one.task_id, JOURNAL), 'utf8')
      const { code, message } = JSON.parse(/^.*"prompt_failed".*$/m.exec(text)?.[0] ?? '{}')
      assert.equal(`failed ${code}: ${message}`, end)
    } else assert.deepEqual(seen.at(-1), end)
    assert.equal((await prompt(one, 'r3', ['say Still here.'])).at(-2), 'text Still here.')
  })
}

const beginnings: [string, string, string][] = [
  ['a version that is no number', 'version-word', 'protocolVersion is "one"'],
  ['a session without an id', 'no-session', 'sessionId is missing'],
]
for (const [what, ability, why] of beginnings) {
  test(`an agent that answers with ${what} fails its prompt`, async () => {
    assert.deepEqual(await prompt(child(ability), 'r1', ['say Hello.']), [
      `failed garbage: its answer does not fit the protocol: ${why}`,
    ])
  })
}

test('updates that say nothing are no sign of work, and work has an end of its own', async () => {
  const silent = new AcpSessions({ ...options, silence_ms: 500 })
  assert.deepEqual(await prompt(child(), 'r1', [`lie 3 ${tells('$S', commands)}`], silent), [
    'failed silent: it said nothing for 500 ms',
  ])
  const brief = new AcpSessions({ ...options, prompt_ms: 300 })
  assert.deepEqual(await prompt(child(), 'r1', ['say At work.', 'hang'], brief), [
    'text At work.',
    'failed too_much: it worked for more than 300 ms on one turn',
  ])
})

test('what an agent says in one turn is bounded', async () => {
  const one = child()
  const said = await prompt(one, 'r1', ['flood 60000000'])
  assert.equal(said.at(-1), 'failed too_much: it said more than 8388608 bytes in one turn')
  assert(said.length < 200, `${said.length} pieces`)
})

test('a program that is not there and one of another version are named as such', async () => {
  const one = child()
  const missing = { ...one, program: { ...one.program, command: '/nowhere/agent' } }
  assert.deepEqual(await prompt(missing, 'r1', ['say A']), [
    'failed not_started: spawn /nowhere/agent ENOENT',
  ])
  assert.deepEqual(await prompt(child('version-9'), 'r1', ['say A']), [
    'failed wrong_protocol: it speaks version 9 of the protocol, and not 1',
  ])
  assert.deepEqual(
    ['/nowhere/agent', 'no-such-agent', 'sh', '/bin/sh', process.execPath].map((command) =>
      sessions.finds({ ...one.program, command }),
    ),
    [false, false, true, true, true],
  )
})

/** A daemon of its own that follows one request, and is killed. */
async function daemon(place: AcpPlace, request_id: string, text: string) {
  const url = (name: string) => JSON.stringify(new URL(name, import.meta.url).href)
  const program = `
    import { createProcesses } from ${url('../commands/processes.ts')}
    import { AcpSessions } from ${url('./session.ts')}
    import { systemClock } from ${url('../clock.ts')}
    const clock = systemClock()
    const common = ${JSON.stringify({ tasks_folder, parent_env })}
    const processes = createProcesses({ ...common, clock })
    const sessions = new AcpSessions({ ...common, processes, clock })
    const words = ${JSON.stringify({ kind: 'prompt', text, after_loss: 'say lost' })}
    const place = ${JSON.stringify(place)}
    const signal = new AbortController().signal
    for await (const event of sessions.follow(place, ${JSON.stringify(request_id)}, words, signal)) {
      console.log(JSON.stringify(event))
    }
    setInterval(() => {}, 1000)`
  const args = ['--input-type=module', '-e', program]
  const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  return {
    said: async () => String((await once(started.stdout, 'data'))[0]),
    async kill() {
      started.kill('SIGKILL')
      await once(started, 'exit')
    },
  }
}

/** What its drivers kept so far. */
const journal = ({ task_id }: Child): readonly AcpLine[] =>
  parseJournal(readFileSync(join(tasks_folder, task_id, JOURNAL))).lines

async function untilKept(one: Child, is: (line: AcpLine) => boolean): Promise<void> {
  while (!journal(one).some(is)) await clock.sleep(5)
}

async function untilLogged(one: Child, text: string): Promise<void> {
  for (;;) {
    try {
      if (one.log().some((line) => line.startsWith(text))) return
    } catch {
      // The agent has not begun.
    }
    await clock.sleep(5)
  }
}

test('after kill -9 of the daemon in mid prompt the next one hears all of it, and nothing is asked twice', async () => {
  const one = child()
  const gate = join(folder, 'gate')
  const deeds = ['say First.', `until ${gate}`, 'say Last.']
  const { log, ...place } = one
  for (let times = 0; times < 3; times += 1) {
    const doomed = await daemon(place, 'r1', deeds.join('\n'))
    assert.match(await doomed.said(), /First/)
    await doomed.kill()
  }
  const hearing = prompt(one, 'r1', deeds)
  writeFileSync(gate, '')
  assert.deepEqual(await hearing, ['text First.', 'text Last.', 'ended end_turn'])
  assert.equal(prompts(log()).length, 1)
})

test('a question outlives the daemon that heard it', async () => {
  const one = child()
  const { log, ...place } = one
  const doomed = await daemon(place, 'r1', 'ask May I\nsay Done.')
  assert.match(await doomed.said(), /May I/)
  await doomed.kill()
  const later = new AcpSessions(options)
  assert.equal((await later.look(one.task_id)).question?.permission_id, 'perm_1')
  assert.deepEqual(await answer(one, 'r2', 'perm_1', 3), [
    'text <no>',
    'text Done.',
    'ended end_turn',
  ])
  assert.equal(prompts(log()).length, 1)
})

test('a driver that was killed is followed by another, which never repeats the open prompt', async () => {
  const one = child('loads')
  const words = { kind: 'prompt' as const, text: 'say Half.\nhang', after_loss: '' }
  const running = sessions.follow(one, 'r1', words, patience())
  const half = await running.next()
  const seen = await processes.observe(one.task_id)
  assert(seen.state === 'running')
  process.kill(seen.pid, 'SIGKILL')
  assert.equal(half.value?.type, 'text')
  assert.deepEqual(await gather(running), ['failed driver_lost: its driver is gone'])
  assert.deepEqual((await sessions.look(one.task_id)).leg('r1'), {
    state: 'failed',
    code: 'driver_lost',
    message: 'its driver is gone',
  })
  assert.deepEqual(await prompt(one, 'r2', ['say On.']), ['text On.', 'ended end_turn'])
  assert.equal((await processes.observe(`${one.task_id}.2`)).state, 'running')
  // The last one is asked, and no third is begun beside it.
  assert.deepEqual(await prompt(one, 'r3', ['say Still.']), ['text Still.', 'ended end_turn'])
  assert.equal((await processes.observe(`${one.task_id}.3`)).state, 'absent')
  assert.deepEqual(prompts(one.log()), [
    'prompt "say Half.\\nhang"',
    'prompt "say On."',
    'prompt "say Still."',
  ])
})

test('stop proves that the driver, the agent and what it started are gone, and none is started again', async () => {
  const one = child()
  await prompt(one, 'r1', ['child', 'say Up.'])
  const table = processTable()
  const mine = async () => {
    const rows = await table.rows()
    const carried = await Promise.all(
      rows.map(async ({ pid }) =>
        (await table.carries(pid, 'HOLON_TASK_ID', one.task_id)) ? [pid] : [],
      ),
    )
    return carried.flat()
  }
  assert((await mine()).length >= 3)
  const outcome = await sessions.stop(one.task_id, 1000)
  assert.equal(outcome.stopped, true)
  assert.deepEqual(await mine(), [])
  await assert.rejects(prompt(one, 'r2', ['say No.']), { code: 'not_running', retry: 'never' })
})

test('the agent sees the declared variables and the allow-list only, and the file with them is gone', async () => {
  const one = child()
  const two = {
    ...one,
    program: { ...one.program, command: '/bin/sh', args: ['-c', 'env >&2; exit 1'] },
  }
  const [failed = ''] = await prompt(two, 'r1', ['say A'])
  const names = [...failed.matchAll(/(\w+)=/g)]
    .map(([, name]) => name)
    .filter((name) => !/^(PWD|OLDPWD|SHLVL|_)$/.test(name ?? ''))
  assert.deepEqual(names.sort(), ['A_KEY', 'GREETING', 'HOLON_TASK_ID', 'HOME', 'PATH'])
  assert.deepEqual(
    readdirSync(join(tasks_folder, one.task_id)).filter((name) => name.includes('settings')),
    [],
  )
})

test('a prompt over the limit is refused before anything is started', async () => {
  const one = child()
  await assert.rejects(prompt(one, 'r1', ['x'.repeat(2 * 1024 * 1024 + 1)]), {
    code: 'input_too_long',
    retry: 'never',
  })
  assert.equal((await processes.observe(one.task_id)).state, 'absent')
})
