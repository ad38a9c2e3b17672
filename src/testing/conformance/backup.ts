/**
 * Conformance of backups: one moment of a home that goes on, and a home from it that is whole, or
 * no home.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import type { Ledger, Manifest } from '../../ledger/port.ts'
import type { Cases } from './case.ts'
import { laneOf, type LedgerWorld } from '../world/ledger-world.ts'
import { itemCreated, messageAdmitted, requestSent, turnStarted } from '../events.ts'

const now = '2026-01-02T03:04:05.678Z'
/** One is a row of the database, the other a file. */
const [aPlan, anOpening] = ['a plan', 'an opening '.repeat(9_000)]

/** What stands in the home beside the ledger. */
const beside: Readonly<Record<string, string>> = {
  'agents/main/AGENTS.md': 'be kind',
  'agents/main/work-items/work_1/plan.md': '1. water',
  'outputs/call_1.txt': 'a long output',
  'config.json': '{}',
  'control-token': 'hush',
  'trigger-secret': 'hush',
  'tasks/task_1/state': 'running',
  'door.json': '{}',
}

async function inhabited(ledger: Ledger, home: string): Promise<LedgerWorld> {
  for (const [path, words] of Object.entries(beside)) {
    await mkdir(dirname(join(home, path)), { recursive: true })
    await writeFile(join(home, path), words, { mode: 0o600 })
  }
  await symlink('AGENTS.md', join(home, 'agents/main/link'))
  const lane = await laneOf(ledger)
  const item = itemCreated()
  const turn = turnStarted({ work_item_id: item.id })
  const plan = { path: 'p', sha256: null, bytes: 1, good_sha256: lane.blob(aPlan) }
  const opening_sha256 = lane.blob(anOpening)
  const request = requestSent(turn.id, 1, { opening_sha256 })
  await lane.emit({ ...item, plan }, messageAdmitted(), turn, request)
  return lane
}

const pathsOf = (manifest: Manifest) => manifest.files.map(({ path }) => path)

export const backupCases: Cases = {
  'a backup names every file with its hash, and what it leaves behind': async (store, home) => {
    const ledger = await store.open(`${home}/old`)
    const lane = await inhabited(ledger, `${home}/old`)
    const [round] = await ledger.list('rounds', { limit: 1 })
    const opening = round?.opening_sha256 ?? ''
    const { path, manifest } = await ledger.backup({ to: `${home}/kept`, now, with_secrets: false })

    assert.equal(path, `${home}/kept/holon-backup-20260102T030405.678Z`)
    assert.deepEqual(await readdir(`${home}/kept`), ['holon-backup-20260102T030405.678Z'])
    assert.deepEqual(JSON.parse(await readFile(join(path, 'manifest.json'), 'utf8')), manifest)
    assert.deepEqual(pathsOf(manifest), [
      'agents/main/AGENTS.md',
      'agents/main/work-items/work_1/plan.md',
      'config.json',
      `ledger/blobs/${opening.slice(0, 2)}/${opening}`,
      'ledger/ledger.sqlite',
      'outputs/call_1.txt',
    ])
    for (const { path: inside, bytes, sha256 } of manifest.files) {
      const found = await readFile(join(path, inside))
      assert.equal(found.length, bytes)
      assert.equal(createHash('sha256').update(found).digest('hex'), sha256)
      assert.equal((await stat(join(path, inside))).mode & 0o77, 0)
    }
    assert.deepEqual(manifest.links, [{ path: 'agents/main/link', target: 'AGENTS.md' }])
    assert.deepEqual(
      manifest.not_included.map(({ path: left }) => left),
      ['control-token', 'door.json', 'tasks', 'trigger-secret'],
    )
    const { made_at, last_global_seq, heads } = manifest
    const [event] = await ledger.eventPage({ before: 100, limit: 1 })
    assert.deepEqual([made_at, last_global_seq], [now, lane.facts.seq])
    assert.deepEqual(
      heads.map(({ agent_id, seq }) => [agent_id, seq]),
      [['main', event?.seq]],
    )
    await assert.rejects(ledger.backup({ to: `${home}/kept`, now, with_secrets: false }), {
      code: 'io',
      message: /is there already/,
    })
    await ledger.close()
  },

  'a backup is one moment of an owner that goes on, and of a reader beside one': async (
    store,
    home,
  ) => {
    const ledger = await store.open(`${home}/old`)
    const lane = await inhabited(ledger, `${home}/old`)
    await lane.emit(...Array.from({ length: 2_000 }, () => messageAdmitted()))
    const copying = { done: false }
    const reader = await store.openReader(`${home}/old`)
    const made = Promise.all([
      ledger.backup({ to: `${home}/own`, now, with_secrets: false }),
      reader.backup({ to: `${home}/read`, now, with_secrets: false }),
    ]).finally(() => (copying.done = true))
    const start = lane.facts.seq
    while (!copying.done) {
      const large = lane.facts.seq % 3 === 0 ? anOpening : ''
      const good_sha256 = lane.blob(`opening ${lane.facts.seq} ${large}`)
      const plan = { path: 'p', sha256: null, bytes: 1, good_sha256 }
      await lane.emit(itemCreated({ plan }), messageAdmitted())
      await breathe()
    }
    await reader.close()
    const events = await ledger.eventPage({ limit: 100_000 })
    await ledger.close()
    for (const [i, { path, manifest }] of (await made).entries()) {
      const copy = `${home}/copy-${i}`
      await store.restore(path, copy)
      const restored = await store.open(copy)
      assert.deepEqual((await restored.verify()).problems, [])
      const { last_global_seq: last } = manifest
      assert.ok(last >= start && last <= lane.facts.seq, `${last}`)
      assert.deepEqual(await restored.eventPage({ limit: 100_000 }), events.slice(0, last))
      await restored.close()
    }
  },

  'a restored home has everything but what was left behind, and a later epoch': async (
    store,
    home,
  ) => {
    const ledger = await store.open(`${home}/old`)
    const lane = await inhabited(ledger, `${home}/old`)
    const { path, manifest } = await ledger.backup({ to: home, now, with_secrets: true })
    const [live, events] = [await ledger.live('main'), await ledger.eventPage({ limit: 99 })]
    await mkdir(`${home}/empty`)
    assert.deepEqual(await store.restore(path, `${home}/empty`), {
      home: `${home}/empty`,
      manifest,
      moved_from: `${home}/old`,
    })
    await rm(`${home}/old/tasks`, { recursive: true })
    await rm(`${home}/old/door.json`)

    for (const [inside, words] of Object.entries(beside)) {
      if (inside === 'door.json' || inside.startsWith('tasks/')) continue
      assert.equal(await readFile(join(home, 'empty', inside), 'utf8'), words)
      assert.equal((await stat(join(home, 'empty', inside))).mode & 0o777, 0o600)
    }
    assert.equal(await readlink(`${home}/empty/agents/main/link`), 'AGENTS.md')
    assert.deepEqual(
      (await readdir(`${home}/empty`)).toSorted(),
      (await readdir(`${home}/old`)).toSorted(),
    )
    lane.ledger = await store.open(`${home}/empty`)
    assert.deepEqual(await lane.ledger.live('main'), live)
    assert.deepEqual(await lane.ledger.eventPage({ limit: 99 }), events)
    await lane.emit(messageAdmitted())
    assert.deepEqual((await lane.ledger.verify()).problems, [])
    await lane.ledger.close()
    await ledger.close()
  },

  'one changed, missing or added byte in a backup is refused, by the name of its file': async (
    store,
    home,
  ) => {
    const ledger = await store.open(`${home}/old`)
    await inhabited(ledger, `${home}/old`)
    const { path, manifest } = await ledger.backup({ to: home, now, with_secrets: true })
    await ledger.close()
    const refused = (name: string) =>
      assert.rejects(store.restore(path, `${home}/new`), (fault: Error & { code: string }) => {
        assert.equal(fault.code, 'corrupt')
        assert.ok(fault.message.includes(name), `${name}: ${fault.message}`)
        return true
      })
    for (const { path: inside } of manifest.files) {
      const file = join(path, inside)
      const whole = await readFile(file)
      const changed = Uint8Array.from(whole)
      const middle = changed.length >> 1
      changed[middle] = (changed[middle] ?? 0) ^ 1
      await writeFile(file, changed)
      await refused(file)
      await writeFile(file, Uint8Array.from([...whole, 33]))
      await refused(file)
      await writeFile(file, whole)
      await truncate(file, whole.length - 1)
      await refused(file)
      await rm(file)
      await refused(file)
      await symlink(`${home}/elsewhere`, file)
      await refused(file)
      await rm(file)
      await writeFile(file, whole)
    }
    assert.deepEqual((await readdir(home)).toSorted(), ['holon-backup-20260102T030405.678Z', 'old'])
    await store.restore(path, `${home}/new`)
  },

  'a home is restored where nothing is, and only from a backup': async (store, home) => {
    const ledger = await store.open(`${home}/old`)
    await inhabited(ledger, `${home}/old`)
    const { path, manifest } = await ledger.backup({ to: home, now, with_secrets: false })
    await ledger.close()
    await assert.rejects(store.restore(path, `${home}/old`), {
      code: 'io',
      message: /old is not empty: a backup is restored into a new home/,
    })
    await assert.rejects(store.restore(`${home}/old`, `${home}/new`), {
      code: 'io',
      message: /is no backup: manifest.json/,
    })
    const rewrite = (more: object) =>
      writeFile(join(path, 'manifest.json'), JSON.stringify({ ...manifest, ...more }))
    await rewrite({ schema: 99 })
    await assert.rejects(store.restore(path, `${home}/new`), { code: 'newer_schema' })
    for (const outside of ['../out', '/etc/out', 'a/../../out']) {
      await rewrite({ links: [{ path: outside, target: '/etc/passwd' }] })
      await assert.rejects(store.restore(path, `${home}/new`), {
        code: 'corrupt',
        message: /names .*out, which is not in the backup/,
      })
    }
    for (const format of [0, 2]) {
      await rewrite({ format })
      await assert.rejects(store.restore(path, `${home}/new`), { code: 'newer_schema' })
    }
    const [database] = manifest.files.filter(({ path: inside }) => inside.endsWith('.sqlite'))
    assert.ok(database)
    const seq = manifest.last_global_seq
    for (const [more, says] of [
      [{ files: manifest.files.filter((file) => file !== database) }, /does not name ledger/],
      [
        { files: [...manifest.files, { ...database, path: '../out' }] },
        /which is not in the backup/,
      ],
      [{ last_global_seq: 99 }, new RegExp(`ends with event ${seq}`)],
      [{ schema: manifest.schema - 1 }, new RegExp(`has schema ${manifest.schema} `)],
    ] as const) {
      await rewrite(more)
      await assert.rejects(store.restore(path, `${home}/new`), { code: 'corrupt', message: says })
    }
    assert.deepEqual((await readdir(home)).toSorted(), ['holon-backup-20260102T030405.678Z', 'old'])
  },
}
