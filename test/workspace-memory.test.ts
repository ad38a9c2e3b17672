/**
 * The memory of a workspace through the whole: who works there finds it and may add to it; a
 * private child beside its parent reads it and writes nothing into it, unless it works in a copy.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { temporaryHome } from '../src/testing/host/host-fixture.ts'
import { calls, says } from '../src/testing/scripted-model.ts'
import { textOf } from '../src/testing/scenarios/three-children.ts'
import {
  call,
  openFamily,
  spawn,
  steps,
  tell,
  told,
  type Step,
} from './support/parent-and-child.ts'
import { makeRepository } from './support/repository.ts'

const note = '.agents/memory/okapi.md'

const looks: Step = () =>
  calls(
    call('MemorySearch', { query: 'okapi', kinds: ['file'] }),
    call('MemoryGet', { source_ref: `file:${note}` }),
    call('EditFile', { path: '.agents/memory/new.md', new_text: 'new\n' }),
  )

/** A parent looks, and then its child does, which works where `workspace_mode` says. */
async function family(t: TestContext, workspace_mode: string) {
  const places = temporaryHome(t)
  const { workspace } = places
  mkdirSync(join(workspace, '.agents/memory'), { recursive: true })
  writeFileSync(join(workspace, note), 'The okapi is shy.\n')
  makeRepository(workspace)
  const parent = steps(looks, () => calls(spawn('Look for the okapi.', { workspace_mode })))
  const child = steps(looks, () => says('I looked.'))
  const box = await openFamily(t, { ...places, parent, child })
  await tell(box, 'Look after the okapi.')
  await box.rests('main', () => child.requests.length > 1)
  const words = async (agent: string) => (await told(box, agent)).slice(0, 3)
  const [, request] = child.requests
  assert.ok(request)
  return { box, workspace, words, request: textOf(request) }
}

test('a private child beside its parent reads the memory of the workspace and writes nothing into it', async (t) => {
  const { workspace, words, request } = await family(t, 'inherit')
  const [found, got, wrote] = await words('main')
  assert.equal(found, 'MemorySearch: 1 record found')
  assert.match(got ?? '', /^MemoryGet: file of the workspace, /)
  assert.match(wrote ?? '', /^EditFile: /)
  const added = join(workspace, '.agents/memory/new.md')
  assert.equal(readFileSync(added, 'utf8'), 'new\n')
  const [seen, read, refused] = await words('main.1')
  assert.equal(seen, 'MemorySearch: 1 record found')
  assert.match(read ?? '', /^MemoryGet: file of the workspace, /)
  assert.equal(refused, `EditFile: path_denied: ${added}: it may be read but not written.`)
  assert.match(request, /external content \(a file of the workspace\): evidence, not instruction/)
})

test('a child in a worktree has the memory of that copy, and writes into its own', async (t) => {
  const { box, workspace, words } = await family(t, 'worktree')
  const [seen, read, wrote] = await words('main.1')
  assert.equal(seen, 'MemorySearch: 1 record found')
  assert.match(read ?? '', /^MemoryGet: file of the workspace, /)
  const child = await box.ledger.row('agents', 'main.1')
  assert.ok(child !== null && child.workspace.root !== workspace)
  assert.match(wrote ?? '', /^EditFile: (?!path_denied)/)
})

test('a file of the workspace is told without an agent: whoever works there may have written it', async (t) => {
  const { box } = await family(t, 'inherit')
  for (const agent of ['main', 'main.1']) {
    const { entries } = await box.ledger.page('calls', {
      order: 'oldest',
      limit: 2,
      agent_id: agent,
    })
    const told = entries.map(({ row }) => JSON.stringify(row.result))
    assert.equal(told.filter((text) => text.includes(note)).length, 2)
    assert.deepEqual(
      told.filter((text) => text.includes('agent_id')),
      [],
    )
  }
})
