/**
 * `holon work diff`: what an item changed in files, through the real command on a home at rest, on
 * a terminal with and without a pager, and through a pipe.
 */
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { ItemChanges } from '../src/protocol/records/changes-record.ts'
import { openBox, temporaryHome } from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { call, creates, runs } from './support/scripts.ts'
import { typed } from './support/cli/typed.ts'

const edit = (path: string, old_text: string, new_text: string) =>
  call('EditFile', { path, old_text, new_text })
const patch =
  '--- old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n' +
  '--- /dev/null\n+++ src/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n'

/** A home in which an agent edited a file twice, patched two, and ran a command. */
async function worked(t: TestContext) {
  const places = temporaryHome(t)
  const put = (name: string, text: string) => writeFileSync(join(places.workspace, name), text)
  put('a.txt', 'one\ntwo\n')
  put('old.txt', 'gone\n')
  const model = scriptedModel((request, n) => {
    if (n === 1) return creates('Port it')
    const id = /work_[0-9a-f-]{4,36}/.exec(JSON.stringify(request.messages))?.[0] ?? ''
    if (n === 2) return calls(call('PickWorkItem', { work_item_id: id }))
    if (n === 3) return calls(edit('a.txt', 'one', '1'), edit('a.txt', 'two', '2\n\u001b[31mx'))
    return n === 4 ? calls(call('ApplyPatch', { patch }), runs('echo x >> a.txt')) : says('Done.')
  })
  const box = await openBox(t, { ...places, models: { default: model } })
  await box.makeAgent('test/porter')
  await box.host.open()
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Port it.' })
  await box.until(
    (notice) =>
      notice.kind === 'committed' && notice.events.some(({ event }) => event.type === 'turn_ended'),
    'the end of the turn',
  )
  const [item] = await box.ledger.list('work_items', { limit: 1 })
  await box.close()
  assert.ok(item)
  // The diffs are of the ledger: what became of the files since changes none of them.
  rmSync(join(places.workspace, 'a.txt'))
  return { ...places, item: item.id }
}

const whole = `a.txt  +3 -2
edit 1 of 2, HH:MM
@@ -1,2 +1,2 @@
-one
+1
 two
edit 2 of 2, HH:MM
@@ -1,2 +1,3 @@
 1
-two
+2
+\\x1b[31mx

old.txt  deleted  +0 -1
@@ -1,1 +0,0 @@
-gone

src/new.txt  new  +2 -0
@@ -0,0 +1,2 @@
+one
+two

3 files, +5 -3
1 command ran too; what it did to files is not known
`

test('all that an item changed is told by file with counts', { timeout: 60_000 }, async (t) => {
  const { home, workspace, item } = await worked(t)
  const of = (...args: string[]) => typed(['work', 'diff', item, ...args], { home })
  const plain = await of()
  assert.deepEqual([plain.exit, plain.err, plain.paged], [0, '', []])
  assert.equal(plain.out.replaceAll(/, \d\d:\d\d$/gm, ', HH:MM'), whole)

  assert.deepEqual((await of('--stat')).out.split('\n').slice(0, 4), [
    'a.txt  +3 -2',
    'old.txt  deleted  +0 -1',
    'src/new.txt  new  +2 -0',
    '3 files, +5 -3',
  ])
  const one = await of('src/new.txt')
  assert.match(one.out, /^src\/new\.txt {2}new {2}\+2 -0\n@@ .*\n\+one\n\+two\n\n1 command/)
  assert.equal((await of(join(workspace, 'src', 'new.txt'))).out, one.out)

  const read = JSON.parse((await of('old.txt', '--json')).out) as ItemChanges
  assert.deepEqual(
    { ...read, files: read.files.map(({ edits, ...file }) => ({ ...file, edits: edits.length })) },
    {
      work_item_id: item,
      files: [
        {
          ...{ path: join(workspace, 'old.txt'), name: 'old.txt', kind: 'deleted' },
          ...{ added: 0, removed: 1, edits: 1 },
        },
      ],
      ...{ commands: 1, unseen: [], unknown: 0, complete: true },
    },
  )
  const none = await of('b.txt')
  assert.deepEqual([none.exit, none.out], [2, ''])
  assert.match(none.err, /it changed no file b\.txt/)
})

test('on a terminal it is coloured and paged; without a pager it is printed', async (t) => {
  const { home, item } = await worked(t)
  const args = ['work', 'diff', item]
  const paged = await typed(args, { home, terminal: true })
  assert.equal(paged.out, '')
  const lines = paged.paged[0]?.split('\n') ?? []
  assert.equal(lines[0], '\u001b[1ma.txt  +3 -2\u001b[0m')
  assert.ok(lines.includes('\u001b[32m+\\x1b[31mx\u001b[0m'))
  const printed = await typed(args, { home, terminal: true, pager: false })
  assert.equal(printed.out, paged.paged[0])
  const stat = await typed([...args, '--stat'], { home, terminal: true })
  assert.deepEqual([stat.paged, stat.out.includes('@@')], [[], false])
})
