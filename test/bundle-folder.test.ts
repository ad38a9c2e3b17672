/**
 * Where bundles lie (scripts/bundle-folder.mjs): what a build leaves behind that is killed, that
 * follows another, or that runs beside another.
 */
import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'

type Placed = { draft: string; build: string; started: Date; alone: boolean }
type Folders = {
  openDraft: (dist: string) => string
  placeBundle: (dist: string, placed: Placed) => void
}
const script = join(import.meta.dirname, '..', 'scripts', 'bundle-folder.mjs')
const { openDraft, placeBundle } = (await import(script)) as Folders

const [first, second, third] = ['a'.repeat(16), 'b'.repeat(16), 'c'.repeat(16)] as const

function distIn(t: TestContext): string {
  const dist = mkdtempSync(join(tmpdir(), 'holon-dist-'))
  t.after(() => rmSync(dist, { recursive: true, force: true }))
  return dist
}

/** As an hour later: nothing there was written lately. */
function age(dist: string, ...names: string[]): void {
  const long_ago = new Date(Date.now() - 3_700_000)
  for (const name of names) utimesSync(join(dist, name), long_ago, long_ago)
}

function build(dist: string, name: string, { alone = false, started = new Date() } = {}): void {
  const draft = openDraft(dist)
  writeFileSync(join(draft, 'main.cjs'), `code of ${name}`)
  placeBundle(dist, { draft, build: name, started, alone })
}

/** What is there, and which starts with which code. */
const seen = (dist: string) => {
  const current = readFileSync(join(dist, 'current'), 'latin1')
  return {
    current,
    code: readFileSync(join(dist, current, 'main.cjs'), 'utf8'),
    id: readFileSync(join(dist, current, 'build-id'), 'utf8'),
    all: readdirSync(dist).toSorted(),
  }
}

test('a build is named, dated when its sources were read, and keeps the one before it', (t) => {
  const dist = distIn(t)
  build(dist, first)
  build(dist, second)
  age(dist, first, second)
  const started = new Date('2026-11-25T12:00:00Z')
  build(dist, third, { started })
  assert.deepEqual(seen(dist), {
    current: third,
    code: `code of ${third}`,
    id: third,
    all: [second, third, 'current'],
  })
  assert.equal(statSync(join(dist, 'current')).mtimeMs, started.getTime())
})

test('a package has one bundle alone, also of two that were built in one moment', (t) => {
  const dist = distIn(t)
  build(dist, first)
  const ahead = new Date(Date.now() + 1_000)
  utimesSync(join(dist, first), ahead, ahead)
  build(dist, second, { alone: true })
  assert.deepEqual(seen(dist).all, [second, 'current'])
})

test('the same bundle built again stays, and is dated anew', (t) => {
  const dist = distIn(t)
  build(dist, first, { started: new Date(0) })
  const { ino } = statSync(join(dist, first))
  build(dist, first)
  assert.deepEqual(seen(dist).all, [first, 'current'])
  assert.equal(statSync(join(dist, first)).ino, ino)
  assert.ok(statSync(join(dist, 'current')).mtimeMs > 0)
})

test('a build that is killed leaves the one before it, and its draft goes an hour later', (t) => {
  const dist = distIn(t)
  build(dist, first)
  mkdirSync(join(dist, '.next-1'))
  writeFileSync(join(dist, '.next-1', 'main.cjs'), 'half of')
  assert.equal(seen(dist).code, `code of ${first}`)
  build(dist, second)
  assert.deepEqual(seen(dist).all, ['.next-1', first, second, 'current'])
  age(dist, '.next-1', first)
  build(dist, second)
  assert.deepEqual(seen(dist).all, [second, 'current'])
})

test('of two builds at once, each has its own draft, and the last to end is the one', (t) => {
  const dist = distIn(t)
  const theirs = join(dist, '.next-1')
  mkdirSync(theirs)
  writeFileSync(join(theirs, 'main.cjs'), 'code of theirs')
  build(dist, first)
  placeBundle(dist, { draft: theirs, build: second, started: new Date(), alone: false })
  assert.deepEqual(seen(dist), {
    current: second,
    code: 'code of theirs',
    id: second,
    all: [first, second, 'current'],
  })
})
