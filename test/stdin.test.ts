/**
 * What comes by a pipe, as `holon run -` and `holon import -` read it: the real program, on bytes
 * at the limit and over it, cut inside a character, and on what is no text.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { limits } from '../src/domain/limits.ts'

const main = join(import.meta.dirname, '..', 'src', 'main.ts')
const most = limits.operator_text.value
const tooLong = `is larger than ${most} bytes; keep it within ${most} bytes`
const fits = '"foo" is no model; write provider/model, like anthropic/claude-sonnet-5-5'

/** What is piped into a run whose model is none, and what is said of it, once it is a text. */
const pipes: readonly [what: string, bytes: Buffer, said: string][] = [
  [
    'nothing',
    Buffer.alloc(0),
    'the standard input is empty; say in one sentence what is to be achieved',
  ],
  ['the most', Buffer.alloc(most, 'a'), fits],
  ['one byte more', Buffer.alloc(most + 1, 'a'), `the standard input ${tooLong}`],
  ['ten times as much', Buffer.alloc(10 * most, 'a'), `the standard input ${tooLong}`],
  ['the most in letters of two bytes', Buffer.from('ä'.repeat(most / 2)), fits],
  [
    'more, cut inside a letter',
    Buffer.from(`a${'ä'.repeat(most / 2)}`),
    `the standard input ${tooLong}`,
  ],
  [
    'what is no text',
    Buffer.from([0xff, 0xfe]),
    'the standard input is not a text in UTF-8; name a text file',
  ],
  ['a zero', Buffer.from('a\0b'), 'the standard input is not a text in UTF-8; name a text file'],
]

test('a pipe is read to its limit and no further, and what it says is told', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'holon-stdin-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const env = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', HOME: home }
  for (const [what, input, said] of pipes) {
    const words = ['run', '-', '--model', 'foo', '--home', join(home, 'home')]
    const done = spawnSync(process.execPath, [main, ...words], { env, input, encoding: 'utf8' })
    assert.deepEqual([done.stderr, done.status], [`holon: ${said}\n`, 2], what)
  }
  const words = ['import', '-', '--home', join(home, 'home')]
  const input = Buffer.from([0xff])
  const done = spawnSync(process.execPath, [main, ...words], { env, input, encoding: 'utf8' })
  assert.match(done.stderr, /^holon: - is not imported: it is no text in UTF-8/)
})
