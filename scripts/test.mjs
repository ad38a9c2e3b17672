// Runs every test and ends with one summary. Rooms that start no processes share one process,
// which saves a start per file; the others, and the whole-system tests, get one process per file.
// Arguments: parts of paths to run only those files, `--name <regular expression>` to run only
// those tests, `--update-snapshots`, `--first` to say at once which test was the first to fail.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { chdir, env, execPath, exit } from 'node:process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

chdir(fileURLToPath(new URL('..', import.meta.url)))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    name: { type: 'string' },
    'update-snapshots': { type: 'boolean', default: false },
    first: { type: 'boolean', default: false },
  },
})

/** The rooms whose tests leave the process as they found it. */
const shares = /^src\/(domain|protocol|context|ledger|models|tools|http|client|present)\//
/**
 * Milliseconds a single test may take before it fails instead of holding up everything: the longest
 * takes 10 s on two quiet cores, and ten times that where others work on the same machine. Where
 * the first failure is what is asked for, one that waits for ever is told sooner.
 */
const testPatience = values.first ? 120_000 : 300_000
/** Milliseconds for a whole run: longer means that something finished was left open. */
const runPatience = 2_400_000

const chosen = ['src/**/*.test.ts', 'test/**/*.test.ts']
  .flatMap((pattern) => globSync(pattern))
  .filter((path) => positionals.length === 0 || positionals.some((part) => path.includes(part)))
  .toSorted()
if (chosen.length === 0) {
  console.error('no test file matches')
  exit(2)
}

/** Runs `files`: Node's counts and the skips, or undefined if the run did not get to its end. */
const runFiles = async (isolation, files) => {
  const options = [
    '--test',
    `--test-isolation=${isolation}`,
    `--test-concurrency=${availableParallelism()}`,
    `--test-timeout=${testPatience}`,
    '--test-reporter=./scripts/test-reporter.mjs',
    ...(values['update-snapshots'] ? ['--test-update-snapshots'] : []),
    ...(values.name === undefined ? [] : [`--test-name-pattern=${values.name}`]),
  ]
  const child = spawn(execPath, [...options, ...files], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    env: { ...env, ...(values.first ? { TELL_FIRST_FAILURE: '1' } : {}) },
  })
  const overdue = setTimeout(() => {
    console.error('the tests do not end: something they opened (a timer, a server) is still open')
    child.kill('SIGKILL')
  }, runPatience)
  const [summary, [code]] = await Promise.all([text(child.stdio[3]), once(child, 'exit')])
  clearTimeout(overdue)
  if (code !== 0) process.exitCode = 1
  return summary === '' ? undefined : JSON.parse(summary)
}

const totals = {}
const skipped = []
for (const [isolation, files] of [
  ['none', chosen.filter((path) => shares.test(path))],
  ['process', chosen.filter((path) => !shares.test(path))],
]) {
  if (files.length === 0) continue
  const summary = await runFiles(isolation, files)
  if (summary === undefined) process.exitCode = 1
  for (const [what, number] of Object.entries(summary?.counts ?? {})) {
    totals[what] = (totals[what] ?? 0) + number
  }
  skipped.push(...(summary?.skips ?? []))
}
for (const skip of skipped) console.log(`SKIPPED ${skip}`)
for (const [what, total] of Object.entries(totals)) console.log(`ℹ ${what} ${total}`)
