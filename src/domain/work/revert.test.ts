import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeptFile } from '../state/file-diff.ts'
import { revertTargets, targetsNamed, undoTargets, type RecordedChange } from './revert.ts'

const none: KeptFile = { kind: 'none' }
const file = (kept_sha256: string, mode: number | null = 0o644): KeptFile => {
  return { kind: 'file', kept_sha256, mode }
}
const change = (before: KeptFile, after: KeptFile, name = 'a'): RecordedChange => {
  return { path: `/w/${name}`, name, ends: { before, after } }
}
const unkept: RecordedChange = { path: '/w/a', name: 'a', ends: { not_kept: 'secret' } }

const rows: [what: string, changes: RecordedChange[], target: object | null][] = [
  ['one change', [change(file('1'), file('2'))], { left: file('2'), to: file('1') }],
  [
    'changes that follow each other',
    [change(none, file('1', null)), change(file('1'), file('2'))],
    { left: file('2'), to: none },
  ],
  [
    'a change by somebody else between two',
    [change(none, file('1')), change(file('theirs'), file('2'))],
    { left: file('2'), to: file('theirs') },
  ],
  [
    'a mode that somebody else changed between two',
    [change(none, file('1')), change(file('1', 0o755), file('2', 0o755))],
    { left: file('2', 0o755), to: file('1', 0o755) },
  ],
  ['changes that come to nothing', [change(none, file('1')), change(file('1'), none)], null],
  ['a change that is not kept', [change(none, file('1')), unkept], { no: 'secret' }],
  [
    'a change before which one is not kept',
    [unkept, change(file('1'), file('2'))],
    { no: 'secret' },
  ],
  [
    'a change by somebody else behind one that is not kept',
    [unkept, change(file('0'), file('1')), change(file('theirs'), file('2'))],
    { left: file('2'), to: file('theirs') },
  ],
  [
    'a command beside an edit, which saw the same',
    [change(file('0'), file('1')), change(file('1'), file('2')), change(file('1'), file('2'))],
    { left: file('2'), to: file('0') },
  ],
  [
    'a bit of the mode that is not put back',
    [change(file('1', 0o4755), file('2', 0o755)), change(file('2', 0o4755), file('1', 0o755))],
    null,
  ],
  ['a change of an earlier version', [{ path: '/w/a', name: 'a' }], { no: 'earlier_version' }],
]
for (const [what, changes, target] of rows) {
  test(`${what}: where it goes back to`, () => {
    const expected = target === null ? [] : [{ path: '/w/a', name: 'a', ...target }]
    assert.deepEqual(revertTargets(changes), expected)
  })
}

test('an undo is of the last revert of each file, and never of an undo', () => {
  const about = { path: '/w/a', name: 'a' }
  const other = { path: '/w/b', name: 'b' }
  const reverts = [
    { undo: false, files: [{ ...about, replaced: file('2'), put: file('1') }] },
    {
      undo: false,
      files: [
        { ...about, replaced: file('3'), put: file('2') },
        { ...other, replaced: file('8'), put: file('7') },
      ],
    },
    { undo: true, files: [{ ...other, replaced: file('7'), put: file('8') }] },
  ]
  assert.deepEqual(undoTargets(reverts), [
    { ...about, left: file('2'), to: file('3') },
    { ...other, left: file('7'), to: file('8') },
  ])
})

test('files are named as the item calls them, or by their paths', () => {
  const targets = revertTargets(['a', 'b'].map((name) => change(none, file('1'), name)))
  const names = (given: string[] | undefined) => {
    const named = targetsNamed(targets, given)
    return named.ok ? named.targets.map(({ name }) => name) : named.code
  }
  assert.deepEqual(names(undefined), ['a', 'b'])
  assert.deepEqual(names(['b', '/w/b']), ['b'])
  assert.deepEqual(names(['a', 'c']), 'file_not_changed')
})
