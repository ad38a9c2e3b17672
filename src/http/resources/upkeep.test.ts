// Upkeep over HTTP, on a real ledger with a virtual clock: what goes, what is refused, and that
// there is only one at a time.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { openApi, type ApiBox } from '../../testing/http/api.ts'
import { fakeHome, problemIn } from '../../testing/http/http-home.ts'
import { says, scriptedModel } from '../../testing/scripted-model.ts'
import { tasksIn } from '../../testing/host/tasks-in.ts'
import { virtualClock } from '../../testing/virtual-clock.ts'

const day = 86_400_000

/** A request that was remembered by its key long ago, and one of today. */
async function agedHome(t: TestContext): Promise<ApiBox> {
  const clock = virtualClock()
  const api = await openApi(t, { clock })
  const once = (key: string) =>
    api.post('/agents/main/triggers', { label: key }, { 'idempotency-key': key })
  await once('long-ago')
  await clock.advance(100 * day)
  await once('today')
  return api
}

const happened = ({ box }: ApiBox, type: 'message_consumed' | 'task_ended', id: string) =>
  box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.events.some(({ event }) => event.type === type && event.id === id),
    `${type} of ${id}`,
  )

type Started = { task: { id: string } }
type Retained = { dry_run: boolean; before: string; events: number; rows: Record<string, number> }

describe('retention of a home that is served', () => {
  test('a dry run counts what the real one then takes; a second one finds nothing', async (t) => {
    const api = await agedHome(t)
    const retain = (dry_run: boolean) =>
      api.post<Retained>('/upkeep/retention', { keep_days: 30, dry_run })
    const would = await retain(true)
    const did = await retain(false)
    assert.ok(would.events > 0, JSON.stringify(would))
    assert.deepEqual(would.rows, { receipts: 1 })
    assert.deepEqual({ ...did, dry_run: true }, would)
    assert.deepEqual((await retain(false)).rows, {})
    const { ok, problems } = await api.box.ledger.verify()
    assert.deepEqual([ok, problems], [true, []])
  })

  test('what a key was answered with stays as long as the key: the same again is the same answer', async (t) => {
    const clock = virtualClock()
    const model = scriptedModel(() => says('Done.'))
    const api = await openApi(t, { clock, models: { default: model } })
    await api.box.host.open()
    const key = { 'idempotency-key': 'once' }
    const send = () =>
      api.post<{ message_id: string }>('/agents/main/messages', { text: 'hello' }, key)
    const run = async () =>
      (await api.post<Started>('/agents/main/tasks', { cmd: 'true' }, key)).task
    const [message, task] = [await send(), await run()]
    await happened(api, 'message_consumed', message.message_id)
    await happened(api, 'task_ended', task.id)
    const retain = async () => {
      const before = new Date(clock.now()).toISOString()
      await api.post('/upkeep/retention', { before, dry_run: false })
    }
    await clock.advance(60_000)
    await retain()
    assert.deepEqual(await send(), message)
    assert.equal((await run()).id, task.id)
    await clock.advance(day + 1)
    await retain()
    assert.deepEqual(await api.box.ledger.row('messages', message.message_id), null)
    assert.notEqual((await send()).message_id, message.message_id)
    const { ok, problems } = await api.box.ledger.verify()
    assert.deepEqual([ok, problems], [true, []])
  })

  test('the folder of a task goes with its row, also when a kill came in between', async (t) => {
    const clock = virtualClock()
    const model = scriptedModel(() => says('Done.'))
    const api = await openApi(t, { clock, models: { default: model } })
    await api.box.host.open()
    const run = async (cmd: string) => (await api.post<Started>('/agents/main/tasks', { cmd })).task
    const { id } = await run('echo said')
    await happened(api, 'task_ended', id)
    await clock.advance(100 * day)
    const { id: young } = await run('echo young')
    await happened(api, 'task_ended', young)
    const tasks = join(api.box.home, 'tasks')
    mkdirSync(join(tasks, 'task_of-a-run-that-was-killed'))
    await api.post('/upkeep/retention', { keep_days: 30, dry_run: true })
    assert.deepEqual(tasksIn(tasks), [id, young, 'task_of-a-run-that-was-killed'].toSorted())
    await api.post('/upkeep/retention', { keep_days: 30, dry_run: false })
    assert.deepEqual(tasksIn(tasks), [young])
  })

  test('what was too long for a request goes with its row, and other files stay', async (t) => {
    const clock = virtualClock()
    const model = scriptedModel(() => says('Done.'))
    const api = await openApi(t, { clock, models: { default: model } })
    await api.box.host.open()
    const send = async (text: string) => {
      const { message_id } = await api.post<{ message_id: string }>('/agents/main/messages', {
        text,
      })
      await happened(api, 'message_consumed', message_id)
      const [turn] = await api.box.ledger.list('turns', { limit: 1 })
      return [message_id, turn?.id ?? assert.fail()]
    }
    const old = await send('old')
    await clock.advance(100 * day)
    const young = await send('young')
    const folder = join(api.box.home, 'outputs')
    mkdirSync(folder, { recursive: true })
    const others = ['notes.txt', 'call_1.txt.tmp', 'task_1.txt']
    const kept = [...young.map((id) => `${id}.txt`), ...others].toSorted()
    const gone = [...old, 'call_of-a-run-that-was-killed'].map((id) => `${id}.txt`)
    for (const name of [...kept, ...gone]) writeFileSync(join(folder, name), 'long')
    await api.post('/upkeep/retention', { keep_days: 30, dry_run: true })
    assert.equal(readdirSync(folder).length, kept.length + gone.length)
    await api.post('/upkeep/retention', { keep_days: 30, dry_run: false })
    assert.deepEqual(readdirSync(folder).toSorted(), kept)
  })

  const refused: [name: string, body: object, code: string][] = [
    ['nothing that says what may go', { dry_run: true }, 'horizon_invalid'],
    [
      'two horizons',
      { keep_days: 30, before: '2026-01-01T00:00:00.000Z', dry_run: true },
      'horizon_invalid',
    ],
    ['a time to come', { before: '2126-01-01T00:00:00.000Z', dry_run: true }, 'horizon_invalid'],
    ['fewer days than ids are remembered', { keep_days: 7, dry_run: true }, 'invalid_request'],
    ['a request that does not say whether it is a dry run', { keep_days: 30 }, 'invalid_request'],
  ]
  for (const [name, body, code] of refused) {
    test(`${name} is refused`, async (t) => {
      const api = await openApi(t)
      assert.equal((await api.refused('POST', '/upkeep/retention', body)).code, code)
    })
  }

  test('without a horizon it keeps what the configuration keeps', async () => {
    const fake = fakeHome()
    fake.state.upkeep.keep_days = 10
    const response = await fake.ask('/upkeep/retention', posting({ dry_run: true }))
    const { before } = (await response.json()) as Retained
    assert.equal(before, new Date(fake.clock.now() - 10 * day).toISOString())
  })

  test('a home that cannot be written only counts', async () => {
    const fake = fakeHome()
    fake.state.degraded = { code: 'disk_full', message: 'The disk is full.', retry_after_s: 30 }
    const ask = (dry_run: boolean) =>
      fake.ask('/upkeep/retention', posting({ keep_days: 30, dry_run }))
    assert.deepEqual(await problemIn(await ask(false)), [503, 'degraded'])
    assert.equal((await ask(true)).status, 200)
  })
})

const posting = (body: object) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

type Made = { path: string; files: number; not_included: { path: string }[] }

describe('a backup of a home that is served', () => {
  test('is made where it was asked for, without secrets unless they are wanted', async (t) => {
    const api = await openApi(t)
    writeFileSync(join(api.box.home, 'control-token'), 'a token', { mode: 0o600 })
    const to = join(api.box.workspace, 'backups')
    const made = await api.post<Made>('/upkeep/backup', { to })
    assert.ok(made.path.startsWith(`${to}/holon-backup-`), made.path)
    assert.ok(existsSync(join(made.path, 'manifest.json')))
    assert.ok(made.not_included.some(({ path }) => path === 'control-token'))
    assert.ok(!existsSync(join(made.path, 'control-token')))
    const again = join(api.box.workspace, 'more')
    const whole = await api.post<Made>('/upkeep/backup', { to: again, with_secrets: true })
    assert.ok(existsSync(join(whole.path, 'control-token')))
  })

  test('a relative path, the home itself, a folder in it and a link to it are refused', async (t) => {
    const api = await openApi(t)
    const { home, workspace } = api.box
    mkdirSync(join(home, 'agents'), { recursive: true })
    symlinkSync(join(home, 'agents'), join(workspace, 'link'))
    writeFileSync(join(workspace, 'file'), '')
    const paths = [
      'backups',
      home,
      join(home, 'backups'),
      join(workspace, '..', 'home', 'x'),
      join(workspace, 'link', 'not', 'yet'),
      join(workspace, 'file'),
    ]
    for (const to of paths) {
      const { code, status } = await api.refused('POST', '/upkeep/backup', { to })
      assert.deepEqual([code, status], ['path_invalid', 422], to)
    }
  })

  test('one that cannot be made says why, and leaves nothing', async (t) => {
    const api = await openApi(t)
    const to = join(api.box.workspace, 'file', 'below')
    writeFileSync(join(api.box.workspace, 'file'), '')
    const { code, detail } = await api.refused('POST', '/upkeep/backup', { to })
    assert.equal(code, 'backup_failed')
    assert.ok(detail.startsWith(`No backup is made in ${to}: `), detail)
    assert.deepEqual(api.errors, [])
  })
})

test('a second piece of upkeep is refused while the first one runs, and may come after it', async (t) => {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  let held = true
  const api = await openApi(t, {
    over: (ledger) => ({
      ...ledger,
      async retain(options) {
        begun.resolve()
        if (held) await gate.promise
        return ledger.retain(options)
      },
    }),
  })
  const body = { keep_days: 30, dry_run: true }
  const first = api.post('/upkeep/retention', body)
  await begun.promise
  const to = api.box.workspace
  for (const [path, asked] of [
    ['/upkeep/retention', body],
    ['/upkeep/backup', { to }],
  ] as const) {
    const { status, code, detail } = await api.refused('POST', path, asked)
    assert.deepEqual([status, code, detail], [409, 'upkeep_running', 'A retention is running.'])
  }
  held = false
  gate.resolve()
  await first
  assert.ok((await api.post<Made>('/upkeep/backup', { to })).path.startsWith(to))
})
