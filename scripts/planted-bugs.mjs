// Plants known mistakes, one at a time, and sees which gate finds each: `npm run planted-bugs`.
// A mistake is a patch of test/planted with its story; a gate is a part of what CI runs. Works in
// copies of this checkout as it stands, one a worker, each put back after every patch, so nothing
// here is touched and no order matters. Ends with the share that was found, and with 1 under 95 in
// a hundred, or when a patch no longer applies, or a gate is red without any patch.
// Arguments: `--only <parts of names>`, `--gates beside,room` to run only those, `--workers 1`,
// `--limit 600` seconds a gate may take, `--reverse`, `--check` to see only that all apply.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { chdir, env, execPath, exit, kill } from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
chdir(root)
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    gates: { type: 'string' },
    workers: { type: 'string', default: '1' },
    limit: { type: 'string', default: '600' },
    reverse: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
  },
})
/** What must be found of all, in a hundred. */
const goal = 95
/** Whole-system tests are run so many files at a time, and no further once one has failed. */
const slice = 6
/** They look at texts, not at behaviour: a mistake found by its spelling is not found. */
const ofTexts = /^test\/(tidy|docs|planted)\.test\.ts$/

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
  const name = basename(path, '.patch')
  return { name, path: join(root, path), story, expected: gate, files, named }
}

/** Cheapest first: the test of the file, of its room, of the other rooms, of all together. */
const gates = ['beside', 'room', 'rooms', 'system', 'races', 'sim']
/** Tests of a room that stand with those of the whole, because others use them, too. */
const further = { ledger: ['test/conformance.test.ts'] }
const patches = globSync('test/planted/*.patch').toSorted().map(readPatch)
const wanted = (values.only ?? '').split(',')
const chosen = patches.filter(({ name }) => wanted.some((part) => name.includes(part)))
if (values.reverse) chosen.reverse()
if (chosen.length === 0) {
  console.error('no patch is called so')
  exit(2)
}

const tests = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'])
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !ofTexts.test(path))
  .toSorted()
const roomOf = (path) => path.split('/')[1]
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
/** What CI runs beside the tests, with its arguments, and without npm so that it ends whole. */
const asked = /^step npm run (races|sim)(?: -- (.+))?$/gm
const programs = [...readFileSync('.ci/run', 'utf8').matchAll(asked)].map(
  ([, gate, given = '']) => ({
    gate,
    args: [scripts[gate].replace(/^node /, ''), ...given.split(' ').filter((one) => one !== '')],
  }),
)

/** The parts of each gate, cheapest first; the first part that fails has found the mistake. */
function partsOf({ files, named, expected }) {
  const rooms = new Set(files.map(roomOf))
  const besides = files
    .map((file) => file.replace(/\.ts$/, '.test.ts'))
    .filter((path) => tests.includes(path))
  const isOfRoom = (path) => path.startsWith('src/') && rooms.has(roomOf(path))
  const ofRoom = [...rooms].flatMap((room) => further[room] ?? [])
  const inRooms = tests.filter((path) => isOfRoom(path) || ofRoom.includes(path))
  const elsewhere = tests.filter((path) => path.startsWith('src/') && !isOfRoom(path))
  const whole = tests.filter((path) => path.startsWith('test/') && !ofRoom.includes(path))
  const slices = Array.from({ length: Math.ceil(whole.length / slice) }, (_, at) =>
    whole.slice(at * slice, (at + 1) * slice),
  )
  const test = (gate, paths) => ({ gate, args: ['scripts/test.mjs', ...paths] })
  const system = slices.map((paths) => test('system', paths))
  // What wires everything together is tested by whole systems more than by the other rooms.
  const wider =
    rooms.has('runtime') || rooms.has('main')
      ? [...system, test('rooms', elsewhere)]
      : [test('rooms', elsewhere), ...system]
  return [
    test('beside', besides),
    ...(named === undefined ? [] : [test(expected, [named])]),
    test('room', inRooms),
    ...wider,
    ...programs,
  ].filter((part) => part.args.length > 1 || programs.includes(part))
}

/** What is to be ended, and removed, with this program. */
const running = new Set()
const places = new Set()

/** A copy of what git would see here: with what is not committed yet, without what is ignored. */
function copyOfCheckout() {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'holon-planted-')))
  places.add(place)
  const listed = spawnSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  if (listed.status !== 0) throw new Error(`git ls-files: ${listed.stderr}`)
  for (const path of listed.stdout.split('\0')) {
    // The dependencies are linked; a file that was deleted is still listed.
    if (/^(node_modules.*)?$/.test(path) || !existsSync(path)) continue
    mkdirSync(dirname(join(place, path)), { recursive: true })
    cpSync(path, join(place, path), { verbatimSymlinks: true, force: true, errorOnExist: false })
  }
  symlinkSync(realpathSync('node_modules'), join(place, 'node_modules'))
  return place
}

function tidyUp() {
  for (const pid of running) {
    try {
      kill(-pid, 'SIGKILL')
    } catch {
      // It has gone by itself.
    }
  }
  for (const place of places) rmSync(place, { recursive: true, force: true })
}
process.on('exit', tidyUp)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => exit(130))

/** Runs one part in a copy: whether it is green, and what it said. */
async function run(place, args) {
  const from = performance.now()
  const child = spawn(execPath, args, {
    cwd: place,
    detached: true,
    env: { ...env, NODE_TEST_CONTEXT: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child.pid)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (said = (said + text).slice(-200_000)))
  }
  let late = false
  const limit = setTimeout(
    () => {
      late = true
      kill(-child.pid, 'SIGKILL')
    },
    Number(values.limit) * 1_000,
  )
  const [code] = await once(child, 'close')
  clearTimeout(limit)
  running.delete(child.pid)
  return { green: code === 0, late, said, seconds: (performance.now() - from) / 1_000 }
}

/** What found it: the first test that failed, or the last line of what is no test. */
function finding(said) {
  const [, failed] = /✖ failing tests:\n([\s\S]*)/.exec(said) ?? []
  const at = /^test at (\S+?):\d+:\d+$/m.exec(failed ?? '')?.[1]
  const name = /^\s*✖ (.+?) \([\d.]+ms\)$/m.exec(failed ?? '')?.[1]
  return at && name ? `${at}: ${name}` : (said.trimEnd().split('\n').at(-1) ?? '').slice(0, 160)
}

/** The same part with no more than the test files that failed, where they are known. */
function narrowed(args, said) {
  const [, failed = ''] = /✖ failing tests:\n([\s\S]*)/.exec(said) ?? []
  const named = new Set([...failed.matchAll(/^test at (\S+?):\d+:\d+$/gm)].map(([, at]) => at))
  const [program, ...paths] = args
  const red = paths.filter((path) => named.has(path))
  return [program, ...(red.length > 0 ? red : paths)]
}

/** Parts that were seen without a patch, by their arguments: what is red then finds nothing. */
const bare = new Map()
const isGreenWithout = (place, args) => {
  const key = args.join(' ')
  if (!bare.has(key)) bare.set(key, run(place, args))
  return bare.get(key).then(({ green }) => green)
}

async function judge(place, clean, patch) {
  const { files, path } = patch
  const before = files.map((file) => [join(place, file), readFileSync(join(place, file))])
  const applied = spawnSync('git', ['apply', path], { cwd: place, encoding: 'utf8' })
  if (applied.status !== 0) return { error: `does not apply: ${applied.stderr.trim()}` }
  if (values.check) return { restore: before, found: null, seconds: 0 }
  let seconds = 0
  let late
  for (const part of partsOf(patch)) {
    if (values.gates !== undefined && !values.gates.split(',').includes(part.gate)) continue
    const ran = await run(place, part.args)
    seconds += ran.seconds
    if (ran.green) continue
    if (ran.late) {
      late = part.gate
      continue
    }
    // A test that fails once and not again has found how busy the machine is.
    const again = narrowed(part.args, ran.said)
    const confirmed = await run(place, again)
    seconds += confirmed.seconds
    if (confirmed.green) continue
    if (!(await isGreenWithout(clean, again))) {
      return { restore: before, error: `${part.gate} is red without any patch: ${again.join(' ')}` }
    }
    return { restore: before, found: part.gate, by: finding(ran.said), seconds }
  }
  return { restore: before, found: null, seconds, late }
}

const results = []
const queue = [...chosen]
async function work(clean) {
  const place = copyOfCheckout()
  for (let patch = queue.shift(); patch !== undefined; patch = queue.shift()) {
    const { restore = [], ...result } = await judge(place, clean, patch)
    for (const [path, bytes] of restore) writeFileSync(path, bytes)
    results.push({ patch, ...result })
    if (!values.check)
      console.error(`${results.length} of ${chosen.length} ${rowOf({ patch, ...result })}`)
  }
}

function rowOf({ patch, found, by, seconds, late, error }) {
  const { name, files, expected } = patch
  const what =
    error ?? (found ? `${found}` : late ? `not found, ${late} took too long` : 'NOT FOUND')
  const as = found && found !== expected ? ` (${expected} was expected)` : ''
  const took = seconds === undefined ? '' : `${seconds.toFixed(0)} s`
  return `| ${name} | ${roomOf(files[0])} | ${what}${as} | ${took} | ${by ?? ''} |`
}

// Without a patch in it: what fails there, too, has found nothing.
const clean = copyOfCheckout()
await Promise.all(Array.from({ length: Number(values.workers) }, () => work(clean)))
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
