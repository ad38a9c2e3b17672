// Plants known mistakes, one at a time, and sees which gate finds each: `npm run planted-bugs`.
// A mistake is a patch of test/planted with its story; a gate is a part of what CI runs. Works in
// copies of this checkout as it stands, one a worker, each put back after every patch, so nothing
// here is touched and no order matters. Ends with the share that was found, and with 1 under 95 in
// a hundred, or when a patch no longer applies, or a gate is red without any patch.
// Arguments: `--only <parts of names>`, `--gates beside,room` to run only those, `--workers 1`,
// `--limit 600` seconds a gate may take, `--reverse`, `--check` to see only that all apply;
// `--named` judges each by the test beside its file and the one it names, and no further: all of
// them have to be found; `--tenth` does so with every tenth patch, which ones the commit decides:
// what CI has time for.
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { chdir, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
chdir(root)
const { gates, judgeAll, partsNamed, partsOf, roomOf, tests } = await import('./judge.mjs')
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    gates: { type: 'string' },
    workers: { type: 'string', default: '1' },
    limit: { type: 'string', default: '600' },
    reverse: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    named: { type: 'boolean', default: false },
    tenth: { type: 'boolean', default: false },
  },
})
const byNamed = values.named || values.tenth
/** What must be found of all, in a hundred; of those that say themselves where, all. */
const goal = byNamed ? 100 : 95

/**
 * A patch with its story, the file it changes, and the gate that is expected to find it; with the
 * test that should, where it does not stand beside the file: it is run before all others.
 */
function readPatch(path) {
  const text = readFileSync(path, 'utf8')
  const story = /^Story: ([\s\S]+?)\nGate: /.exec(text)?.[1]?.replaceAll('\n', ' ')
  const gate = /^Gate: (\w+)$/m.exec(text)?.[1]
  const files = [...text.matchAll(/^--- a\/(\S+)$/gm)].map(([, file]) => file)
  if (story === undefined || !gates.includes(gate) || files.length === 0) {
    throw new Error(`${path} says no story, no gate of ${gates.join(', ')}, or changes nothing`)
  }
  const named = /^Test: (\S+)$/m.exec(text)?.[1]
  if (gate !== 'beside' && named === undefined) throw new Error(`${path} names no test`)
  if (named !== undefined && !tests.includes(named)) throw new Error(`${path}: no ${named}`)
  const name = basename(path, '.patch')
  const patch = { name, path: join(root, path), story, expected: gate, files, named }
  if (partsNamed(patch).length === 0) throw new Error(`${path}: no test beside, and none named`)
  return patch
}

/** What judges a patch: what it names, all gates, or those that were asked for. */
function judgesOf(patch) {
  if (byNamed) return partsNamed(patch)
  const asked = values.gates?.split(',')
  return partsOf(patch).filter(({ gate }) => asked === undefined || asked.includes(gate))
}

const git = (...args) => spawnSync('git', args, { encoding: 'utf8' })

/** Every tenth of them, from where the commit says: ten commits see all, the same one the same. */
function tenthOf(all) {
  const commit = git('rev-parse', 'HEAD').stdout.trim()
  const turn = Number(BigInt(`0x${commit}`) % 10n)
  console.error(`every tenth patch from the ${turn + 1}. on, by commit ${commit}`)
  return all.filter((_, at) => at % 10 === turn)
}

const patches = globSync('test/planted/*.patch').toSorted().map(readPatch)
const wanted = (values.only ?? '').split(',')
const asked = patches.filter(({ name }) => wanted.some((part) => name.includes(part)))
const chosen = values.tenth ? tenthOf(asked) : asked
if (values.reverse) chosen.reverse()
if (chosen.length === 0) {
  console.error('no patch is called so')
  exit(2)
}

const results = []
function rowOf({ patch, found, by, seconds, late, error }) {
  const { name, files, expected } = patch
  const what =
    error ?? (found ? `${found}` : late ? `not found, ${late} took too long` : 'NOT FOUND')
  const as = found && found !== expected ? ` (${expected} was expected)` : ''
  const took = seconds === undefined ? '' : `${seconds.toFixed(0)} s`
  return `| ${name} | ${roomOf(files[0])} | ${what}${as} | ${took} | ${by ?? ''} |`
}

const jobs = chosen.map((patch) => ({
  patch,
  files: patch.files,
  parts: values.check ? [] : judgesOf(patch),
  plant(place) {
    const applied = spawnSync('git', ['apply', patch.path], { cwd: place, encoding: 'utf8' })
    return applied.status === 0 ? undefined : `does not apply: ${applied.stderr.trim()}`
  },
}))
const how = { workers: Number(values.workers), limit: Number(values.limit) }
await judgeAll(jobs, how, ({ patch }, result) => {
  results.push({ patch, ...result })
  const count = `${results.length} of ${chosen.length}`
  if (!values.check) console.error(`${count} ${rowOf({ patch, ...result })}`)
})
const errors = results.filter(({ error }) => error !== undefined)
if (values.check) {
  for (const { patch, error } of errors) console.log(`${patch.name} ${error}`)
  console.log(`${chosen.length - errors.length} of ${chosen.length} patches apply`)
  exit(errors.length > 0 ? 1 : 0)
}
console.log('| planted | room | found by | after | the test |\n|---|---|---|---|---|')
const inOrder = results.toSorted((a, b) => (a.patch.name < b.patch.name ? -1 : 1))
for (const result of inOrder) console.log(rowOf(result))
for (const { patch, found } of inOrder) {
  if (!found) console.log(`\n${patch.name}: ${patch.story}`)
}
const found = results.filter((result) => result.found).length
const percent = (100 * found) / chosen.length
console.log(`${found} of ${chosen.length} found (${percent.toFixed(1)} %)`)
exit(percent < goal || errors.length > 0 ? 1 : 0)
