#!/usr/bin/env node
/**
 * `npm run screens`: draws the pictures of docs/screens/ with the real command on the home of the
 * demonstration. `-- home why` only those. Their words are what test/screens.test.ts draws again.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drawn, pictures } from '../src/testing/demo/screens.ts'
import { startDemo } from '../src/testing/demo/demo.ts'
import { svgOf } from '../src/testing/screens/picture.ts'

process.umask(0o077)
const root = join(import.meta.dirname, '..')
const folder = join(root, 'docs', 'screens')
const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !pictures.some((one) => one.name === name))
if (unknown.length > 0) {
  process.stderr.write(`screens: there is no picture ${unknown.join(', ')}\n`)
  process.exit(2)
}

const place = realpathSync(mkdtempSync(join(tmpdir(), 'holon-demo-')))
const demo = await startDemo(place)
try {
  // The home is private; the pictures are for everybody.
  process.umask(0o022)
  mkdirSync(folder, { recursive: true })
  const command = [process.execPath, join(root, 'src', 'main.ts')]
  for (const picture of pictures) {
    if (asked.length > 0 && !asked.includes(picture.name)) continue
    const { rows } = await drawn(picture, { demo, command })
    const path = join(folder, `${picture.name}.svg`)
    writeFileSync(path, svgOf(picture.title, rows, picture.columns), { mode: 0o644 })
    process.stdout.write(`docs/screens/${picture.name}.svg\n`)
  }
} finally {
  await demo.close()
  rmSync(place, { recursive: true, force: true })
}
