/**
 * Agents, tasks and worktrees as a person types them: the real program on a home that a host has
 * left, without a daemon and with one.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import type { AgentRecord } from '../src/protocol/records/agent-record.ts'
import type { TaskRecord } from '../src/protocol/records/task-record.ts'
import type { WorktreeRecord } from '../src/protocol/records/delegation-record.ts'
import { asked } from '../src/testing/http/api-scripts.ts'
import { asking, left } from './support/asking-child.ts'
import { said, ServedHome } from './support/served-home.ts'

const options = { timeout: 180_000 }

/** The program on the home of a host that is gone. */
async function leftBy(t: TestContext, api: Awaited<ReturnType<typeof asking>>['api']) {
  await api.box.close()
  const at = new ServedHome(t)
  const env = { HOLON_HOME: api.box.home }
  return (...args: string[]) => at.start(args, env).ended
}

const short = (id: string) => `task_${id.slice(-6)}`

describe('children on the command line', options, () => {
  test('stand under their parent, with what they ask and how they are told', async (t) => {
    const { api, task } = await asking(t)
    const holon = await leftBy(t, api)
    const list = await holon('agents', 'list')
    assert.match(list.out, /^main\t.*\n {2}main\.1\tasks main/m, list.err)
    const parent = await holon('agents', 'show', 'main')
    assert.match(parent.out, /^made +main\.1 asks main; task_\w+: Take one\./m)
    assert.match(parent.out, /; needs input: Which of the two\?/)
    const child = await holon('agents', 'show', 'main.1')
    assert.match(child.out, /^child of +main, under task_\w+: Take one\.$/m)
    assert.match(child.out, /^works in +.*\/worktrees\/.* \(a worktree of its own\)$/m)
    const tasks = await holon('tasks')
    assert.match(tasks.out, /\tmain\.1\tTake one\.\tneeds main's input: Which of the two\?\t/)
    const shown = await holon('tasks', 'show', short(task.id))
    assert.match(shown.out, /^asks\n {2}Which of the two\?\ntell {4}holon tasks input task_\w+ /m)
    const paths = shown.out.match(/(?<=\s)\/\S+/g) ?? []
    assert.notEqual(paths.length, 0)
    assert.deepEqual(
      paths.filter((path) => !existsSync(path)),
      [],
      shown.out,
    )
    assert.equal((await holon('inbox')).out, 'nothing needs you\n')
    const closed = await holon('send', '--agent', 'main.1', 'Hello.')
    assert.equal(closed.exit, 1)
    assert.match(closed.err, /^holon: main\.1 is a private child of main, under task_\w+; talk to/)
    const told = await holon('tasks', 'input', short(task.id), 'The second.')
    assert.match(told.out, /^main\.1 has its answer in msg_\w+\.\n$/, told.err)
  })

  test('show what they may spend, and what is used of it with all that were made', async (t) => {
    const { api } = await asking(t)
    const holon = await leftBy(t, api)
    assert.match(
      (await holon('agents', 'show', 'main')).out,
      /^budget +none of the agent or the home$/m,
    )
    const limit = ['agents', 'configure', 'main', '--max-rounds', '50']
    assert.equal((await holon(...limit)).exit, 0)
    assert.equal((await holon(...limit, '--per', 'day')).exit, 0)
    assert.equal((await holon('config', 'set', 'budget.all.max_rounds', '900')).exit, 0)
    const lines = (of: string) => [
      `(\\d+) of 50 rounds today${of}`,
      `(\\d+) of 50 rounds in all${of}`,
      '(\\d+) of 900 rounds in all of the home',
    ]
    for (const [id, of] of [
      ['main', ''],
      ['main.1', ' of main'],
    ] as const) {
      const { out, err } = await holon('agents', 'show', id)
      const [, ...used] = new RegExp(`^budget +${lines(of).join('\n +')}$`, 'm').exec(out) ?? []
      assert.equal(used.length, 3, `${out}${err}`)
      // The home has these two agents and no other.
      assert.equal(new Set(used).size, 1, used.join())
      assert.ok(Number(used[0]) >= 2, used.join())
    }
  })

  test('have no list that puts their question to the operator', async (t) => {
    const { api } = await asking(t)
    const holon = await leftBy(t, api)
    for (const args of [['waits'], ['agents'], ['agents', 'show', 'main.1'], ['tasks']]) {
      const { out, err } = await holon(...args)
      assert.match(out, /asks main|main: Which of the two|needs main's input/, `${out}${err}`)
      assert.doesNotMatch(out, /\byour?\b/, args.join(' '))
    }
    assert.match((await holon('waits')).out, /\tmain: Which of the two\?\tmain's answer\t/)
  })

  test('leave worktrees that are listed, discarded and brought back', async (t) => {
    const { api, task, worktree } = await left(t)
    const holon = await leftBy(t, api)
    const list = await holon('worktree', 'list')
    const row = `\tholon/main.1\tmain.1\tkept\t${worktree.reason}\tmerge it, or holon worktree discard`
    assert.ok(list.out.includes(row), list.out)
    assert.match(list.out, /^look at task_\w+ {3}git -C .* status$/m)
    const inbox = await holon('inbox')
    assert.match(inbox.out, /^ {4}holon worktree discard task_/m)
    const dirty = await holon('worktree', 'remove', short(task.id))
    assert.equal(dirty.exit, 1)
    assert.match(dirty.err, /no commit has: 1 untracked; commit and merge it, or/)
    const discarded = await holon('worktree', 'discard', short(task.id))
    assert.match(discarded.out, / is discarded: refs\/holon\/snapshots\/.* keeps it/, discarded.err)
    assert.equal(existsSync(worktree.path), false)
    assert.match((await holon('worktree', 'list')).out, /^no worktree stands/)
    const all = await holon('worktree', 'list', '--all', '--json')
    const { worktrees } = JSON.parse(all.out) as { worktrees: WorktreeRecord[] }
    assert.deepEqual(
      worktrees.map(({ id, state }) => [id, state]),
      [[task.id, 'discarded']],
    )
    const back = await holon('worktree', 'restore', short(task.id))
    assert.match(back.out, / is back in .*, on holon\/main\.1\.\n$/, back.err)
    assert.equal(readFileSync(join(worktree.path, 'new.txt'), 'utf8'), 'new\n')
    const none = await holon('worktree', 'restore', 'task_ffff')
    assert.deepEqual(
      [none.exit, none.err.startsWith('holon: there is no task task_ffff')],
      [2, true],
    )
  })

  test('are followed to their end, which has been', async (t) => {
    const { api, task } = await left(t)
    const holon = await leftBy(t, api)
    const followed = await holon('tasks', 'follow', short(task.id))
    assert.equal(followed.exit, 0, followed.err)
    assert.match(followed.err, /turn 1, because/)
    assert.match(followed.err, /Take one\.: completed/)
    assert.equal(followed.out.includes('I took the second one.'), true, followed.out)
    const words = await holon('tasks', 'output', short(task.id), '--tail', '1')
    assert.match(words.out, / {2}I took the second one\.$/m)
  })
})

describe('what came late on the command line', options, () => {
  test('an agent with nothing but a command under way says that its end wakes it', async (t) => {
    const { api, item } = await asked(t)
    const { workspace } = api.box
    const go = join(workspace, 'go')
    const cmd = `while [ -d ${workspace} ] && [ ! -e ${go} ]; do sleep 0.02; done`
    await api.post('/agents/main/tasks', { cmd, work_item_id: item.id })
    await api.post(`/agents/main/work-items/${item.id}/complete`, {})
    const holon = await leftBy(t, api)
    const list = await holon('agents', 'list')
    writeFileSync(go, '')
    assert.match(list.out, /^main\tsleeps until a task ends\t/m, list.err)
  })

  test('stands with its item, and in the inbox until it is put away', async (t) => {
    const { api, item } = await asked(t)
    const { workspace } = api.box
    const go = join(workspace, 'go')
    const cmd = `while [ -d ${workspace} ] && [ ! -e ${go} ]; do sleep 0.02; done; exit 3`
    await api.post('/agents/main/tasks', { cmd, work_item_id: item.id })
    await api.post(`/agents/main/work-items/${item.id}/complete`, {})
    writeFileSync(go, '')
    await api.box.until(
      (notice) =>
        notice.kind === 'committed' &&
        notice.events.some(({ event }) => event.type === 'task_ended'),
      'the end of the command',
    )
    const holon = await leftBy(t, api)
    const shown = await holon('work', 'show', item.id)
    assert.match(shown.out, /^! came late: task_\w+ \(.*\): completed, exit status 3, /m, shown.err)
    const inbox = await holon('inbox')
    assert.match(inbox.out, /ended after its item was done: completed, exit status 3/)
    const msg = /holon inbox dismiss (msg_\w+)/.exec(inbox.out)?.[1] ?? 'none'
    await holon('inbox', 'dismiss', msg)
    assert.equal((await holon('inbox')).out, 'nothing needs you\n')
  })
})

describe('agents and tasks beside a daemon', options, () => {
  test('an agent is made from a template, configured and shown', async (t) => {
    const at = new ServedHome(t)
    const template = join(at.home, 'templates', 'reviewer')
    mkdirSync(template, { recursive: true, mode: 0o700 })
    writeFileSync(join(template, 'AGENTS.md'), '# How to review\n')
    writeFileSync(join(template, 'agent.json'), '{"model":"runbook"}')
    await at.serve()
    const none = await at.holon('agents', 'create', 'docs', '--template', 'nobody')
    assert.deepEqual(
      [none.exit, none.err.startsWith('holon: there is no template "nobody"')],
      [2, true],
    )
    assert.equal((await at.holon('agents', 'create', 'docs', '--template', 'reviewer')).exit, 0)
    assert.equal(at.file('agents/docs/AGENTS.md'), '# How to review\n')
    assert.equal(at.file('agents/docs/agent.json'), null)
    const missing = await at.holon('agents', 'configure', 'docs', '--workspace', 'nowhere')
    assert.deepEqual([missing.exit, / no folder .*nowhere/.test(missing.err)], [2, true])
    const set = await at.holon('agents', 'configure', 'docs', '--workspace', at.folder)
    assert.equal(set.out, 'docs is configured.\n')
    const nothing = await at.holon('agents', 'configure', 'docs')
    assert.match(nothing.err, /no setting of docs is given; give --model/)
    const record = await at.json<AgentRecord>('agents', 'show', 'docs')
    assert.deepEqual(
      [record.template, record.model, record.workspace.root, record.workspace.mode],
      ['reviewer', 'runbook', at.folder, 'explicit_root'],
    )
  })

  test('a command is followed as it writes, and ends with its own exit', async (t) => {
    const at = new ServedHome(t)
    const starts = await served(at)
    const task = await starts(
      'echo one; echo two >&2; while [ -d "$PWD" ] && [ ! -e go ]; do sleep 0.05; done; exit 3',
    )
    const follow = at.start(['tasks', 'follow', task])
    await said(follow.child.stdout, /one/)
    writeFileSync(join(at.folder, 'go'), '')
    const { exit, out, err } = await follow.ended
    assert.deepEqual([exit, out], [1, 'one\n'])
    assert.match(err, /^two\ntask_\w+ {2}echo one; .*: exit 3, /)
    const [tail, stderr] = [
      await at.holon('tasks', 'output', task, '--tail', '1', '--stream', 'stdout'),
      await at.holon('tasks', 'output', task, '--stream', 'stderr'),
    ]
    assert.deepEqual([tail.out, stderr.out], ['one\n', 'two\n'])
    const input = await at.holon('tasks', 'input', task, 'yes')
    assert.deepEqual(
      [input.exit, /has ended: completed; holon tasks output/.test(input.err)],
      [1, true],
    )
  })

  test('who stops following leaves the command running', async (t) => {
    const at = new ServedHome(t)
    const starts = await served(at)
    const task = await starts('echo on; while [ -d "$PWD" ] && [ ! -e go ]; do sleep 0.05; done')
    const follow = at.start(['tasks', 'follow', task])
    await said(follow.child.stdout, /on/)
    follow.child.kill('SIGINT')
    const { exit, err } = await follow.ended
    assert.deepEqual([exit, / goes on; holon tasks follow task_/.test(err)], [130, true])
    const { tasks } = await at.json<{ tasks: TaskRecord[] }>('tasks')
    assert.deepEqual(
      tasks.map(({ id, status }) => [short(id), status]),
      [[task, 'running']],
    )
    writeFileSync(join(at.folder, 'go'), '')
    assert.equal((await at.holon('tasks', 'follow', task)).exit, 0)
  })
})

/** A daemon with an agent, and commands of the operator's in the folder of the test. */
async function served(at: ServedHome) {
  const { url } = await at.serve()
  assert.equal((await at.holon('agents', 'create', 'main', '--model', 'runbook')).exit, 0)
  return async (cmd: string): Promise<string> => {
    const body = JSON.stringify({ cmd, workdir: at.folder })
    const headers = { 'content-type': 'application/json' }
    const made = await at.fetch(url, '/agents/main/tasks', { method: 'POST', body, headers })
    assert.equal(made.status, 202)
    return short((made.body as { task: TaskRecord }).task.id)
  }
}
