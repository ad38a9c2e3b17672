/**
 * A search looks at so many entries and no more, whatever they are, and keeps few files at once.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { FileEntry } from '../../exec/ports.ts'
import { memoryHome } from '../../testing/world/memory-home.ts'
import { lookAtFiles, MEMORY_FILES_MOST } from './files.ts'
import { MEMORY_FILE_MAX_BYTES } from './records.ts'

type Kind = FileEntry['kind']

/** In the memory of a workspace more of one kind than a search looks at, without an end below. */
function folders(kind: Kind, size: number) {
  let asked = 0
  const ask = () => assert.ok((asked += 1) < 10 * MEMORY_FILES_MOST, `${kind} without an end`)
  const entries = Array.from({ length: 1_500 }, (_, n): FileEntry => ({ name: `n${n}`, kind }))
  const files = {
    list: async (path: string) => {
      ask()
      return path.includes('/.agents/memory') ? entries : []
    },
    stat: async (path: string) => {
      ask()
      const is = /\.agents(\/memory)?$/.test(path) ? 'folder' : kind
      return { kind: is, size, mode: 0o644, updated_at: '2026-01-01T00:00:00.000Z' as const }
    },
  }
  return { files, asked: () => asked }
}

const kinds = { file: 0, folder: 0, link: 0, other: 0 } satisfies Record<Kind, number>

test('more entries than a search looks at cost it no more, whatever they are', async () => {
  const sizes = [1, MEMORY_FILE_MAX_BYTES + 1]
  for (const kind of Object.keys(kinds) as Kind[]) {
    for (const size of sizes) {
      const { files, asked } = folders(kind, size)
      const places = ['/one', '/two', '/three']
      for (const place of places) {
        const index = { stamps: async () => new Map() }
        const ports = { home: '/home', files: files as never, index }
        const before = asked()
        const { changed, left_out } = await lookAtFiles(ports, [], place)
        const cost = asked() - before
        assert.ok(cost <= 2 * MEMORY_FILES_MOST + 10, `${kind} ${size}: ${cost}`)
        assert.ok(changed.length <= MEMORY_FILES_MOST)
        if (kind === 'folder')
          assert.equal(left_out, `only ${MEMORY_FILES_MOST} files were looked at`)
      }
    }
  }
})

/** A workspace with so many new files, and a clock on which every reading of it takes 10 ms. */
async function many(
  t: Parameters<typeof memoryHome>[0],
  count: number,
  text: (n: number) => string,
) {
  const kept: number[] = []
  let now = 0
  const box = await memoryHome(t, {
    clock: { monotonic: () => (now += 10), after: () => () => {} },
    over: (index) => ({
      ...index,
      write(batch) {
        kept.push(batch.put.length)
        now += 100
        return index.write(batch)
      },
    }),
  })
  const root = box.workspace('one', { '.agents/memory/a.md': 'an okapi' })
  for (let n = 0; n < count; n++) writeFileSync(join(root, `.agents/memory/${n}.md`), text(n))
  await box.lane('main', { workspace: { mode: 'explicit_root', root } })
  const search = async () => {
    const asked = { query: 'okapi', kinds: null, agent_id: null, limit: 5 }
    const found = await box.memory.search('main', asked)
    assert.ok(found.ok)
    return found.answer.incomplete_because
  }
  return { kept, search }
}

test('a search takes in few files at once and for as long as it may, the next one goes on', async (t) => {
  const { kept, search } = await many(t, 600, (n) => `okapi ${n}`)
  const [first, second] = [await search(), await search()]
  assert.match(first ?? '', /^\d+ files are not in the index yet$/)
  assert.match(second ?? '', /^\d+ files are not in the index yet$/)
  assert.ok(parseInt(second ?? '') < parseInt(first ?? ''))
  let more = 0
  while ((await search()) !== null) assert.ok((more += 1) < 10)
  assert.ok(Math.max(...kept) <= 20, `${Math.max(...kept)} at once`)
  assert.equal(
    kept.reduce((sum, n) => sum + n, 0),
    601,
  )
})

test('files without a text, read anew by each search, keep no other from being found', async (t) => {
  const { search } = await many(t, 600, (n) => (n < 400 ? '\0' : `okapi ${n}`))
  let searches = 0
  while ((await search()) !== null) assert.ok((searches += 1) < 10)
  assert.equal(await search(), null)
})
