import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { test } from 'node:test'
import { packages } from './programs.ts'

const root = join(import.meta.dirname, '..', '..')

test('what .ci/debian installs is what tests ask for', () => {
  const text = readFileSync(join(root, '.ci', 'debian'), 'utf8')
  const installed = text.matchAll(/^command -v (\S+) >\/dev\/null \|\| need\+=\((\S+)\)$/gm)
  assert.deepEqual(
    Object.fromEntries([...installed].map(([, program, name]) => [program, name])),
    packages,
  )
})

/** What asking for a program that nobody has says, with these variables. */
function asks(env: NodeJS.ProcessEnv) {
  const ask = [
    `import { packages, without } from './src/testing/programs.ts'`,
    `Object.assign(packages, { none_such: 'nothing' })`,
    `console.log(without('none_such'))`,
  ].join('\n')
  const { status, stdout, stderr } = spawnSync(execPath, ['--input-type=module', '--eval', ask], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], ...env },
  })
  return { status, stdout, stderr }
}

test('a program that is missing is a reason to skip, and a failure in CI', () => {
  const reason = 'none_such is not installed: apt-get install nothing'
  assert.deepEqual(asks({}), { status: 0, stdout: `${reason}\n`, stderr: '' })
  const { status, stdout, stderr } = asks({ CI: 'true' })
  assert.deepEqual([status, stdout], [1, ''])
  assert.match(stderr, /none_such is not installed: .*; in CI nothing may skip for it/)
})
