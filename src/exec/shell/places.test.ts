import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { placesOf } from './places.ts'

test('a link is where a write through it would be, whether that is there or not', (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-places-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const workspace = join(folder, 'work')
  const outside = join(folder, 'outside')
  for (const one of [workspace, outside]) mkdirSync(one)
  const links: [string, string][] = [
    ['there', outside],
    ['new', join(outside, 'new')],
    ['relative', '../outside/new'],
    ['twice', 'new'],
    ['within', 'made'],
    ['loop', 'loop'],
  ]
  for (const [name, target] of links) symlinkSync(target, join(workspace, name))
  const facts = { home: join(folder, 'home'), agent_id: 'main', workspace, user_home: folder }
  const places = placesOf({ ...facts, search: '/usr/bin' })
  const table: [string, string, string][] = [
    ['there/a', 'outside/a', 'outside'],
    ['new', 'outside/new', 'outside'],
    ['relative', 'outside/new', 'outside'],
    ['twice', 'outside/new', 'outside'],
    ['new/deeper/a', 'outside/new/deeper/a', 'outside'],
    ['within', 'work/made', 'workspace'],
    ['plain', 'work/plain', 'workspace'],
  ]
  for (const [name, real, area] of table) {
    const placed = places.place(join(workspace, name))
    assert.deepEqual(placed, { real_path: join(folder, real), area }, name)
  }
  // Nothing can be written through it.
  assert.equal(places.place(join(workspace, 'loop')).area, 'workspace')
})
