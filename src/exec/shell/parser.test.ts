// The parser of shell lines: whatever becomes of it, a line is then in doubt.
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openShellParser, readingWith } from './parser.ts'

const monotonic = () => performance.now()
const vendor = join(import.meta.dirname, '../../../vendor/tree-sitter')

test('a line is read as a tree of its parts', async () => {
  const { read, problem } = await openShellParser({ monotonic })
  assert.equal(problem, null)
  const found = read('git push')
  assert.equal(found.ok && found.whole, true)
  assert.deepEqual(
    found.ok && found.root.children.map(({ type, start, end }) => ({ type, start, end })),
    [{ type: 'command', start: 0, end: 8 }],
  )
  const torn = read('git "push')
  assert.equal(torn.ok && torn.whole, false)
})

test('a file that is not the one that was looked at is not loaded', async (t) => {
  for (const name of ['web-tree-sitter.cjs', 'web-tree-sitter.wasm', 'tree-sitter-bash.wasm']) {
    const folder = mkdtempSync(join(tmpdir(), 'holon-parser-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    cpSync(vendor, folder, { recursive: true })
    const bytes = readFileSync(join(folder, name))
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    writeFileSync(join(folder, name), bytes)
    const { read, problem } = await openShellParser({ monotonic, folder })
    assert.match(problem ?? '', /is not the file that was looked at/)
    assert.deepEqual(read('ls'), { ok: false, doubt: 'no_parser' })
  }
})

test('too long, too deep and too slow are doubts, and the next line is read', async () => {
  const { read } = await openShellParser({ monotonic })
  assert.deepEqual(read('x'.repeat(100_001)), { ok: false, doubt: 'too_long' })
  assert.deepEqual(read(`${'$('.repeat(300)}x${')'.repeat(300)}`), { ok: false, doubt: 'too_deep' })
  let at = 0
  const hurried = await openShellParser({ monotonic: () => (at += 1_000) })
  assert.deepEqual(hurried.read('echo a;'.repeat(14_000)), { ok: false, doubt: 'unparsed' })
  assert.equal(read('ls').ok, true)
  at = 0
  assert.equal(hurried.read('ls').ok, true)
})

test('a parser that died is not asked again', () => {
  let asked = 0
  const read = readingWith(
    {
      setLanguage() {},
      reset() {},
      parse() {
        asked += 1
        throw new Error('unreachable')
      },
    },
    monotonic,
  )
  assert.deepEqual(
    [read('a'), read('b'), asked],
    [{ ok: false, doubt: 'no_parser' }, { ok: false, doubt: 'no_parser' }, 1],
  )
})
