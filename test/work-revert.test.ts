/**
 * `holon work revert`: what an agent did to files is taken back, and the taking back too, through
 * the real command on a home at rest.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openBox, temporaryHome } from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { call, creates, runs } from './support/scripts.ts'
import { typed } from './support/cli/typed.ts'

const edit = (path: string, old_text: string, new_text: string) =>
  call('EditFile', { path, old_text, new_text })
const patch =
  '--- old.sh\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n' +
  '--- /dev/null\n+++ src/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n'

/** By file tools: a file edited twice, one deleted, one made. */
const byTools = [
  () => calls(edit('a.txt', 'one', '1'), edit('a.txt', 'two', '2')),
  () => calls(call('ApplyPatch', { patch })),
]
/** The same by a command, in a repository whose attributes would change bytes and run a program. */
const line =
  'printf "1\\r\\n2\\n" > a.txt; rm old.sh; mkdir -p src; printf "one\\ntwo\\n" > src/new.txt'
const byCommand = [() => calls(runs(line))]

function repository(workspace: string): void {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: workspace })
  git('init', '-q')
  git('config', 'core.autocrlf', 'input')
  git('config', 'filter.bad.clean', 'touch ran; cat')
  writeFileSync(join(workspace, '.gitattributes'), '* text eol=lf filter=bad ident\n')
  writeFileSync(join(workspace, '.gitignore'), 'ran\n')
}

/** A home in which an agent did the same to files in one way or the other. */
async function worked(t: TestContext, rounds = byTools) {
  const places = temporaryHome(t)
  const at = (name: string) => join(places.workspace, name)
  if (rounds === byCommand) repository(places.workspace)
  writeFileSync(at('a.txt'), 'one\r\ntwo\n')
  writeFileSync(at('old.sh'), 'gone\n')
  chmodSync(at('old.sh'), 0o750)
  const model = scriptedModel((request, n) => {
    if (n === 1) return creates('Port it')
    const id = /work_[0-9a-f-]{4,36}/.exec(JSON.stringify(request.messages))?.[0] ?? ''
    if (n === 2) return calls(call('PickWorkItem', { work_item_id: id }))
    return rounds[n - 3]?.() ?? says('Done.')
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
  const { home } = places
  const read = (name: string) => (existsSync(at(name)) ? readFileSync(at(name), 'utf8') : null)
  return {
    ...places,
    at,
    files: () => ['a.txt', 'old.sh', 'src/new.txt'].map(read),
    revert: (...args: string[]) => typed(['work', 'revert', item.id, ...args], { home }),
  }
}

const before = ['one\r\ntwo\n', 'gone\n', null]
const after = ['1\r\n2\n', null, 'one\ntwo\n']

for (const [how, rounds] of [
  ['by file tools', byTools],
  ['by a command', byCommand],
] as const)
  test(`what an item did to files ${how} is taken back, and comes again`, async (t) => {
    const { files, revert, at } = await worked(t, rounds)
    assert.deepEqual(files(), after)
    const first = await revert()
    assert.deepEqual([first.exit, first.err], [0, ''])
    assert.deepEqual(first.out.split('\n').slice(0, 3), [
      'a.txt  put back',
      'old.sh  put back',
      'src/new.txt  put back',
    ])
    assert.deepEqual(files(), before)
    assert.equal(statSync(at('old.sh')).mode & 0o777, 0o750)
    assert.match((await revert()).out, /^a\.txt {2}as it was already\n/)
    assert.equal((await revert('--undo')).exit, 0)
    assert.deepEqual(files(), after)
    assert.equal((await revert('old.sh')).exit, 0)
    assert.deepEqual(files(), ['1\r\n2\n', 'gone\n', 'one\ntwo\n'])
    assert.equal((await revert('--undo', 'old.sh')).exit, 0)
    assert.deepEqual(files(), after)
  })

test('a file that a person changed since is named with the change, and left', async (t) => {
  const { files, revert, at } = await worked(t)
  writeFileSync(at('a.txt'), '1\r\n2\nmine\n')
  writeFileSync(at('old.sh'), 'my own\n')
  chmodSync(at('src/new.txt'), 0o711)
  const kept = files()
  const told = await revert()
  assert.equal(told.exit, 1)
  assert.match(told.out, /^a\.txt {2}left: it was changed since\n@@ .*\n 1\r?.*\n 2\n\+mine\n/)
  assert.match(told.out, /\nold\.sh {2}left: it was made anew since\n@@ .*\n\+my own\n/)
  assert.match(told.out, /\nsrc\/new\.txt {2}put back\n/)
  assert.deepEqual(files(), [...kept.slice(0, 2), null])
  assert.equal((await revert('--undo')).exit, 0)
  assert.equal(statSync(at('src/new.txt')).mode & 0o777, 0o711)
})

test('a file that the item did not change is none of its', async (t) => {
  const { revert } = await worked(t)
  const none = await revert('b.txt')
  assert.deepEqual([none.exit, none.out], [2, ''])
  assert.match(none.err, /no change of b\.txt/)
})

test('of an agent that was deleted nothing is put back, and it is said', async (t) => {
  const models = { default: scriptedModel(() => says('Done.')) }
  const { host } = await openBox(t, { ...temporaryHome(t), models })
  await host.open()
  const of = { agent_id: 'docs' }
  await host.act({ do: 'create_agent', ...of, model: 'test/porter' })
  const made = await host.act({ do: 'create_item', ...of, objective: 'Port it' })
  await host.act({ do: 'delete_agent', ...of })
  const work_item_id = made.ok ? (made.id ?? '') : ''
  const reply = await host.act({ do: 'revert_files', ...of, work_item_id })
  assert.equal(reply.ok ? '' : reply.code, 'agent_deleted')
})
