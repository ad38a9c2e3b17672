/**
 * The demonstration as `npm run demo` starts it: a real daemon with agents in every state a person
 * can meet, which answers, and which leaves no process behind.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { Api } from '../src/client/api.ts'
import { Holon } from '../src/client/holon.ts'
import type { WorkItemRecord } from '../src/protocol/records/work-item-record.ts'
import { readToken } from '../src/main/homes/control.ts'
import { clock, ids } from '../src/main/machine/machine.ts'
import { said } from './support/served-home.ts'
import { leftProcesses } from './support/processes.ts'

const script = join(import.meta.dirname, '..', 'scripts', 'demo.mjs')

function start(args: readonly string[]) {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = Promise.withResolvers<number | null>()
  child.on('exit', ended.resolve)
  return { child, ended: ended.promise, err: text(child.stderr) }
}

const everybody = ['main', 'deploy', 'release', 'ops', 'docs', 'writer'].concat([
  'review',
  'night',
  'site',
])
const stateOf = ({ scheduling_state, verification }: WorkItemRecord): string =>
  scheduling_state === 'completed'
    ? `completed, ${verification?.state ?? 'claimed'}`
    : scheduling_state

test('the demonstration has every state, takes an answer, and leaves nothing running', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holon-demo-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const demo = start(['--json', '--folder', folder])
  // It stops what it started; a kill would leave the daemon.
  t.after(async () => {
    demo.child.kill('SIGINT')
    await demo.ended
  })
  const line = await said(demo.child.stdout, /\n/)
  const { ready } = JSON.parse(line) as { ready: { url: string; home: string } }
  assert.equal(ready.home, join(folder, 'home'))
  const ports = {
    fetch: (url: string, init: RequestInit) => fetch(url, init),
    clock,
    mint_key: () => ids.mint('key'),
    token: () => readToken(ready.home),
  }
  const holon = new Holon(new Api(ports, { base_url: ready.url }))
  const inbox = await holon.ask('GET /attention', {})
  assert.ok(inbox.ok)
  assert.deepEqual(
    inbox.value.attention.map(({ agent_id, kind }) => `${agent_id}: ${kind}`).toSorted(),
    [
      'deploy: question',
      'docs: held',
      'night: blocked',
      'ops: arrived',
      'release: question',
      'writer: budget',
    ],
  )
  const states: string[] = []
  for (const agent of everybody) {
    const query = { filter: 'all' as const }
    const list = await holon.ask('GET /agents/{agent}/work-items', { agent, query })
    assert.ok(list.ok)
    states.push(...list.value.work_items.map((item) => `${agent}: ${stateOf(item)}`))
  }
  assert.deepEqual(states.toSorted(), [
    'deploy: waiting_operator',
    'docs: runnable',
    'main: completed, claimed',
    'main: runnable',
    'main: waiting_task',
    'main: waiting_timer',
    'night: blocked',
    'night: completed, claimed',
    'ops: waiting_external',
    'release: waiting_operator',
    'review: waiting_task',
    'site: completed, verified',
    'writer: waiting_operator',
  ])

  const [question] = inbox.value.attention.filter(({ agent_id }) => agent_id === 'release')
  const answered = await holon.ask('POST /agents/{agent}/waits/{wait}/answer', {
    agent: 'release',
    wait: question?.id ?? '',
    body: { text: '1', bound_hash: question?.bound_hash ?? '' },
  })
  assert.ok(answered.ok)
  const until = clock.monotonic() + 30_000
  for (;;) {
    assert.ok(clock.monotonic() < until, 'the answered item was never completed')
    const query = { filter: 'completed' as const }
    const list = await holon.ask('GET /agents/{agent}/work-items', { agent: 'release', query })
    assert.ok(list.ok)
    if (list.value.work_items.length === 1) break
    await clock.sleep(20)
  }

  demo.child.kill('SIGINT')
  assert.deepEqual([await demo.ended, await demo.err], [0, ''])
  assert.deepEqual(await leftProcesses(folder), [])
  assert.ok(existsSync(join(ready.home, 'ledger')), 'a folder that was named is kept')
})

test('the demonstration refuses a folder it has used, and a port that is none', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holon-demo-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const wrong = start(['--folder', folder, '--port', 'x'])
  assert.deepEqual([await wrong.ended, await wrong.err], [2, 'demo: --port x is no port\n'])
  assert.deepEqual(readdirSync(folder), [])
  mkdirSync(join(folder, 'home', 'ledger'), { recursive: true })
  const used = start(['--folder', folder])
  const says = `demo: ${folder} has a demonstration already: name a new folder\n`
  assert.deepEqual([await used.ended, await used.err], [2, says])
})

/** What a person would see in a shell, without the times and the sums that grow with them. */
async function screensOf(t: TestContext): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'holon-demo-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const demo = start(['--json', '--folder', folder])
  t.after(async () => {
    demo.child.kill('SIGINT')
    await demo.ended
  })
  const { ready } = JSON.parse(await said(demo.child.stdout, /\n/)) as { ready: { home: string } }
  const main = join(import.meta.dirname, '..', 'src', 'main.ts')
  const screens: string[] = []
  for (const command of ['work list --all', 'inbox', 'agents', 'tasks', 'waits', 'briefs']) {
    const args = [main, '--home', ready.home, ...command.split(' ')]
    const shown = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    screens.push(withoutTimes((await text(shown.stdout)).replaceAll(folder, '<folder>')))
  }
  demo.child.kill('SIGINT')
  assert.equal(await demo.ended, 0)
  return screens
}
const withoutTimes = (screen: string): string =>
  screen.replaceAll(/\d+:\d\d(?::\d\d)?|\d+ (?:s|m|h)\b|\$\d+\.\d+|\d{4}-\d\d-\d\d/g, '<t>')

test('every start of the demonstration has the same screens, with the same ids', async (t) => {
  const first = await screensOf(t)
  assert.ok(first.every((screen) => screen !== ''))
  assert.deepEqual(await screensOf(t), first)
})
