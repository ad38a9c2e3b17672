import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
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

test('a path is where its links lead, also of files that are not there yet', (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-places-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [workspace, outside] = [join(folder, 'work'), join(folder, 'outside')]
  for (const one of [workspace, outside]) mkdirSync(one)
  writeFileSync(join(workspace, 'there.ts'), '')
  symlinkSync(outside, join(workspace, 'link'))
  symlinkSync(join(workspace, 'there.ts'), join(workspace, 'to-there.ts'))
  const facts = { home: join(folder, 'home'), agent_id: 'main', workspace, user_home: folder }
  const places = placesOf({ ...facts, search: '/bin' })
  const table: [string, string, string][] = [
    ['there.ts', 'work/there.ts', 'workspace'],
    ['to-there.ts', 'work/there.ts', 'workspace'],
    ['new.ts', 'work/new.ts', 'workspace'],
    ['a/b/new.ts', 'work/a/b/new.ts', 'workspace'],
    ['link/new.ts', 'outside/new.ts', 'outside'],
    ['link/a/new.ts', 'outside/a/new.ts', 'outside'],
    ['link/a/other.ts', 'outside/a/other.ts', 'outside'],
    ['there.ts/below', 'work/there.ts/below', 'workspace'],
  ]
  for (const [name, real, area] of table) {
    const placed = places.place(join(workspace, name))
    assert.deepEqual(placed, { real_path: join(folder, real), area }, name)
  }
  assert.equal(places.place('/').real_path, '/')
})
