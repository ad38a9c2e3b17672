// FindInFiles on a real folder: what it finds, what it never reaches, and where it stops.
import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ToolBench } from '../../testing/world/tool-context.ts'
import { findInFiles, fits } from './find-in-files.ts'

const bench = new ToolBench()
after(() => bench.close())

const put = (name: string, text: string | Uint8Array) => {
  const path = join(bench.workspace, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
}

async function found(input: Parameters<typeof findInFiles.run>[0]) {
  const { result } = await bench.call(findInFiles, input)
  if (result.status !== 'success') return assert.fail(result.summary)
  const { text } = result.result as { text: string }
  const stopped = (result.warnings ?? []).map(({ message }) => message)
  return { lines: text === '' ? [] : text.split('\n'), stopped, summary: result.summary }
}

put('one/src/a.ts', 'const needle = 1\nother\n  Needle.call()\n')
put('one/src/deep/b.ts', 'x'.repeat(500) + 'needle' + 'y'.repeat(500))
put('one/readme.md', 'a NEEDLE here')
put('one/.git/config', 'needle')
put('one/node_modules/p/index.js', 'needle')
put('one/image.png', new Uint8Array([0, 1, 2, 110]))

test('lines with the text are found, nearest first, with their places; upper and lower case alike', async () => {
  const { lines, stopped } = await found({ query: 'needle', path: 'one' })
  assert.deepEqual(lines.slice(0, 3), [
    'readme.md:1: a NEEDLE here',
    'src/a.ts:1: const needle = 1',
    'src/a.ts:3: Needle.call()',
  ])
  assert.match(lines[3] ?? '', /^src\/deep\/b\.ts:1: …x+needley+…$/)
  assert.ok((lines[3] ?? '').length < 260)
  assert.deepEqual([lines.length, stopped], [4, []])
})

test('a glob chooses the files; alone it lists them', async () => {
  assert.deepEqual((await found({ query: 'needle', glob: '*.md', path: 'one' })).lines, [
    'readme.md:1: a NEEDLE here',
  ])
  assert.deepEqual((await found({ glob: 'src/*.ts', path: 'one' })).lines, [
    'src/a.ts',
    'src/deep/b.ts',
  ])
})

test('a link leads nowhere, and what the agent may not read is not found', async () => {
  writeFileSync(join(bench.home, 'control-token'), 'needle of the home')
  put('two/own.txt', 'my needle')
  symlinkSync(bench.home, join(bench.workspace, 'two/home'))
  symlinkSync(join(bench.home, 'control-token'), join(bench.workspace, 'two/token.txt'))
  symlinkSync('/etc', join(bench.workspace, 'two/etc'))
  assert.deepEqual((await found({ query: 'needle', path: 'two' })).lines, ['own.txt:1: my needle'])
  assert.deepEqual((await found({ glob: '*', path: 'two' })).lines, ['own.txt'])
  for (const path of [bench.home, '/etc', 'two/home', 'two/etc']) {
    const { result } = await bench.call(findInFiles, { query: 'needle', path })
    assert.equal(result.status === 'error' && result.error.code, 'path_denied', path)
  }
})

test('a search that stops says why, and has what it found', async () => {
  for (let i = 0; i < 7; i++) put(`three/${i}.txt`, 'needle\nneedle\n')
  const { lines, stopped } = await found({ query: 'needle', path: 'three', limit: 3 })
  assert.equal(lines.length, 3)
  assert.match(stopped[0] ?? '', /3 were found\. A higher limit shows more/)
})

test('a search that was not let look is an error, never nothing found', async () => {
  put('four/a.txt', 'needle')
  const input = { query: 'needle', path: 'four' }
  const { result } = await bench.call(findInFiles, input, { close: AbortSignal.abort() })
  assert.ok(result.status === 'error')
  assert.deepEqual([result.error.kind, result.error.code], ['aborted', 'search_stopped'])
  const waits = await bench.call(findInFiles, input, { interject: AbortSignal.abort() })
  assert.match(waits.result.summary, /^1 line found/)
})

test('a file, a missing folder and nothing to look for are refused with what to do', async () => {
  const codes: (string | false)[] = []
  for (const input of [{ query: 'x', path: 'one/readme.md' }, { query: 'x', path: 'none' }, {}]) {
    const { result } = await bench.call(findInFiles, input)
    codes.push(result.status === 'error' && result.error.code)
  }
  assert.deepEqual(codes, ['not_a_folder', 'file_not_found', 'missing_field'])
})

test('a pattern is about the name, with a slash about the path', () => {
  const cases: [string, string, boolean][] = [
    ['*.ts', 'a/b.ts', true],
    ['*.ts', 'a/b.tsx', false],
    ['a/*', 'a/b/c', true],
    ['b/*', 'a/b/c', false],
    ['?.ts', 'a/b.ts', true],
    ['?.ts', 'a/bc.ts', false],
    ['*', 'a', true],
    ['*a*b*', 'xaxxb', true],
    ['*a*b*', 'xbxxa', false],
  ]
  for (const [glob, path, is] of cases) assert.equal(fits(glob, path), is, `${glob} ${path}`)
  assert.equal(fits(`${'*a'.repeat(100)}b`, 'a'.repeat(4_000)), false)
})
