// Which test runs which line of the sources: each test file is run once with V8's coverage, and
// what it starts, too. What was ended by a signal has written nothing.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env, execPath } from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'

const preload = fileURLToPath(new URL('coverage-everywhere.cjs', import.meta.url))

/** Marks of a text's characters, 1 where they ran; V8's ranges lie in one another, outer first. */
function markedBy(functions, length) {
  const marks = new Uint8Array(length)
  for (const { ranges } of functions) {
    for (const { startOffset, endOffset, count } of ranges) {
      marks.fill(count > 0 ? 1 : 0, startOffset, endOffset)
    }
  }
  return marks
}

/** The lines, from 1 on, of which something other than blanks ran. */
function linesOf(text, marks, lines) {
  let line = 1
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\n') line++
    else if (marks[at] === 1 && text[at] > ' ') lines.add(line)
  }
}

/** What one run wrote into `folder`, by source file of `place`: the lines that ran. */
function readCoverage(folder, place, textOf) {
  const sources = `${pathToFileURL(place).href}/src/`
  const byFile = new Map()
  for (const name of readdirSync(folder)) {
    let scripts
    try {
      scripts = JSON.parse(readFileSync(join(folder, name), 'utf8')).result
    } catch {
      // Cut off with its process.
      continue
    }
    for (const { url, functions } of scripts) {
      if (!url.startsWith(sources) || !url.endsWith('.ts') || url.endsWith('.test.ts')) continue
      const file = `src/${url.slice(sources.length)}`
      const text = textOf(file)
      if (text === undefined) continue
      if (!byFile.has(file)) byFile.set(file, new Set())
      linesOf(text, markedBy(functions, text.length), byFile.get(file))
    }
  }
  return byFile
}

/** Runs one test file of the copy at `place`: its seconds, and the lines of each source it ran. */
async function coverageOf(place, path, limit, textOf) {
  const folder = mkdtempSync(join(tmpdir(), 'holon-covered-'))
  const from = performance.now()
  const child = spawn(execPath, ['scripts/test.mjs', path], {
    cwd: place,
    detached: true,
    env: { ...env, NODE_V8_COVERAGE: folder, NODE_OPTIONS: `--require=${preload}` },
    stdio: 'ignore',
  })
  const overdue = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), limit * 1_000)
  await once(child, 'exit')
  clearTimeout(overdue)
  const seconds = (performance.now() - from) / 1_000
  const lines = readCoverage(folder, place, textOf)
  rmSync(folder, { recursive: true, force: true })
  return { path, seconds, lines: [...lines].map(([file, ran]) => [file, [...ran]]) }
}

/**
 * The coverage of each of `tests`, in as many copies as there are places. What stands in the file
 * `kept` for these sources is not run again; each run is added to it as soon as it is there.
 */
export async function coverageOfAll(tests, { places, limit, kept, sources }) {
  const texts = new Map(sources.map((file) => [file, readFileSync(file, 'utf8')]))
  const hash = createHash('sha256')
  for (const path of [...sources, ...tests]) hash.update(readFileSync(path))
  const head = JSON.stringify({ sources_and_tests: hash.digest('hex') })
  const lines = kept !== undefined && existsSync(kept) ? readFileSync(kept, 'utf8').split('\n') : []
  if (lines[0] !== head && kept !== undefined) writeFileSync(kept, `${head}\n`)
  const known = lines[0] === head ? lines.slice(1).filter((line) => line !== '') : []
  const all = known.map((line) => JSON.parse(line))
  const queue = tests.filter((path) => !all.some((one) => one.path === path))
  await Promise.all(
    places.map(async (place) => {
      for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
        const one = await coverageOf(place, path, limit, (file) => texts.get(file))
        all.push(one)
        if (kept !== undefined) appendFileSync(kept, `${JSON.stringify(one)}\n`)
        console.error(
          `covered by ${all.length} of ${tests.length} ${path} ${one.seconds.toFixed(0)} s`,
        )
      }
    }),
  )
  return all
}
