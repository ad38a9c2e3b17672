/**
 * Who may read what is written: what an agent makes in a person's folder has the modes that the
 * person's own umask gives, and what Holon keeps is its owner's alone.
 */
import assert from 'node:assert/strict'
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { placed } from './support/cli/worker-home.ts'

const modeOf = (path: string): string => (lstatSync(path).mode & 0o777).toString(8)

const patch = '--- /dev/null\n+++ patched/deep/a.txt\n@@ -0,0 +1 @@\n+made\n'
const makes = [
  { name: 'ApplyPatch', input: { patch } },
  { name: 'EditFile', input: { path: 'edited/a.txt', new_text: 'made\n' } },
  { name: 'ExecCommand', input: { cmd: 'mkdir run && echo made >run/a.txt' } },
  { name: 'ExecCommand', input: { cmd: 'mkdir keys && echo made >keys/a.txt', tty: true } },
]
const made = [
  'patched',
  'patched/deep',
  'patched/deep/a.txt',
  'edited',
  'edited/a.txt',
  'run',
].concat('run/a.txt', 'keys', 'keys/a.txt')

for (const { umask, file, folder } of [
  { umask: '0002', file: '664', folder: '775' },
  { umask: '0027', file: '640', folder: '750' },
]) {
  for (const by of ['a run', 'a daemon'] as const) {
    test(
      `with umask ${umask}, by ${by}, files are the person's own`,
      { timeout: 60_000 },
      async (t) => {
        const { at, root, run } = await placed(t)
        at.within = ['/bin/sh', '-c', `umask ${umask} && exec "$@"`, 'sh']
        if (by === 'a daemon') assert.equal((await at.holon('start', '--port', '0')).exit, 0)
        const { exit, err } = await run(...makes)
        assert.equal(exit, 0, err)
        assert.deepEqual(
          made.map((name) => [name, modeOf(join(root, name))]),
          made.map((name) => [name, name.endsWith('.txt') ? file : folder]),
        )
        assert.equal(modeOf(at.home), '700')
        const own = readdirSync(at.home, { withFileTypes: true })
        const open = own.filter((one) => !/^.00$/.test(modeOf(join(at.home, one.name))))
        assert.deepEqual(
          open.map(({ name }) => name),
          [],
        )
      },
    )
  }
}
