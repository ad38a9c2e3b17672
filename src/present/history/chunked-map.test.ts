import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ChunkedMapBatch, emptyShelf, onShelf, shelved, type Shelf } from './chunked-map.ts'

type Change = { id: string; value: number | null }
const change = fc.record({
  id: fc.nat(300).map((n) => `id_${n}`),
  value: fc.option(fc.nat(), { nil: null }),
})
/** Batches, each made on the version that was made so many batches before. */
const batches = fc.array(fc.record({ back: fc.nat(3), changes: fc.array(change) }), {
  maxLength: 30,
})

const held = (shelf: Shelf<number>, plain: ReadonlyMap<string, number>) => ({
  size: shelf.size,
  values: [...shelved(shelf)].toSorted((a, b) => a - b),
  found: [...plain.keys()].map((id) => onShelf(shelf, id)),
})
const expected = (plain: ReadonlyMap<string, number>) => ({
  size: plain.size,
  values: [...plain.values()].toSorted((a, b) => a - b),
  found: [...plain.values()],
})

test('every version is what a copied map would be, whatever is made from it later', () => {
  fc.assert(
    fc.property(batches, (all) => {
      const versions: { shelf: Shelf<number>; plain: Map<string, number> }[] = [
        { shelf: emptyShelf(), plain: new Map() },
      ]
      for (const { back, changes } of all) {
        const from = versions.at(-1 - (back % versions.length))
        assert.ok(from)
        const draft = new ChunkedMapBatch(from.shelf)
        const plain = new Map(from.plain)
        for (const { id, value } of changes as Change[]) {
          if (value === null) draft.delete(id)
          else draft.set(id, value)
          if (value === null) plain.delete(id)
          else plain.set(id, value)
          assert.equal(draft.get(id), plain.get(id))
        }
        versions.push({ shelf: draft.done(), plain })
      }
      for (const { shelf, plain } of versions) {
        assert.deepEqual(held(shelf, plain), expected(plain))
        for (let n = 0; n <= 300; n++) {
          assert.equal(onShelf(shelf, `id_${n}`), plain.get(`id_${n}`))
        }
      }
    }),
    { numRuns: 100 },
  )
})

test('what came and went for long leaves no slots behind', () => {
  let shelf = emptyShelf<number>()
  for (let n = 0; n < 20_000; n++) {
    const draft = new ChunkedMapBatch(shelf)
    draft.set(`id_${n}`, n)
    draft.delete(`id_${n - 100}`)
    shelf = draft.done()
  }
  assert.equal(shelf.size, 100)
  assert.ok(shelf.index.size <= 2 * shelf.size + 65, `${shelf.index.size} slots`)
  assert.ok(shelf.chunks.length <= 5, `${shelf.chunks.length} chunks`)
})

test('a chunk that a batch did not write is the same in the next version', () => {
  const draft = new ChunkedMapBatch(emptyShelf<number>())
  for (let n = 0; n < 640; n++) draft.set(`id_${n}`, n)
  const before = draft.done()
  const next = new ChunkedMapBatch(before)
  next.set('id_639', -1)
  const after = next.done()
  const same = after.chunks.map((chunk, n) => chunk === before.chunks[n])
  assert.deepEqual(same, [...Array.from({ length: 9 }, () => true), false])
})
