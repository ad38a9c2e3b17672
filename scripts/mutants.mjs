// Mistakes of the kinds this code is prone to, drawn by a seed, and what notices them:
// `npm run mutants -- --seed 7 --count 200`. scripts/mutators.mjs has the classes; of each as many
// are drawn as of any other, over all sources. One counts when it is correct by type and clean by
// lint. All are judged by every test of `npm test`, many at a time: scripts/judge-together.mjs. The
// report has what survived, as diffs, and the score by class and room. What no test can notice, as
// nothing differs, is named in test/mutants/equivalent.json with the reason, told, and left out.
// Arguments: `--seed 1`, `--count 200`, `--only <class>`, `--workers 1`, `--limit 240` seconds a
// test file may take, `--draw` to see only what is drawn, `--out <file>` for what is seen as JSON
// lines, each as soon as it is there: a run that was ended goes on with what stands in it.
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chdir, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { API } from 'typescript/unstable/sync'
import { drawing, shuffled } from './draw.mjs'
import { copyWith, judgeTogether, overlaps } from './judge-together.mjs'
import { classes, edited, mistakesIn } from './mutators.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
chdir(root)
const judge = await import('./judge.mjs')
const { copyOfCheckout, importGraph, importersOf, roomOf, sharesProcess, tests } = judge
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '200' },
    only: { type: 'string' },
    workers: { type: 'string', default: '1' },
    limit: { type: 'string', default: '240' },
    draw: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
})
/** What must be found of all that could be, in a hundred. */
const goal = 90
/** So many are tried by compiler and lint at once, each in a file of its own. */
const batch = 160
const named = Object.keys(classes).filter((name) => (values.only ?? name).split(',').includes(name))
const count = Number(values.count)
const draw = drawing(Number(values.seed))

const sources = globSync('src/**/*.ts')
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !/\.test\.ts$|^src\/testing\/|\/generated\.ts$|\.d\.ts$/.test(path))
  .toSorted()
const texts = new Map(sources.map((path) => [path, readFileSync(path, 'utf8')]))

/** What a file holds instead, for the compiler: a batch of mistakes. */
const instead = new Map()
const api = new API({
  cwd: root,
  fs: { readFile: (path) => instead.get(path) },
})
const openProject = join(root, 'tsconfig.json')
const opened = api.updateSnapshot({ openProject }).getProjects()[0]

/** Every mistake of every file, as its class, its file and its edits. */
const allMistakes = () =>
  sources.flatMap((file) =>
    mistakesIn(opened.program.getSourceFile(join(root, file)), opened.checker).map((mistake) => ({
      ...mistake,
      file,
    })),
  )

/** Those of a batch to which the compiler has nothing to say in their own files. */
function typed(some) {
  const paths = some.map(({ file }) => join(root, file))
  for (const { file, text } of some) instead.set(join(root, file), text)
  const { program } = api.updateSnapshot({ fileChanges: { changed: paths } }).getProjects()[0]
  const left = some.filter(
    (_, at) =>
      program.getSyntacticDiagnostics(paths[at]).length === 0 &&
      program.getSemanticDiagnostics(paths[at]).length === 0,
  )
  instead.clear()
  api.updateSnapshot({ fileChanges: { changed: paths } })
  return left
}

/** The lines as they were and are, and how many are the same from the start and from the end. */
function linesOf({ file, text }) {
  const [was, now] = [texts.get(file).split('\n'), text.split('\n')]
  let from = 0
  while (was[from] === now[from]) from++
  let back = 0
  while (
    back < Math.min(was.length, now.length) - from &&
    was.at(-1 - back) === now.at(-1 - back)
  ) {
    back++
  }
  return { was, now, from, back }
}

/** The lines that differ, with two around them. */
function diffOf(one) {
  const { was, now, from, back } = linesOf(one)
  const { file } = one
  const lines = (mark, of, a, b) => of.slice(Math.max(a, 0), b).map((line) => `${mark}${line}`)
  return [
    `--- a/${file}`,
    `+++ b/${file}`,
    `@@ line ${from + 1} @@`,
    ...lines(' ', was, from - 2, from),
    ...lines('-', was, from, was.length - back),
    ...lines('+', now, from, now.length - back),
    ...lines(' ', was, was.length - back, was.length - back + 2),
  ].join('\n')
}

/** Files in which a tool has something to say of what stands in the copy. */
function complaints(place, tool, ...args) {
  const ran = spawnSync(join(root, 'node_modules/.bin', tool), args, {
    cwd: place,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  if (ran.error !== undefined) throw ran.error
  return new Set([...ran.stdout.matchAll(/^(\S+?\.ts)[(:]\d+/gm)].map(([, file]) => file))
}
const types = ['tsc', '--incremental', '--tsBuildInfoFile', '.tsinfo', '--pretty', 'false']
const lint = ['oxlint', '--type-aware', '--deny-warnings', '-f', 'unix']

/** Those of a batch that compiler and lint take; what breaks another file is not taken either. */
function takenOf(place, some) {
  let left = typed(some)
  const put = (one, text) => writeFileSync(join(place, one.file), text)
  for (const one of left) put(one, one.text)
  for (let bad = new Set(['?']); bad.size > 0 && left.length > 0;) {
    bad = complaints(place, ...types)
    if (bad.size === 0) bad = complaints(place, ...lint, ...left.map(({ file }) => file))
    const isOfBatch = left.some(({ file }) => bad.has(file))
    const isGone = ({ file }) => {
      if (isOfBatch) return bad.has(file)
      const steps = importersOf(file)
      return [...bad].some((other) => steps.has(other))
    }
    for (const one of left.filter(isGone)) put(one, texts.get(one.file))
    left = left.filter((one) => !isGone(one))
  }
  for (const one of left) put(one, texts.get(one.file))
  return left
}

/** Takes classes by turns until there are enough, or no more. */
function drawn() {
  const byClass = Map.groupBy(shuffled(allMistakes(), draw), (one) => one.class)
  console.error(named.map((name) => `${name} ${byClass.get(name)?.length ?? 0}`).join(', '))
  const place = copyOfCheckout()
  const taken = new Map(named.map((name) => [name, []]))
  const share = Math.ceil(count / named.length)
  const lacking = () =>
    named.filter((name) => taken.get(name).length < share && byClass.get(name)?.length > 0)
  while (lacking().length > 0) {
    const some = new Map()
    for (let turn = 0; some.size < batch && turn < batch; turn++) {
      for (const name of lacking()) {
        const next = byClass.get(name).pop()
        if (next === undefined || some.size >= batch) continue
        const text = edited(texts.get(next.file), next.edits)
        if (some.has(next.file)) byClass.get(name).unshift(next)
        else if (text !== texts.get(next.file)) some.set(next.file, { ...next, text })
      }
    }
    for (const one of takenOf(place, [...some.values()])) {
      if (taken.get(one.class).length >= share) continue
      const all = [...taken.values()].flat()
      if (!all.some((other) => overlaps(one, other))) taken.get(one.class).push(one)
    }
    console.error(`drawn ${[...taken.values()].flat().length} of ${count}`)
  }
  rmSync(place, { recursive: true, force: true })
  api.close()
  // By turns of the classes, so that what is cut off at the end is of all of them.
  const rounds = Array.from({ length: share }, (_, at) => named.map((name) => taken.get(name)[at]))
  return rounds
    .flat()
    .filter((one) => one !== undefined)
    .slice(0, count)
    .map((one) => ({ ...one, diff: diffOf(one) }))
}

/** Nothing differs with these, and somebody has said why. */
const equivalent = JSON.parse(readFileSync('test/mutants/equivalent.json', 'utf8'))
const changed = (diff, mark) =>
  diff
    .split('\n')
    .filter((line) => line.startsWith(mark) && !line.startsWith(mark.repeat(3)))
    .map((line) => line.slice(1).trim())
    .join('\n')
const reasonOf = ({ file, diff }) =>
  equivalent.find(
    (one) => one.file === file && one.was === changed(diff, '-') && one.now === changed(diff, '+'),
  )?.reason

function told() {
  const isFound = ({ diff }) => foundBy.has(diff)
  const score = (some) => {
    const found = some.filter(isFound).length
    return `${found} of ${some.length} (${((100 * found) / some.length).toFixed(1)} %)`
  }
  for (const [what, keyOf] of Object.entries({
    class: (one) => one.class,
    room: ({ file }) => roomOf(file),
  })) {
    console.log(`\n| ${what} | found |\n|---|---|`)
    const groups = [...Map.groupBy(judged, keyOf)].toSorted(([a], [b]) => (a < b ? -1 : 1))
    for (const [name, some] of groups) console.log(`| ${name} | ${score(some)} |`)
  }
  for (const one of mutants) {
    const reason = reasonOf(one)
    if (reason === undefined && isFound(one)) continue
    const what = reason === undefined ? 'SURVIVED' : `EQUIVALENT: ${reason}`
    console.log(`\n${what} (${one.class})\n${one.diff}`)
  }
  console.log(`\nseed ${values.seed}: found ${score(judged)}`)
  return (100 * judged.filter(isFound).length) / judged.length
}

const mutants = drawn()
if (values.draw) {
  for (const one of mutants) console.log(`${one.class}\n${one.diff}\n`)
  exit(0)
}
/** What an earlier run has seen of these: a line for each that was found and each test passed. */
const kept = values.out !== undefined && existsSync(values.out)
const earlier = (kept ? readFileSync(values.out, 'utf8').split('\n').filter(Boolean) : []).map(
  (line) => JSON.parse(line),
)
const keep = (line) => {
  if (values.out !== undefined) appendFileSync(values.out, `${JSON.stringify(line)}\n`)
}
const foundBy = new Map(earlier.flatMap(({ diff, by }) => (diff === undefined ? [] : [[diff, by]])))
const done = earlier.flatMap(({ passed }) => passed ?? [])
const unjudged = []
const judged = mutants.filter((one) => reasonOf(one) === undefined)
const limit = Number(values.limit)
const copies = Array.from({ length: Number(values.workers) }, () =>
  copyWith({ ...judge, edited }, limit),
)
/** Tests of rooms that start no processes can notice only what they import. */
const isInProcess = (path) => sharesProcess.test(path)
const graph = importGraph()
const steps = new Map()
const stepsTo = (file) => {
  if (!steps.has(file)) steps.set(file, importersOf(file, graph))
  return steps.get(file)
}
function nearest(path, some) {
  const away = ({ file }) => stepsTo(file).get(path) ?? Infinity
  return some
    .filter((one) => !isInProcess(path) || away(one) < Infinity)
    .toSorted((a, b) => away(a) - away(b))
}
await judgeTogether(
  judged.filter(({ diff }) => !foundBy.has(diff)),
  {
    // The cheap ones first: each has fewer left to halve then.
    tests: tests
      .filter((path) => !done.includes(path))
      .toSorted((a, b) => Number(isInProcess(b)) - Number(isInProcess(a))),
    copies,
    besideOf: ({ file }) => (earlier.length > 0 ? '' : file.replace(/\.ts$/, '.test.ts')),
    nearest,
  },
  {
    found({ diff, class: name, file }, by) {
      foundBy.set(diff, by)
      keep({ diff, by })
      console.error(`found ${foundBy.size} of ${judged.length}: ${name} ${file} by ${by}`)
    },
    passed(path) {
      done.push(path)
      keep({ passed: path })
      console.error(`green with ${judged.length - foundBy.size} left: ${path}`)
    },
    unjudged(path, why) {
      unjudged.push(`${path}: ${why}`)
    },
  },
)
for (const line of unjudged) console.log(`NOT A JUDGE ${line}`)
// A test that judges nothing has let its mistakes through.
exit(told() < goal || unjudged.length > 0 ? 1 : 0)
