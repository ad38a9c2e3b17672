/**
 * The pictures of docs/screens/ are what the program draws: the real command on the home of the
 * demonstration, driven by the same keys, comes to tell what each picture tells, but for times, ids
 * and amounts. `npm run screens` draws them anew.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { textOf } from '../src/testing/screens/cell-grid.ts'
import { recorded, recording, trimmed } from '../src/testing/demo/recording.ts'
import { drawn, pictures } from '../src/testing/demo/screens.ts'
import { startDemo } from '../src/testing/demo/demo.ts'
import { linesIn, svgOf, told } from '../src/testing/screens/picture.ts'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'docs', 'screens')
const pictured = (name: string) => linesIn(readFileSync(join(folder, `${name}.svg`), 'utf8'))

test('every picture of the documentation is drawn again by the program', async (t) => {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'holon-demo-test-')))
  const demo = await startDemo(place)
  t.after(async () => {
    await demo.close()
    rmSync(place, { recursive: true, force: true })
  })
  const command = [process.execPath, join(root, 'src', 'main.ts')]
  for (const picture of pictures) {
    const wanted = told(pictured(picture.name))
    const found = await drawn(picture, { demo, command }, wanted).catch((error: Error) =>
      assert.deepEqual(told(error.message.split('\n')), wanted, picture.name),
    )
    assert.deepEqual(told(found?.rows.map(textOf) ?? []), wanted, picture.name)
  }
})

test('the recording is run again, and comes to the same end', async (t) => {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'holon-demo-test-')))
  t.after(() => rmSync(place, { recursive: true, force: true }))
  const command = [process.execPath, join(root, 'src', 'main.ts')]
  const { rows, at } = trimmed(await recorded(place, command))
  assert.deepEqual(told(rows.map(textOf)), told(pictured(recording.name)))
  const begun = at[rows.findIndex((row) => textOf(row).includes('turn 1'))] ?? Number.NaN
  const ended = at.at(-1) ?? Number.NaN
  assert.ok(begun > 0 && ended - begun >= 4_500, `CI takes 4.5 s: from ${begun} to ${ended}`)
})

test('a recording has nothing but styles, is small, and stands whole without motion', () => {
  const svg = readFileSync(join(folder, `${recording.name}.svg`), 'utf8')
  assert.ok(Buffer.byteLength(svg) <= 150_000)
  assert.doesNotMatch(svg, /<script|\bon\w+=|href|@import|url\(/)
  assert.match(svg, /prefers-reduced-motion: reduce\) \{ \.row \{ animation: none \} \}/)
  const delays = [...svg.matchAll(/animation-delay: (\d+)ms/g)].map(([, ms]) => Number(ms))
  assert.ok(delays.length > 15 && Math.max(...delays) < 60_000, String(delays))
})

test('there is a picture for each screen that is driven, and no other', () => {
  const names = readdirSync(folder).map((name) => name.replace(/\.svg$/, ''))
  const drawn = [recording, ...pictures].map(({ name }) => name)
  assert.deepEqual(names.toSorted(), drawn.toSorted())
})

test('a picture says what it draws, in its colours and at its place', () => {
  const plain = { colour: null, bold: false, dim: false, inverse: false }
  const rows = [
    [
      { ...plain, text: 'holon', at: 0, cells: 5, bold: true },
      { ...plain, text: ' <a> & b', at: 5, cells: 8, colour: 3 },
    ],
    [{ ...plain, text: '界', at: 0, cells: 2, inverse: true }],
  ]
  const svg = svgOf('one', rows, 20)
  assert.deepEqual(linesIn(svg), ['holon <a> & b', '界'])
  assert.throws(() => linesIn(svg.replace('>界<', '>x<')), /not those it draws/)
  assert.match(svg, /<text x="54.0" y="23" textLength="67.2" fill="#e3b341">/)
  const moving = svgOf('one', rows, 20, [250, 1_500])
  assert.deepEqual(linesIn(moving), linesIn(svg))
  assert.deepEqual(moving.match(/animation-delay: \d+ms/g), [
    'animation-delay: 250ms',
    'animation-delay: 1500ms',
  ])
})

test('frames that differ in times, ids and amounts alone tell the same', () => {
  const a = ['  ⠋ main      Upgrade  turn 4, 1:08│ 11:49  you', 'ok 1 decl', 'ok 2 decl', '']
  const b = ['  ⠹ main      Upgrade  turn 4, 10:59│ 11:51  you', 'ok 1 decl', '']
  assert.deepEqual(told(a), told(b))
  assert.notDeepEqual(told(a), told(['  ⠋ main  Upgrade  turn 4, 1:08│ 11:49  ops', 'ok 1 decl']))
})
