/**
 * Checks with a real host, real commands, real git and a real server: what a completion owes is run
 * by the runtime in a clean process, and only results verify a claim.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { CheckGiven } from '../src/domain/checks/spec.ts'
import { isUnderWay } from '../src/domain/state/check.ts'
import { violations } from '../src/domain/invariants/of-an-agent.ts'
import { verificationOf } from '../src/domain/facts/verification.ts'
import type { HostNotice } from '../src/runtime/ports.ts'
import {
  openBox,
  temporaryHome,
  type HostFixture,
  type BoxOptions,
} from '../src/testing/host/host-fixture.ts'
import { scriptedModel, says } from '../src/testing/scripted-model.ts'

/** Answers every request in plain words: what is left to do is nothing. */
const quiet = scriptedModel(() => says('Understood.'))

async function boxWith(t: TestContext, options: Partial<BoxOptions> = {}): Promise<HostFixture> {
  const box = await openBox(t, { models: { default: quiet }, ...options })
  await box.makeAgent('test/quiet')
  return box
}

/** An item with these checks, completed with a claim before any turn could take it up; its id. */
async function claimed(box: HostFixture, ...checks: CheckGiven[]): Promise<string> {
  const made = await box.host.act({ do: 'create_item', agent_id: 'main', objective: 'x', checks })
  assert.ok(made.ok, JSON.stringify(made))
  const { id } = made
  assert.ok(id)
  const report = 'All tests pass, everything is verified.'
  await box.host.act({ do: 'complete', agent_id: 'main', work_item_id: id, report })
  await box.host.open()
  return id
}

const itemOf = (box: HostFixture, id: string) => {
  const item = box.host.facts('main')?.row('work_items', id)
  assert.ok(item, `${id} is not among the facts`)
  return item
}

/** Waits until the runtime has nothing of the item left to run. */
async function ran(box: HostFixture, id: string) {
  const over = () => !itemOf(box, id).checks.some(isUnderWay)
  await box.until(() => over(), `the checks of ${id}`)
  return itemOf(box, id)
}

const sound = async (box: HostFixture) => {
  const facts = box.host.facts('main')
  assert.ok(facts)
  assert.deepEqual(violations(facts, await box.ledger.events({ after: 0, limit: 10_000 })), [])
  assert.deepEqual((await box.ledger.verify()).problems, [])
}

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { cwd: folder })

function repository(folder: string): void {
  git(folder, 'init', '-q')
  writeFileSync(join(folder, 'a.txt'), 'one\n')
  writeFileSync(join(folder, '.gitignore'), 'out/\n')
  git(folder, 'add', '.')
  git(folder, 'commit', '-qm', 'first')
}

test('commands, files and addresses that pass on one tree verify the claim', async (t) => {
  const server = createServer((_, answer) => answer.writeHead(204).end())
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/health`
  const places = temporaryHome(t)
  repository(places.workspace)
  const box = await boxWith(t, { ...places, base_url: 'http://127.0.0.1:1' })
  const id = await claimed(
    box,
    // What the agent's own commands find is not there, nor is what it could leave in a shell.
    { kind: 'command', name: 'clean', cmd: 'test -z "$HOLON_TRIGGER_URL" && pwd && mkdir -p out' },
    { kind: 'file', name: 'there', path: 'a.txt', expect: { contains: 'one' } },
    { kind: 'file', name: 'gone', path: 'b.txt', expect: { exists: false } },
    { kind: 'http', name: 'health', url, status: 204 },
  )
  const item = await ran(box, id)
  const { tree, state } = verificationOf(item)
  assert.equal(state, 'verified', JSON.stringify(item.checks, null, 1))
  assert.match(tree ?? '', /^[0-9a-f]{40}$/)
  assert.equal(
    item.checks[0]?.run?.state === 'finished' && item.checks[0].run.tail.trim(),
    box.workspace,
  )
  assert.equal((await box.ledger.list('messages', { limit: 10 })).length, 0)
  await sound(box)
})

test('a false "all tests pass" stays claimed: the failure is told the operator and the agent', async (t) => {
  const box = await boxWith(t)
  const cmd = 'echo "not ok 1 - it adds"; exit 3'
  const id = await claimed(box, { kind: 'command', name: 'tests', cmd })
  const item = await ran(box, id)
  assert.equal(item.state, 'completed')
  assert.equal(verificationOf(item).state, 'failed')
  const ended = (one: HostNotice) =>
    one.kind === 'committed' && one.events.some(({ event }) => event.type === 'turn_ended')
  await box.until(ended, 'the turn about the failure')
  const messages = await box.ledger.list('messages', { limit: 10 })
  assert.deepEqual(
    messages.map(({ kind, status, work_item_id }) => [kind, status, work_item_id]),
    [['internal_followup', 'consumed', id]],
  )
  assert.match(messages[0]?.body ?? '', /not ok 1 - it adds/)
  const briefs = await box.ledger.list('briefs', { limit: 10 })
  assert.deepEqual(briefs.map(({ kind }) => kind).toSorted(), ['failure', 'progress', 'result'])
  await sound(box)
})

test('a check that changes the files it is about does not verify', async (t) => {
  const places = temporaryHome(t)
  repository(places.workspace)
  const box = await boxWith(t, places)
  const id = await claimed(box, { kind: 'command', name: 'writes', cmd: 'echo two >> a.txt' })
  assert.equal(verificationOf(await ran(box, id)).state, 'changed')
  await box.host.act({ do: 'run_checks', agent_id: 'main', work_item_id: id })
  assert.equal((await ran(box, id)).checks[0]?.run?.n, 2)
})

test('what is beyond a limit or outside fails with its reason and stops nothing', async (t) => {
  const box = await boxWith(t)
  writeFileSync(join(box.home, 'secret.txt'), 'not for you')
  execFileSync('ln', ['-s', join(box.home, 'secret.txt'), join(box.workspace, 'link')])
  const id = await claimed(
    box,
    { kind: 'command', name: 'slow', cmd: 'sleep 60', timeout_ms: 300 },
    { kind: 'command', name: 'nowhere', cmd: 'true', workdir: 'no/such/folder' },
    { kind: 'command', name: 'no-program', cmd: 'no-such-program-at-all' },
    { kind: 'file', name: 'link', path: 'link', expect: { contains: 'not for you' } },
    { kind: 'http', name: 'closed', url: 'http://127.0.0.1:9/', status: 200 },
  )
  const { checks } = await ran(box, id)
  const ends = checks.map(({ name, run }) =>
    run?.state === 'finished' ? [name, run.outcome, run.exit_status] : [name],
  )
  assert.deepEqual(ends, [
    ['slow', 'failed', ends[0]?.[2]],
    ['nowhere', 'failed', null],
    ['no-program', 'failed', 127],
    ['link', 'failed', null],
    ['closed', 'failed', null],
  ])
  const slow = checks[0]?.run
  assert.equal(slow?.state === 'finished' && slow.reason, 'timeout')
  await sound(box)
})

test('a check outlives its daemon: the next one follows it to its end', async (t) => {
  const places = temporaryHome(t)
  const first = await boxWith(t, places)
  const cmd = 'echo began >> log; while [ -d "$PWD" ] && [ ! -e go ]; do sleep 0.05; done'
  const id = await claimed(first, { kind: 'command', name: 'long', cmd })
  await first.until(
    () =>
      [...(first.host.facts('main')?.rows('tasks') ?? [])].some((one) => one.status === 'running'),
    'its command to run',
  )
  await first.close()
  writeFileSync(join(places.workspace, 'go'), '')
  const second = await boxWith(t, places)
  await second.host.open()
  assert.equal(verificationOf(await ran(second, id)).state, 'verified')
  const log = execFileSync('cat', ['log'], { cwd: places.workspace }).toString()
  assert.equal(log, 'began\n')
  await sound(second)
})

test('a check that the operator stops is unknown, and may be run again', async (t) => {
  const box = await boxWith(t)
  const id = await claimed(box, { kind: 'command', name: 'long', cmd: 'test -e go || sleep 60' })
  const found = await box.until(
    (one) =>
      one.kind === 'committed' && one.events.some(({ event }) => event.type === 'task_started'),
    'its command to run',
  )
  assert.ok(found.kind === 'committed')
  const task = [...(box.host.facts('main')?.rows('tasks') ?? [])][0]
  assert.ok(task)
  await box.host.act({ do: 'stop_task', agent_id: 'main', task_id: task.id })
  assert.equal(verificationOf(await ran(box, id)).state, 'unknown')
  writeFileSync(join(box.workspace, 'go'), '')
  await box.host.act({ do: 'run_checks', agent_id: 'main', work_item_id: id })
  assert.equal(verificationOf(await ran(box, id)).state, 'verified')
})
