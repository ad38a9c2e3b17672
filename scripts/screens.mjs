#!/usr/bin/env node
/**
 * `npm run screens`: draws the pictures of docs/screens/ with the real command on the home of the
 * demonstration, and the recording of a run. `-- home why` only those. Their words are what
 * test/screens.test.ts draws again.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recorded, recording, trimmed } from '../src/testing/demo/recording.ts'
import { drawn, pictures } from '../src/testing/demo/screens.ts'
import { startDemo } from '../src/testing/demo/demo.ts'
import { svgOf } from '../src/testing/screens/picture.ts'

process.umask(0o077)
const root = join(import.meta.dirname, '..')
const folder = join(root, 'docs', 'screens')
const asked = process.argv.slice(2)
const names = [recording.name, ...pictures.map(({ name }) => name)]
const unknown = asked.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`screens: there is no picture ${unknown.join(', ')}\n`)
  process.exit(2)
}

const place = realpathSync(mkdtempSync(join(tmpdir(), 'holon-demo-')))
const command = [process.execPath, join(root, 'src', 'main.ts')]
const wants = (name) => asked.length === 0 || asked.includes(name)
/** The home is private; the pictures are for everybody. */
function write(name, svg) {
  process.umask(0o022)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.svg`), svg, { mode: 0o644 })
  process.umask(0o077)
  process.stdout.write(`docs/screens/${name}.svg\n`)
}

try {
  if (wants(recording.name)) {
    const { rows, at } = trimmed(await recorded(join(place, 'recording'), command))
    write(recording.name, svgOf(recording.title, rows, recording.columns, at))
  }
  if (pictures.some(({ name }) => wants(name))) await drawAll()
} finally {
  rmSync(place, { recursive: true, force: true })
}

async function drawAll() {
  const demo = await startDemo(join(place, 'demo'))
  try {
    for (const picture of pictures) {
      if (!wants(picture.name)) continue
      const { rows } = await drawn(picture, { demo, command })
      write(picture.name, svgOf(picture.title, rows, picture.columns))
    }
  } finally {
    await demo.close()
  }
}
