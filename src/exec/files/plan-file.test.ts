// The plan descriptor, over everything an agent might leave in place of its plan.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { FileFault } from './file-fault.ts'
import { systemFiles } from './files.ts'
import { describePlan, planNames } from './plan-file.ts'
import { sha256 } from './whole-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'holon-plan-'))
const path = join(folder, 'plan.md')
const files = systemFiles()
const good = { sha256: 'a'.repeat(64), file: async () => '/blobs/good' }
after(() => rmSync(folder, { recursive: true, force: true }))

/** Describes what `make` put there. */
async function described(make: () => void, last_good: typeof good | null = good) {
  rmSync(path, { recursive: true, force: true })
  make()
  const plan = await describePlan(files, path, last_good ?? undefined)
  assert.equal(plan.path, path)
  return plan
}

test('a plan is described by hash, size, time and the beginning of its text', async () => {
  const text = `${'Ü'.repeat(1_999)}🙂x`
  const plan = await described(() => writeFileSync(path, text))
  const { updated_at, ...rest } = plan
  assert.match(updated_at ?? '', /^\d{4}-\d\d-\d\dT.*Z$/)
  assert.deepEqual(rest, {
    path,
    sha256: sha256(text),
    bytes: Buffer.byteLength(text),
    preview: 'Ü'.repeat(1_999),
    preview_complete: false,
  })
  const exact = await described(() => writeFileSync(path, 'x'.repeat(2_000)))
  assert.deepEqual([exact.preview.length, exact.preview_complete], [2_000, true])
})

test('an empty plan is a plan until it had text', async () => {
  const empty = () => writeFileSync(path, '')
  const fresh = await described(empty, null)
  assert.deepEqual([fresh.problem, fresh.sha256], [undefined, sha256('')])
  const never = await described(empty, { sha256: sha256(''), file: async () => '/blobs/empty' })
  assert.deepEqual([never.problem, never.bytes, never.preview_complete], [undefined, 0, true])
  const emptied = await described(empty)
  assert.deepEqual(emptied.problem, {
    code: 'emptied',
    message: 'the plan is empty now and had text before',
    last_good: '/blobs/good',
  })
})

const problems: [string, () => void, string, string | RegExp][] = [
  ['nothing', () => undefined, 'missing', 'the plan file is missing'],
  ['a folder', () => mkdirSync(path), 'not_a_file', /but a folder/],
  ['a link', () => symlinkSync('/etc/hostname', path), 'not_a_file', /but a link/],
  ['a pipe', () => void execFileSync('mkfifo', [path]), 'not_a_file', /device or pipe/],
  ['too much', () => writeFileSync(path, 'x'.repeat(1_048_577)), 'too_large', /1048577 bytes/],
  ['NULs', () => writeFileSync(path, Buffer.alloc(4096)), 'nul_filled', /NUL/],
  ['a text with a NUL tail', () => writeFileSync(path, 'plan\0\0'), 'nul_filled', /NUL/],
]

for (const [what, make, code, message] of problems) {
  test(`${what} in place of a plan is the problem ${code}`, async () => {
    const plan = await described(make)
    assert.equal(plan.problem?.code, code)
    assert.match(plan.problem.message, new RegExp(message))
    assert.deepEqual([plan.problem.last_good, plan.preview], ['/blobs/good', ''])
  })
}

test('a plan of the largest size is no problem', async () => {
  const plan = await described(() => writeFileSync(path, 'x'.repeat(1_048_576)))
  assert.deepEqual([plan.problem, plan.bytes], [undefined, 1_048_576])
})

test('a plan that cannot be read now says so, and is no fault', async () => {
  const denied = () => Promise.reject(new FileFault('denied', path, 'the system denies access'))
  const plan = await describePlan({ stat: denied, read: denied }, path)
  const problem = { code: 'unreadable', message: 'the system denies access', last_good: null }
  assert.deepEqual(plan.problem, problem)
})

/** Each name on the path that an agent could put a link in the place of. */
const places = ['work-items', 'work-items/item', 'work-items/item/plan.md']
for (const place of places) {
  test(`a plan whose ${place} is a link is read nowhere and written nowhere`, async (t) => {
    const root = mkdtempSync(join(tmpdir(), 'holon-links-'))
    t.after(() => rmSync(root, { recursive: true, force: true }))
    const [mine, other] = [join(root, 'mine'), join(root, 'other')]
    for (const home of [mine, other])
      mkdirSync(join(home, 'work-items', 'item'), { recursive: true })
    writeFileSync(join(other, 'work-items/item/plan.md'), 'not yours\n')
    rmSync(join(mine, place), { recursive: true, force: true })
    symlinkSync(join(other, place), join(mine, place))
    const plan = join(mine, 'work-items/item/plan.md')
    const { problem, preview, sha256: hash } = await describePlan(files, plan)
    assert.deepEqual([problem?.code, preview, hash], ['not_a_file', '', null])
    await assert.rejects(files.read(plan, planNames), { code: 'not_regular' })
    const write = files.write_atomic(plan, 'mine\n', 0o600, planNames)
    // The file itself is replaced, whatever was there: what a link led to stays as it is.
    if (place.endsWith('.md')) await write
    else await assert.rejects(write, { code: 'not_regular' })
    assert.equal(readFileSync(join(other, 'work-items/item/plan.md'), 'utf8'), 'not yours\n')
    assert.deepEqual(readdirSync(join(other, 'work-items/item')), ['plan.md'])
  })
}

test('a plan is read and written below an agent’s folder that the operator has linked', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'holon-links-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'real'))
  symlinkSync(join(root, 'real'), join(root, 'mine'))
  const plan = join(root, 'mine/work-items/item/plan.md')
  await files.write_atomic(plan, 'a plan\n', 0o600, planNames)
  assert.equal((await describePlan(files, plan)).preview, 'a plan\n')
  await assert.rejects(files.read(join(root, 'mine/work-items/none/plan.md'), planNames), {
    code: 'not_found',
    message: /mine\/work-items\/none: there is no such file or folder/,
  })
})
