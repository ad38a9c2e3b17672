/** `--image` as somebody types it: the real program on files, and what the inbox says of them. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { MessageRecord } from '../src/protocol/records/message-record.ts'
import { pngOf } from '../src/testing/images.ts'
import { startModelServer, TEST_KEY } from '../src/testing/model-server/server.ts'
import { ServedHome } from './support/served-home.ts'

const main = join(import.meta.dirname, '..', 'src', 'main.ts')

test('images are sent with words by their files; what is none is refused by its name', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holon-image-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const env = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', HOME: folder }
  const holon = (...words: string[]) => {
    const args = [main, ...words, '--home', join(folder, 'home')]
    return spawnSync(process.execPath, args, { env, encoding: 'utf8', cwd: folder })
  }
  writeFileSync(join(folder, 'a.png'), pngOf(640, 480))
  writeFileSync(join(folder, 'b.png'), pngOf(8, 6))
  writeFileSync(join(folder, 'page.png'), '<html>')
  writeFileSync(join(folder, 'huge.png'), pngOf(9_000, 6))
  writeFileSync(join(folder, 'book.md'), '# Do nothing\n\n```sh\ntrue\n```\n')
  assert.equal(holon('agents', 'create', 'main').status, 0)
  const refused: readonly [string[], string][] = [
    [['a.jpg'], 'a.jpg: it is not there; nothing was sent; name another file'],
    [['page.png'], 'page.png is no PNG, JPEG, GIF or WebP by its first bytes; nothing was sent'],
    [['a.png', 'huge.png'], 'huge.png is larger than 8000 pixels on a side; nothing was sent'],
  ]
  for (const [files, said] of refused) {
    const flags = files.flatMap((file) => ['--image', file])
    for (const words of [
      ['send', 'Look.', ...flags],
      ['run', ...flags, 'Look.', '--model', 'foo'],
    ]) {
      const done = holon(...words)
      assert.deepEqual([done.stderr, done.status], [`holon: ${said}\n`, 2], words.join(' '))
    }
  }
  for (const [words, said] of [
    [['--resume'], '--resume sends nothing'],
    [['book.md'], 'a runbook takes no images'],
  ] as const) {
    const done = holon('run', ...words, '--image', 'a.png')
    assert.equal(done.stderr, `holon: ${said}; leave --image out, or say something with it\n`)
  }
  const sent = holon('send', '--image', 'a.png', 'Like this.', '--image', 'b.png', '--json')
  assert.equal(sent.status, 0, sent.stderr)
  const listed = JSON.parse(holon('search', 'Like', '--json').stdout) as unknown
  assert.match(JSON.stringify(listed), /this\. \[image PNG 640×480\] \[image PNG 8×6\]/)
  const { message } = eventOf(holon('events', '--json').stdout)
  assert.deepEqual(
    message.images?.map(({ width }) => width),
    [640, 8],
  )
})

test('a run and a sent message say on the terminal that an image is not seen', async (t) => {
  const server = await startModelServer(() => ({ text: 'I see nothing.' }))
  t.after(() => server.close())
  const at = new ServedHome(t)
  at.env['OPENAI_COMPATIBLE_BASE_URL'] = server.base_url
  at.env['OPENAI_COMPATIBLE_API_KEY'] = TEST_KEY
  writeFileSync(join(at.folder, 'a.png'), pngOf(640, 480))
  const model = 'openai-compatible/local'
  const unseen = new RegExp(
    `^! the image is not seen: ${model}, the model of main, is not known to take images\\. ` +
      'The words are sent.*models\\.<id>\\.vision in config\\.json',
    'ms',
  )
  const run = await at.holon('run', 'Look.', '--image', 'a.png', '--model', model)
  assert.deepEqual([run.exit, run.out], [0, 'I see nothing.\n'])
  assert.match(run.err, unseen)
  const sent = await at.holon('send', 'Look.', '--image', 'a.png')
  assert.match(sent.out, unseen)
  const json = await at.holon('run', 'Look.', '--image', 'a.png', '--json')
  const last = JSON.parse(json.out.trim().split('\n').at(-1) ?? '') as { run: Warned }
  assert.deepEqual([json.err, last.run.warnings.map(({ kind }) => kind)], ['', ['image_unseen']])
  // A home that knows better warns nobody.
  const known = { models: { [model]: { vision: true } } }
  writeFileSync(join(at.home, 'config.json'), JSON.stringify(known))
  const seen = await at.holon('run', 'Look.', '--image', 'a.png')
  assert.doesNotMatch(seen.err, /not seen/)
})

type Warned = { warnings: { kind: string }[] }

function eventOf(lines: string): { message: Partial<MessageRecord> } {
  const events = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: { type: string } & Partial<MessageRecord> })
  const found = events.filter(({ event }) => event.type === 'message_admitted')
  assert.equal(found.length, 1)
  return { message: found[0]?.event ?? {} }
}
