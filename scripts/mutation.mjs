// How much of the domain its tests notice: `npm run mutation`. Stryker changes the rules one small
// thing at a time and runs the tests that reach the change; stryker.config.json says how. Ends with
// the score, and with 1 when it is under the configured floor.
// Arguments: paths of files to look at only those; `--sample 5 --seed 1` looks at five in a hundred
// of all top-level declarations, drawn by the seed, each with every mutant in it;
// `--runner tap` starts a process for each test file and mutant instead of calling the tests in one
// that stays (mutation-runner.mjs): to compare the two. `--survivors` lists what the last run did
// not notice.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { chdir, env, execPath, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { drawing } from './draw.mjs'

chdir(fileURLToPath(new URL('..', import.meta.url)))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    runner: { type: 'string', default: 'rules' },
    survivors: { type: 'boolean', default: false },
  },
})
const config = JSON.parse(readFileSync('stryker.config.json', 'utf8'))
const report = config.jsonReporter.fileName

/** Each function or constant at the top of a file, as a range that Stryker understands. */
function declarationsOf(path) {
  const lines = readFileSync(path, 'utf8').split('\n')
  const starts = lines.flatMap((line, at) =>
    /^(export )?(function|const) /.test(line) ? [at] : [],
  )
  return starts.map((from, at) => `${path}:${from + 1}-${starts[at + 1] ?? lines.length}`)
}

const rules = globSync('src/domain/**/*.ts')
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !path.endsWith('.test.ts'))
  .filter((path) => positionals.length === 0 || positionals.some((part) => path.includes(part)))
  .toSorted()

function chosen() {
  if (values.sample === undefined) return rules
  const draw = drawing(Number(values.seed))
  const share = Number(values.sample) / 100
  return rules.flatMap(declarationsOf).filter(() => draw() < share)
}

/** Score of one file or of all: what was noticed of what could have been. */
function scoreOf(mutants) {
  const count = (status) => mutants.filter((mutant) => mutant.status === status).length
  const noticed = count('Killed') + count('Timeout')
  const missed = count('Survived') + count('NoCoverage')
  return { noticed, of: noticed + missed, percent: (100 * noticed) / (noticed + missed) }
}

function listSurvivors(files) {
  for (const [path, { source, mutants }] of files) {
    const lines = source.split('\n')
    for (const { status, location, mutatorName, replacement = '' } of mutants) {
      if (status !== 'Survived' && status !== 'NoCoverage') continue
      const { line, column } = location.start
      console.log(
        `${path}:${line}:${column} ${status}: ${mutatorName} → ${replacement.slice(0, 60)}`,
      )
      console.log(`    ${lines[line - 1]?.trim()}`)
    }
  }
}

if (!values.survivors) {
  const mutate = chosen()
  if (mutate.length === 0) {
    console.error('nothing was chosen')
    exit(2)
  }
  const stryker = 'node_modules/@stryker-mutator/core/bin/stryker.js'
  const mutants = ['--mutate', mutate.join(','), '--testRunner', values.runner]
  const args = [stryker, 'run', 'stryker.config.json', ...mutants]
  const { status, signal } = spawnSync(execPath, args, {
    stdio: 'inherit',
    env: {
      ...env,
      // The runner starts `node` by its name: ours has to be the one that is found.
      PATH: `${fileURLToPath(new URL('../node_modules/.bin', import.meta.url))}:${env.PATH}`,
      // A process per test file and mutant reads the same sources again and again.
      NODE_COMPILE_CACHE: fileURLToPath(new URL('../.mutation/compiled', import.meta.url)),
    },
  })
  if (signal !== null) exit(1)
  process.exitCode = status ?? 1
}
if (!existsSync(report)) {
  console.error('there is no report yet')
  exit(2)
}
const files = Object.entries(JSON.parse(readFileSync(report, 'utf8')).files)
if (values.survivors) listSurvivors(files)
for (const [path, { mutants }] of files) {
  const { noticed, of, percent } = scoreOf(mutants)
  if (of > 0) console.log(`${path} ${noticed} of ${of} (${percent.toFixed(1)} %)`)
}
const all = scoreOf(files.flatMap(([, { mutants }]) => mutants))
console.log(`${all.noticed} of ${all.of} mutants noticed (${all.percent.toFixed(1)} %)`)
