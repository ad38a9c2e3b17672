// ReadFile, EditFile and ApplyPatch on a real folder. A crash is a call whose intent is committed
// and whose effect the test makes by hand, wholly, partly or not at all.
import { pngOf } from '../../testing/images.ts'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { ToolResult } from '../../domain/state/call.ts'
import { sha256 } from '../../exec/files/whole-file.ts'
import { ToolBench } from '../../testing/world/tool-context.ts'
import { applyPatch } from './apply-patch.ts'
import { editFile } from './edit-file.ts'
import { execCommand } from '../commands/exec-command.ts'
import { writeAll } from './file-change.ts'
import { readFile } from './read-file.ts'

const bench = new ToolBench()
after(() => bench.close())

let count = 0
const at = (name: string) => join(bench.workspace, name)
const have = (name: string) => readFileSync(at(name), 'utf8')
const put = (name: string, text: string | Uint8Array) => {
  writeFileSync(at(name), text)
  return name
}
/** A new file with this text; returns its name. */
const fresh = (text: string | Uint8Array) => put(`file-${++count}.txt`, text)

type Done = {
  result: {
    status: string
    summary: string
    result?: unknown
    error?: { kind: string; code: string; hint: string | null; detail?: unknown }
  }
}
const resultOf = ({ result }: Done) => {
  assert.equal(result.status, 'success', result.summary)
  return result.result as Record<string, unknown>
}
const errorOf = ({ result }: Done) => result.error ?? assert.fail(`success: ${result.summary}`)

async function begun<N>(
  begin: Promise<{ call: `call_${string}`; intent: N } | { refused: Done['result'] }>,
) {
  const call = await begin
  return 'refused' in call ? assert.fail(call.refused.summary) : call
}

test('a file is read with numbered lines', async () => {
  const name = fresh('\uFEFFone\r\ntwo\n\nfour')
  assert.deepEqual(resultOf(await bench.call(readFile, { path: name })), {
    path: at(name),
    total_lines: 4,
    bytes: 17,
    first_line: 1,
    last_line: 4,
    text: '1\tone\n2\ttwo\n3\t\n4\tfour',
  })
})

test('a part of a file is read, and the result says where to go on', async () => {
  const name = fresh('a\nb\nc\nd\n')
  const done = await bench.call(readFile, { path: at(name), offset: 2, limit: 2 })
  const { text, next_offset, total_lines } = resultOf(done)
  assert.deepEqual([text, next_offset, total_lines], ['2\tb\n3\tc', 4, 4])
  assert.equal(errorOf(await bench.call(readFile, { path: name, offset: 5 })).code, 'no_such_line')
  assert.equal(resultOf(await bench.call(readFile, { path: fresh('') }))['text'], '')
})

test('long files and long lines are bounded, without losing a line between two reads', async () => {
  const lines = Array.from({ length: 9_000 }, (_, n) => `line ${n + 1}`)
  const name = fresh(lines.join('\n'))
  const seen: string[] = []
  let offset: number | undefined = 1
  while (offset !== undefined) {
    const part = resultOf(await bench.call(readFile, { path: name, offset })) as {
      text: string
      next_offset?: number
    }
    assert(part.text.length <= 24_000)
    seen.push(...part.text.split('\n').map((line) => line.split('\t')[1] ?? ''))
    offset = part.next_offset
  }
  assert.deepEqual(seen, lines)
  const wide = resultOf(await bench.call(readFile, { path: fresh('x'.repeat(50_000)) }))
  assert.equal(wide['text'], `1\t${'x'.repeat(2_000)} [… 48000 characters more]`)
})

test('as many lines as are shown at once are the whole of a file, and one more is not', async () => {
  for (const [count, next] of [
    [2_000, undefined],
    [2_001, 2_001],
  ] as const) {
    const name = fresh('x\n'.repeat(count))
    const { last_line, next_offset } = resultOf(await bench.call(readFile, { path: name }))
    assert.deepEqual([last_line, next_offset], [2_000, next])
  }
})

test('a folder is read as what is in it, a part at a time where it is asked for', async () => {
  mkdirSync(at('folder/inner'), { recursive: true })
  for (const name of ['a.txt', 'b.txt', 'c.txt']) put(`folder/${name}`, name)
  const all = resultOf(await bench.call(readFile, { path: 'folder' }))
  assert.deepEqual(all, {
    path: at('folder'),
    total_entries: 4,
    text: 'a.txt\nb.txt\nc.txt\ninner/',
  })
  const part = resultOf(await bench.call(readFile, { path: 'folder', offset: 2, limit: 2 }))
  assert.deepEqual([part['text'], part['next_offset']], ['b.txt\nc.txt', 4])
  const none = await bench.call(readFile, { path: 'folder/inner' })
  assert.match(none.result.summary, /is an empty folder$/)
  assert.equal(errorOf(await bench.call(readFile, { path: '/etc' })).code, 'path_denied')
})

test('what is not a text file is refused with the way to go on', async (t) => {
  execFileSync('sh', ['-c', 'mkfifo "$0"', at('pipe')])
  const cases: [string, string, RegExp][] = [
    ['missing.txt', 'file_not_found', /Relative paths begin in/],
    ['missing/deep/er.txt', 'file_not_found', /./],
    [fresh(new Uint8Array([1, 0, 2])), 'binary_file', /command/],
    [fresh(pngOf(2, 2)), 'binary_file', /^ViewImage shows it/],
    [fresh(new Uint8Array([0xff, 0xfe, 0x41])), 'not_utf8', /iconv/],
    ['pipe', 'not_regular', /regular/],
    ['/dev/null', 'path_denied', /workspace/],
    ['a\0b', 'path_denied', /workspace/],
  ]
  for (const [path, code, hint] of cases) {
    await t.test(JSON.stringify(path), async () => {
      const error = errorOf(await bench.call(readFile, { path }))
      assert.deepEqual([error.kind, error.code], ['rejected', code])
      assert.match(error.hint ?? '', hint)
    })
  }
})

test('no file tool leaves the roots, by name or by link', async (t) => {
  writeFileSync(join(bench.home, 'control-token'), 'secret')
  writeFileSync(join(bench.home, 'tasks', 'note'), 'a task file')
  symlinkSync(join(bench.home, 'control-token'), at('link'))
  symlinkSync(bench.home, at('state-link'))
  mkdirSync(at('.git/hooks'), { recursive: true })
  const outside = ['../state/control-token', 'link', 'state-link/control-token', '/etc/passwd']
  for (const path of outside) {
    await t.test(`reading ${path}`, async () => {
      assert.equal(errorOf(await bench.call(readFile, { path })).code, 'path_denied')
    })
  }
  const unwritable = [
    ...outside,
    '../state/tasks/note',
    '../state/tasks/new',
    '.git/hooks/x',
    '../new',
  ]
  for (const path of unwritable) {
    await t.test(`writing ${path}`, async () => {
      const edits = [
        { path, new_text: 'x' },
        { path, old_text: 'secret', new_text: 'x' },
      ]
      for (const input of edits) {
        const { code } = errorOf(await bench.call(editFile, input))
        assert(['path_denied', 'file_not_found', 'file_exists'].includes(code), code)
      }
      const patch = `--- /dev/null\n+++ ${path}\n@@ -0,0 +1 @@\n+x\n`
      const { code } = errorOf(await bench.call(applyPatch, { patch }))
      assert(['path_denied', 'file_exists'].includes(code), code)
    })
  }
  assert.equal(readFileSync(join(bench.home, 'control-token'), 'utf8'), 'secret')
  assert.equal(readFileSync(join(bench.home, 'tasks', 'note'), 'utf8'), 'a task file')
  assert.deepEqual(
    ['.git/hooks/x', '../new', '../state/tasks/new'].map((path) => existsSync(at(path))),
    [false, false, false],
  )
})

test('the whole output of an own command is read by the path its result names', async () => {
  const done = await bench.call(execCommand, { cmd: 'seq 1 9000', max_output_tokens: 100 })
  const { full_output } = resultOf(done) as { full_output: { stdout: string } }
  const { stdout } = full_output
  const input = { path: stdout, offset: 8_999 }
  assert.equal(resultOf(await bench.call(readFile, input))['text'], '8999\t8999\n9000\t9000')
  const edit = { path: stdout, old_text: '9000', new_text: 'x' }
  assert.equal(errorOf(await bench.call(editFile, edit)).code, 'path_denied')
})

test('the agent’s own folder is written like the workspace', async () => {
  const plan = join(bench.home, 'agents/main/work-items/work_1/plan.md')
  const made = await bench.call(editFile, { path: plan, new_text: '# Plan\n' })
  assert.equal(resultOf(made)['change'], 'created')
  await bench.call(editFile, { path: plan, old_text: '# Plan', new_text: '# The plan' })
  assert.equal(readFileSync(plan, 'utf8'), '# The plan\n')
})

test('memory/x.md is the agent’s own memory, in whatever folder it works', async () => {
  mkdirSync(at('memory'), { recursive: true })
  const write = (path: string, new_text: string) => bench.call(editFile, { path, new_text })
  resultOf(await write('memory/fact.md', 'mine\n'))
  resultOf(await write('./memory/fact.md', 'of the project\n'))
  const own = join(bench.home, 'agents', 'main', 'memory', 'fact.md')
  assert.equal(readFileSync(own, 'utf8'), 'mine\n')
  assert.equal(have('memory/fact.md'), 'of the project\n')
  const read = resultOf(await bench.call(readFile, { path: 'memory/fact.md' }))
  assert.equal(read['path'], own)
})

test('an edit replaces exactly one place and keeps the rest and the mode', async () => {
  const name = fresh('one\r\ntwo\r\nthree\r\n')
  chmodSync(at(name), 0o755)
  const done = await bench.call(editFile, { path: name, old_text: 'two\n', new_text: '$&\n2\n' })
  assert.deepEqual(resultOf(done), {
    path: at(name),
    change: 'changed',
    replacements: 1,
    lines: [2],
    text: '1\tone\n2\t$&\n3\t2\n4\tthree',
    sha256: sha256('one\r\n$&\r\n2\r\nthree\r\n'),
  })
  assert.equal(have(name), 'one\r\n$&\r\n2\r\nthree\r\n')
  assert.equal(statSync(at(name)).mode & 0o777, 0o755)
  assert.equal(done.changed_something, true)
})

test('an edit that does not fit changes nothing and says why', async (t) => {
  const name = fresh('a b\na  c\na b\n')
  const cases: [string, Parameters<typeof editFile.run>[0], string, RegExp][] = [
    ['not there', { path: name, old_text: 'zzz', new_text: '' }, 'not_found', /Read the file/],
    ['other white space', { path: name, old_text: 'a c', new_text: '' }, 'not_found', /line 2/],
    ['several', { path: name, old_text: 'a b', new_text: '' }, 'not_unique', /replace_all/],
    ['the same', { path: name, old_text: 'a  c', new_text: 'a  c' }, 'same_text', /Nothing/],
    ['an existing file', { path: name, new_text: 'x' }, 'file_exists', /old_text/],
    ['no such file', { path: 'none', old_text: 'x', new_text: 'y' }, 'file_not_found', /old_text/],
  ]
  for (const [what, input, code, hint] of cases) {
    await t.test(what, async () => {
      const done = await bench.call(editFile, input)
      assert.equal(errorOf(done).code, code)
      assert.match(errorOf(done).hint ?? '', hint)
      assert.equal(done.changed_something, false)
    })
  }
  assert.equal(have(name), 'a b\na  c\na b\n')
})

test('replace_all replaces every place; an empty file is filled; folders are made', async () => {
  const name = fresh('x\nx\n')
  const all = await bench.call(editFile, {
    path: name,
    old_text: 'x',
    new_text: 'y',
    replace_all: true,
  })
  assert.deepEqual([resultOf(all)['replacements'], have(name)], [2, 'y\ny\n'])
  const empty = fresh('')
  assert.equal(
    resultOf(await bench.call(editFile, { path: empty, new_text: 'z' }))['change'],
    'changed',
  )
  assert.equal(have(empty), 'z')
  const nothing = await bench.call(editFile, { path: fresh(''), new_text: '' })
  assert.equal(nothing.changed_something, false)
  await bench.call(editFile, { path: 'made/deep/file.txt', new_text: 'n' })
  assert.equal(have('made/deep/file.txt'), 'n')
})

test('an intent makes nothing: no folder, no file', async () => {
  await begun(bench.begin(editFile, { path: 'later/file.txt', new_text: 'n' }))
  assert.equal(existsSync(at('later')), false)
})

test('an edit is not made on a file that changed after its intent', async () => {
  const name = fresh('a\n')
  const input = { path: name, old_text: 'a', new_text: 'b' }
  const call = await begun(bench.begin(editFile, input))
  put(name, 'a\nand more\n')
  assert.equal(errorOf(await bench.run(editFile, input, call)).code, 'file_changed')
  assert.equal(have(name), 'a\nand more\n')
})

test('recovery of an edit: open is made, made is told, foreign is unknown, with diff', async () => {
  const crashed = async () => {
    const name = fresh('a\nb\n')
    const input = { path: name, old_text: 'b', new_text: 'c' }
    return { name, input, call: await begun(bench.begin(editFile, input)) }
  }
  const before = await crashed()
  const made = await bench.recover(editFile, before.input, before.call)
  assert.deepEqual([resultOf(made)['replacements'], have(before.name)], [1, 'a\nc\n'])

  const done = await crashed()
  put(done.name, 'a\nc\n')
  const told = await bench.recover(editFile, done.input, done.call)
  assert.deepEqual([resultOf(told)['lines'], told.changed_something], [[2], true])

  const foreign = await crashed()
  put(foreign.name, 'somebody else\n')
  const error = errorOf(await bench.recover(editFile, foreign.input, foreign.call))
  assert.deepEqual([error.kind, error.code], ['outcome_unknown', 'file_changed_meanwhile'])
  const { intended_diff } = error.detail as { intended_diff: string }
  assert.match(intended_diff, /^--- .*\n\+\+\+ .*\n@@ -1,2 \+1,2 @@\n a\n-b\n\+c\n$/m)
  assert.equal(have(foreign.name), 'somebody else\n')
})

test('what an edit and a patch did to files stands with the result, also after a crash', async () => {
  const [edit, one, gone] = [fresh('a\nb\n'), fresh('one\ntwo\n'), fresh('x\n')]
  const input = { path: at(edit), old_text: 'b', new_text: 'c' }
  const call = await begun(bench.begin(editFile, input))
  const patch =
    `--- ${one}\n+++ ${one}\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n` +
    `--- ${gone}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n`
  const diffsOf = ({ result }: { result: ToolResult }) =>
    result.status === 'success' ? result.diffs : assert.fail(result.summary)
  const changed = { kind: 'changed', added: 1, removed: 1, cut_lines: 0 }
  const text = '@@ -1,2 +1,2 @@\n a\n-b\n+c\n'
  const file = (text: string) => ({ kind: 'file', kept_sha256: sha256(text), mode: 0o644 })
  const ends = (before: string, after: string) => ({
    ends: { before: file(before), after: file(after) },
  })
  const ofEdit = ends('a\nb\n', 'a\nc\n')
  const expected = [{ ...changed, path: at(edit), name: edit, text, ...ofEdit }]
  assert.deepEqual(diffsOf(await bench.recover(editFile, input, call)), expected)
  assert.deepEqual(diffsOf(await bench.call(applyPatch, { patch })), [
    {
      ...{ ...changed, path: at(one), name: one, text: '@@ -1,2 +1,2 @@\n-one\n+1\n two\n' },
      ...ends('one\ntwo\n', '1\ntwo\n'),
    },
    {
      ...{ kind: 'deleted', path: at(gone), name: gone, added: 0, removed: 1 },
      ...{ text: '@@ -1,1 +0,0 @@\n-x\n', cut_lines: 0 },
      ends: { before: file('x\n'), after: { kind: 'none' } },
    },
  ])
})

const twoFiles = (a: string, b: string) =>
  `--- a/${a}\n+++ b/${a}\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n` +
  `--- a/${b}\n+++ b/${b}\n@@ -1 +1,2 @@\n three\n+four\n`

const change = (name: string, from: string, to: string) =>
  `--- ${name}\n+++ ${name}\n@@ -1 +1 @@\n-${from}\n+${to}\n`

test('a patch changes, creates and deletes files in one call', async () => {
  const [a, b, gone] = [fresh('one\ntwo\n'), fresh('three\n'), fresh('bye\n')]
  const patch =
    twoFiles(a, b) +
    `--- a/${gone}\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n` +
    '--- /dev/null\n+++ b/new/file.txt\n@@ -0,0 +1 @@\n+hello\n'
  const done = await bench.call(applyPatch, { patch })
  assert.deepEqual(resultOf(done), {
    files: [
      { path: a, change: 'modify' },
      { path: b, change: 'modify' },
      { path: gone, change: 'delete' },
      { path: 'new/file.txt', change: 'create' },
    ],
  })
  assert.deepEqual(
    [have(a), have(b), existsSync(at(gone)), have('new/file.txt'), done.changed_something],
    ['1\ntwo\n', 'three\nfour\n', false, 'hello\n', true],
  )
})

test('a patch of which one hunk does not fit changes no file', async (t) => {
  const [a, b] = [fresh('one\ntwo\n'), fresh('other\n')]
  const cases: [string, string, string][] = [
    ['a hunk that does not match', twoFiles(a, b), 'hunk_mismatch'],
    ['a missing file', twoFiles(a, 'none.txt'), 'file_missing'],
    ['no patch at all', 'change one to two, please', 'not_a_patch'],
    ['a file outside', twoFiles(a, '../outside.txt'), 'path_denied'],
    [
      'one file by two names',
      change(a, 'one', '1') + change(`./${a}`, 'two', '2'),
      'same_file_twice',
    ],
  ]
  for (const [name, patch, code] of cases) {
    await t.test(name, async () => {
      assert.equal(errorOf(await bench.call(applyPatch, { patch })).code, code)
    })
  }
  assert.deepEqual([have(a), have(b)], ['one\ntwo\n', 'other\n'])
})

test('when a later file cannot be written the earlier ones are put back', async () => {
  const a = fresh('old\n')
  const written = writeAll('ApplyPatch', bench.context(), [
    { path: at(a), before: 'old\n', after: 'new\n' },
    { path: at('created.txt'), before: null, after: 'new\n' },
    { path: '/etc/outside', before: null, after: 'x' },
  ])
  await assert.rejects(written, { name: 'FileFault', code: 'denied' })
  assert.deepEqual([have(a), existsSync(at('created.txt'))], ['old\n', false])
})

test('a patch is not made on a file that changed after its intent, also by a link', async () => {
  const [a, b] = [fresh('one\ntwo\n'), fresh('three\n')]
  symlinkSync(at(b), at('b-link'))
  const input = { patch: twoFiles(a, 'b-link') }
  const call = await begun(bench.begin(applyPatch, input))
  assert.deepEqual(
    call.intent.files.map(({ path }) => path),
    [at(a), at(b)],
  )
  put(b, 'three changed\n')
  assert.equal(errorOf(await bench.run(applyPatch, input, call)).code, 'file_changed')
  assert.deepEqual([have(a), have(b)], ['one\ntwo\n', 'three changed\n'])
})

test('recovery of a patch goes on with the files that are still as before', async (t) => {
  const rename = (from: string, to: string) =>
    `diff --git a/${from} b/${to}\nsimilarity index 50%\nrename from ${from}\nrename to ${to}\n` +
    `--- a/${from}\n+++ b/${to}\n@@ -1 +1 @@\n-old\n+new\n`
  for (const made of ['nothing', 'first', 'all'] as const) {
    await t.test(`${made} of two files was written`, async () => {
      const [a, b] = [fresh('one\ntwo\n'), fresh('three\n')]
      const input = { patch: twoFiles(a, b) }
      const call = await begun(bench.begin(applyPatch, input))
      if (made !== 'nothing') put(a, '1\ntwo\n')
      if (made === 'all') put(b, 'three\nfour\n')
      assert.equal((await bench.recover(applyPatch, input, call)).changed_something, true)
      assert.deepEqual([have(a), have(b)], ['1\ntwo\n', 'three\nfour\n'])
    })
    await t.test(`${made} of a rename was written`, async () => {
      const [from, to] = [fresh('old\n'), `renamed-${++count}.txt`]
      const input = { patch: rename(from, to) }
      const call = await begun(bench.begin(applyPatch, input))
      if (made !== 'nothing') put(to, 'new\n')
      if (made === 'all') rmSync(at(from))
      const done = await bench.recover(applyPatch, input, call)
      assert.deepEqual(resultOf(done)['files'], [{ path: to, change: 'rename', from }])
      assert.deepEqual([have(to), existsSync(at(from))], ['new\n', false])
    })
  }
  await t.test('a file that is neither is unknown, and no other is touched', async () => {
    const [a, b] = [fresh('one\ntwo\n'), fresh('three\n')]
    const input = { patch: twoFiles(a, b) }
    const call = await begun(bench.begin(applyPatch, input))
    put(b, 'foreign\n')
    const error = errorOf(await bench.recover(applyPatch, input, call))
    assert.equal(error.kind, 'outcome_unknown')
    const { files } = error.detail as { files: unknown }
    assert.deepEqual(files, [
      { path: at(a), is: 'before' },
      { path: at(b), is: 'other' },
    ])
    assert.deepEqual([have(a), have(b)], ['one\ntwo\n', 'foreign\n'])
  })
})
