// Unified diffs applied to texts in memory.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyDiff, type FileChange, parseDiff, type PatchRejection } from './patch.ts'

type Contents = Record<string, string | null>

/** Each change as one line of text and its new content, or the rejection. */
function apply(diff: string, contents: Contents): FileChange[] | PatchRejection {
  const parsed = parseDiff(diff)
  if (!parsed.ok) return parsed.rejection
  const known = new Map(parsed.patch.paths.map((path) => [path, contents[path] ?? null]))
  const applied = applyDiff(parsed.patch, known)
  return applied.ok ? applied.changes : applied.rejection
}

function shown(outcome: FileChange[] | PatchRejection): unknown {
  if (!Array.isArray(outcome)) return [outcome.code, outcome.path, outcome.hunk]
  return outcome.map((change) => {
    const from = change.kind === 'rename' ? ` ${change.from} ->` : ''
    const what = `${change.kind}${from} ${change.path}`
    return change.kind === 'delete' ? what : [what, change.after]
  })
}

const modify = `--- a/x
+++ b/x
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
`
const noNewline = '\\ No newline at end of file'
const three = 'one\ntwo\nthree\n'
const create = '--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+a\n+b\n'
const remove = '--- a/old\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n'
const gitRename = `diff --git a/from b/to
similarity index 80%
rename from from
rename to to
--- a/from
+++ b/to
@@ -1,2 +1,2 @@
-a
+A
 b
`

const accepted: [string, string, Contents, unknown][] = [
  ['a change', modify, { x: three }, [['modify x', 'one\nTWO\nthree\n']]],
  [
    'a change at another line',
    modify,
    { x: `zero\nzero\n${three}` },
    [['modify x', 'zero\nzero\none\nTWO\nthree\n']],
  ],
  [
    'a change in a CRLF file',
    modify,
    { x: 'one\r\ntwo\r\nthree\r\n' },
    [['modify x', 'one\r\nTWO\r\nthree\r\n']],
  ],
  [
    'a change behind a byte order mark',
    modify,
    { x: `\uFEFF${three}` },
    [['modify x', '\uFEFFone\nTWO\nthree\n']],
  ],
  ['a creation', create, {}, [['create new', 'a\nb\n']]],
  ['a deletion', remove, { old: 'a\nb\n' }, ['delete old']],
  ['a rename with a change', gitRename, { from: 'a\nb\n' }, [['rename from -> to', 'A\nb\n']]],
  [
    'a rename alone',
    'diff --git a/from b/to\nsimilarity index 100%\nrename from from\nrename to to\n',
    { from: 'a\n' },
    [['rename from -> to', 'a\n']],
  ],
  [
    'a rename without git',
    '--- from\n+++ to\n@@ -1 +1 @@\n-a\n+b\n',
    { from: 'a\n' },
    [['rename from -> to', 'b\n']],
  ],
  [
    'several files',
    modify + create + remove,
    { x: three, old: 'a\nb\n' },
    [['modify x', 'one\nTWO\nthree\n'], ['create new', 'a\nb\n'], 'delete old'],
  ],
  [
    'a file twice',
    modify + modify.replace('-two\n+TWO', ' TWO').replace(' three', '-three\n+3'),
    { x: three },
    [['modify x', 'one\nTWO\n3\n']],
  ],
  [
    'a git creation of an empty file',
    'diff --git a/e b/e\nnew file mode 100644\n',
    {},
    [['create e', '']],
  ],
  [
    'a git deletion of an empty file',
    'diff --git a/e b/e\ndeleted file mode 100644\n',
    { e: '' },
    ['delete e'],
  ],
  [
    'wrong line counts',
    modify.replace('-1,3 +1,3', '-1,7 +1,9'),
    { x: three },
    [['modify x', 'one\nTWO\nthree\n']],
  ],
  [
    'wrong line counts in two hunks and two files',
    '--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-one\n+ONE\n@@ -3,9 +3,9 @@\n-three\n+THREE\n' +
      '--- /dev/null\n+++ b/new\n@@ -0,0 +1,9 @@\n+a\n+b\n',
    { x: three },
    [
      ['modify x', 'ONE\ntwo\nTHREE\n'],
      ['create new', 'a\nb\n'],
    ],
  ],
  [
    'no newline at the end',
    ['--- x', '+++ x', '@@ -1 +1 @@', '-a', noNewline, '+b', noNewline, ''].join('\n'),
    { x: 'a' },
    [['modify x', 'b']],
  ],
  [
    'a path of a/ without git',
    '--- a/x\n+++ a/x\n@@ -1 +1 @@\n-1\n+2\n',
    { 'a/x': '1\n' },
    [['modify a/x', '2\n']],
  ],
  ['a change to the same', '--- x\n+++ x\n@@ -1 +1 @@\n-1\n+1\n', { x: '1\n' }, []],
]

for (const [name, diff, contents, expected] of accepted) {
  test(`${name} is applied`, () => assert.deepEqual(shown(apply(diff, contents)), expected))
}

const twoHunks = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+1\n@@ -3 +3 @@\n-drei\n+3\n'
const refused: [string, string, Contents, unknown][] = [
  ['an empty text', '', {}, ['not_a_patch', null, null]],
  ['prose', 'please change x', {}, ['not_a_patch', null, null]],
  ['a hunk without a file', '@@ -1 +1 @@\n-a\n+b\n', {}, ['not_a_patch', null, null]],
  ['a missing +++ line', '--- a/x\n@@ -1 +1 @@\n-a\n+b\n', {}, ['not_a_patch', null, null]],
  ['a missing file', modify, {}, ['file_missing', 'x', null]],
  ['a creation of what is there', create, { new: '' }, ['file_exists', 'new', null]],
  [
    'a rename onto what is there',
    gitRename,
    { from: 'a\nb\n', to: 'x' },
    ['file_exists', 'to', null],
  ],
  ['other context', modify, { x: 'one\n2\nthree\n' }, ['hunk_mismatch', 'x', 1]],
  ['the second hunk', twoHunks, { x: three }, ['hunk_mismatch', 'x', 2]],
  ['a deletion of a part', remove, { old: 'a\nb\nc\n' }, ['delete_mismatch', 'old', null]],
  [
    'a binary change',
    'diff --git a/i.png b/i.png\nindex 1..2 100644\nBinary files a/i.png and b/i.png differ\n',
    { 'i.png': 'x' },
    ['unsupported', 'i.png', null],
  ],
  [
    'a change of mode',
    'diff --git a/x b/x\nold mode 100644\nnew mode 100755\n',
    { x: 'x' },
    ['unsupported', 'x', null],
  ],
]

for (const [name, diff, contents, expected] of refused) {
  test(`${name} is refused`, () => assert.deepEqual(shown(apply(diff, contents)), expected))
}

test('one file that does not fit refuses all of them, naming file, hunk and line', () => {
  const outcome = apply(create + twoHunks, { x: three })
  assert.deepEqual(outcome, {
    code: 'hunk_mismatch',
    path: 'x',
    hunk: 2,
    message: 'x: hunk 2 of 2 (line 3) does not match the file',
    hint: 'Read the file again and copy the context lines exactly; nothing was changed.',
  })
})

test('a change carries the hashes of before and after', () => {
  const outcome = apply('--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n', { x: 'a\n' })
  assert.deepEqual(outcome, [
    {
      kind: 'modify',
      path: 'x',
      before_sha256: '87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7',
      after: 'b\n',
      after_sha256: '0263829989b6fd954f72baaf2fc64bc2e2f01d692d4de72986ea808f6e99813f',
    },
  ])
})
