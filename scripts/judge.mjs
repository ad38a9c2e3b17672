// Says whether the tests notice a change that should not be: the judge of planted mistakes and of
// mutants. A change is put into a copy of the checkout, and parts of what CI runs are run on it,
// cheapest first, until one fails; what fails only once, or without the change too, has found
// nothing. Copies are removed and processes ended with the program.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { env, execPath, exit, kill } from 'node:process'

/** Cheapest first: the test of the file, of its room, of the other rooms, of all together. */
export const gates = ['beside', 'room', 'rooms', 'system', 'races', 'sim']
/** Whole-system tests are run so many files at a time, and no further once one has failed. */
const slice = 6
/** They look at texts, not at behaviour: a mistake found by its spelling is not found. */
const ofTexts = /^test\/(awaits|docs|tidy)\.test\.ts$/
/** Tests of a room that stand with those of the whole, because others use them, too. */
const further = { ledger: ['test/conformance.test.ts'] }

/** Every test that may find something. */
export const tests = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'])
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !ofTexts.test(path))
  .toSorted()
/** The rooms whose tests leave the process as they found it: scripts/test.mjs. */
export const sharesProcess =
  /^src\/(domain|protocol|context|ledger|models|tools|http|client|present)\//
export const roomOf = (path) => path.split('/')[1]
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
/** What CI runs beside the tests, with its arguments, and without npm so that it ends whole. */
const asked = /^step npm run (races|sim)(?: -- (.+))?$/gm
const programs = [...readFileSync('.ci/run', 'utf8').matchAll(asked)].map(
  ([, gate, given = '']) => ({
    gate,
    args: [scripts[gate].replace(/^node /, ''), ...given.split(' ').filter((one) => one !== '')],
  }),
)

/** Tests to be run as a part of a gate; the first that fails is told at once. */
const test = (gate, paths) => ({ gate, args: ['scripts/test.mjs', '--first', ...paths] })
const slicesOf = (paths) =>
  Array.from({ length: Math.ceil(paths.length / slice) }, (_, at) =>
    paths.slice(at * slice, (at + 1) * slice),
  )

/** The parts that a planted mistake itself names: the tests beside its files, and its own. */
export function partsNamed({ files, named, expected }) {
  const besides = files
    .map((file) => file.replace(/\.ts$/, '.test.ts'))
    .filter((path) => tests.includes(path) && path !== named)
  return [
    ...(besides.length === 0 ? [] : [test('beside', besides)]),
    ...(named === undefined ? [] : [test(expected, [named])]),
  ]
}

/** The parts of each gate, cheapest first; the first part that fails has found the mistake. */
export function partsOf(patch) {
  const { files } = patch
  const rooms = new Set(files.map(roomOf))
  const isOfRoom = (path) => path.startsWith('src/') && rooms.has(roomOf(path))
  const ofRoom = [...rooms].flatMap((room) => further[room] ?? [])
  const inRooms = tests.filter((path) => isOfRoom(path) || ofRoom.includes(path))
  const elsewhere = tests.filter((path) => path.startsWith('src/') && !isOfRoom(path))
  const whole = tests.filter((path) => path.startsWith('test/') && !ofRoom.includes(path))
  const system = slicesOf(whole).map((paths) => test('system', paths))
  // What wires everything together is tested by whole systems more than by the other rooms.
  const wider =
    rooms.has('runtime') || rooms.has('main')
      ? [...system, test('rooms', elsewhere)]
      : [test('rooms', elsewhere), ...system]
  const rest = [test('room', inRooms), ...wider].filter(({ args }) => args.length > 2)
  return [...partsNamed(patch), ...rest, ...programs]
}

/** Every module of sources and tests with what it imports of them, by their paths. */
export function importGraph() {
  const all = globSync('{src,test}/**/*.ts').map((path) => path.replaceAll('\\', '/'))
  const from = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g
  return new Map(
    all.map((path) => [
      path,
      [...readFileSync(path, 'utf8').matchAll(from)].map(([, to]) => posix.join(dirname(path), to)),
    ]),
  )
}

/** How many steps of import lie between a file and each that imports it. */
export function importersOf(file, graph = importGraph()) {
  const steps = new Map([[file, 0]])
  for (let ring = [file], step = 1; ring.length > 0; step++) {
    const next = [...graph].filter(
      ([path, to]) => !steps.has(path) && to.some((one) => ring.includes(one)),
    )
    ring = next.map(([path]) => path)
    for (const path of ring) steps.set(path, step)
  }
  return steps
}

/** What is to be ended, and removed, with this program. */
const running = new Set()
const places = new Set()

/** A copy of what git would see here: with what is not committed yet, without what is ignored. */
export function copyOfCheckout() {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'holon-judged-')))
  // Tests that go on as another user have their homes in it.
  chmodSync(place, 0o711)
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
  for (const place of places) {
    endLeftOvers(place)
    rmSync(place, { recursive: true, force: true })
  }
}
process.on('exit', tidyUp)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => exit(130))

/**
 * Ends what a run in a copy has left behind: its commands outlive it, as they are built to, and are
 * told by the copy's path in what they were started with. Where there is no /proc they stay.
 */
function endLeftOvers(place) {
  if (!existsSync('/proc/self/cmdline')) return
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const started = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
      if (started.includes(place)) kill(Number(pid), 'SIGKILL')
    } catch {
      // It has gone by itself.
    }
  }
  // What was ended a moment ago may still be writing.
  rmSync(join(place, 't'), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}

/** The last run of each copy: who comes next waits for it. */
const lastRun = new Map()

/**
 * Runs one part in a copy, for `limit` seconds at most: whether it is green, and what it said. Runs
 * in one copy follow each other, as each ends what the one before it left there.
 */
export function run(place, args, limit) {
  const before = lastRun.get(place) ?? Promise.resolve()
  const ran = before.catch(() => undefined).then(() => runNow(place, args, limit))
  lastRun.set(place, ran)
  return ran
}

async function runNow(place, args, limit) {
  const from = performance.now()
  // Short, since a socket's path has to fit in it.
  const TMPDIR = join(place, 't')
  mkdirSync(TMPDIR, { recursive: true })
  const child = spawn(execPath, args, {
    cwd: place,
    detached: true,
    env: { ...env, NODE_TEST_CONTEXT: undefined, TMPDIR },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child.pid)
  const end = () => {
    if (running.delete(child.pid)) kill(-child.pid, 'SIGKILL')
  }
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      said = (said + text).slice(-200_000)
      if (/^the first failure was told$/m.test(said)) end()
    })
  }
  let late = false
  const overdue = setTimeout(() => {
    late = true
    kill(-child.pid, 'SIGKILL')
  }, limit * 1_000)
  const [code] = await once(child, 'close')
  clearTimeout(overdue)
  running.delete(child.pid)
  endLeftOvers(place)
  return { green: code === 0, late, said, seconds: (performance.now() - from) / 1_000 }
}

/** What found it: the first test that failed, or the last line of what is no test. */
export function finding(said) {
  const [, failed] = /✖ failing tests:\n([\s\S]*)/.exec(said) ?? []
  const at = /^test at (\S+?):\d+:\d+$/m.exec(failed ?? '')?.[1]
  const name = /^\s*✖ (.+?) \([\d.]+ms\)$/m.exec(failed ?? '')?.[1]
  return at && name ? `${at}: ${name}` : (said.trimEnd().split('\n').at(-1) ?? '').slice(0, 160)
}

/** The same part with no more than the test files that failed, where they are known. */
function narrowed(args, said) {
  const [, failed = ''] = /✖ failing tests:\n([\s\S]*)/.exec(said) ?? []
  const named = new Set([...failed.matchAll(/^test at (\S+?):\d+:\d+$/gm)].map(([, at]) => at))
  const red = args.filter((arg) => named.has(arg))
  return red.length > 0 ? args.filter((arg) => !tests.includes(arg) || named.has(arg)) : args
}

/** Parts seen without a patch, by their arguments: what is red then, twice, finds nothing. */
const bare = new Map()
const isGreenWithout = (place, args, limit) => {
  const key = args.join(' ')
  if (!bare.has(key)) bare.set(key, isGreenOnce(place, args, limit))
  return bare.get(key)
}
const isGreenOnce = async (place, args, limit) =>
  (await run(place, args, limit)).green || (await run(place, args, limit)).green

/**
 * Judges one change: `plant` puts it into the copy at `place` and returns why it could not, if so;
 * `files` are those that it changes, put back afterwards. `clean` is a copy without any change.
 */
export async function judge({ place, clean, limit }, { files, plant, parts }) {
  const before = files.map((file) => [join(place, file), readFileSync(join(place, file))])
  const refused = plant(place)
  if (refused !== undefined) return { error: refused }
  try {
    return await tried({ place, clean, limit }, parts)
  } finally {
    for (const [path, bytes] of before) writeFileSync(path, bytes)
  }
}

async function tried({ place, clean, limit }, parts) {
  let seconds = 0
  let late
  for (const part of parts) {
    const ran = await run(place, part.args, limit)
    seconds += ran.seconds
    if (ran.green) continue
    if (ran.late) {
      late = part.gate
      continue
    }
    // A test that fails once and not again has found how busy the machine is.
    const again = narrowed(part.args, ran.said)
    const confirmed = await run(place, again, limit)
    seconds += confirmed.seconds
    if (confirmed.green) continue
    if (!(await isGreenWithout(clean, again, limit))) {
      return { error: `${part.gate} is red without any change: ${again.join(' ')}` }
    }
    return { found: part.gate, by: finding(ran.said), seconds }
  }
  return { found: null, seconds, late }
}

/** Judges each of `jobs` in as many copies as there are workers; `done` is called with each. */
export async function judgeAll(jobs, { workers, limit }, done) {
  // Without a change in it: what fails there, too, has found nothing.
  const clean = copyOfCheckout()
  const queue = [...jobs]
  const work = async () => {
    const place = copyOfCheckout()
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      done(job, await judge({ place, clean, limit }, job))
    }
  }
  await Promise.all(Array.from({ length: workers }, work))
}
