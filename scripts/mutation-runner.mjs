// How Stryker runs the tests of the domain: in one process that stays. The modules are loaded once;
// for a mutant its switch is set and the tests that reached it are called again, so a mutant costs
// milliseconds and not a process per test file. That is right only for tests that leave nothing
// behind, so the first run calls all of them twice, the second time from last to first, and says
// what is red. For a mutant that only loading reaches all modules are loaded anew.
import { registerHooks } from 'node:module'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** What the switches of the mutants look at: the name is Stryker's. */
const switches = (globalThis.__stryker__ ??= {})

/** Stands in for `node:test`: a test is kept to be called, not called. */
const kept = []
let file = ''
const outer = []
const keep = (name, ...rest) => {
  const run = rest.at(-1)
  const said = [...outer, name].join(' › ')
  const before = kept.filter((test) => test.file === file && test.name === said).length
  kept.push({ id: `${file}: ${said}${before > 0 ? ` #${before + 1}` : ''}`, name: said, file, run })
}
const within = (name, ...rest) => {
  outer.push(name)
  rest.at(-1)()
  outer.pop()
}

/**
 * Stands in for `fast-check`: the same few cases each time. What a property notices shall not
 * depend on what it drew, and a thousand cases for each mutant would be most of the work.
 */
const drawn = 10
const repeatable = (fastCheck) => ({
  ...fastCheck,
  assert: (property, options = {}) => {
    const numRuns = Math.min(options.numRuns ?? drawn, drawn)
    return fastCheck.assert(property, { ...options, seed: 1, numRuns })
  },
})

globalThis.holonMutation = { test: keep, describe: within }
const standIns = {
  'node:test': `export const { test, describe } = globalThis.holonMutation`,
  'fast-check': `export default globalThis.holonMutation.fastCheck`,
}
/** Counts how often everything was loaded: the same file under another URL is another module. */
let generation = 0
/** Stryker copies the sources, and goes where the copy is after it has loaded this file. */
const inCopy = (url) => url?.startsWith(pathToFileURL(join(process.cwd(), 'src')).href)
registerHooks({
  resolve(specifier, context, next) {
    const standIn = inCopy(context.parentURL) ? standIns[specifier] : undefined
    if (standIn !== undefined) {
      const url = `data:text/javascript,${standIn}`
      return { url, format: 'module', shortCircuit: true }
    }
    const found = next(specifier, context)
    return inCopy(found.url) ? { ...found, url: `${found.url}?${generation}` } : found
  },
})

/** How long each test takes, as the first run saw it, for the processes that come after it. */
const timesPath = '.times.json'

/** What a test said when it failed; null: it is green. */
async function failureOf(test) {
  switches.currentTestId = test.id
  try {
    await test.run()
    return null
  } catch (error) {
    return String(error?.message ?? error)
  } finally {
    switches.currentTestId = undefined
  }
}

/**
 * What tests reached, and of what loading reached only what no test did: the others are judged by
 * the tests alone, which finds less at worst and spares loading everything for them.
 */
function withoutLoading({ static: loading, perTest }) {
  const reached = new Set(Object.values(perTest).flatMap((hits) => Object.keys(hits)))
  const only = Object.entries(loading).filter(([mutant]) => !reached.has(mutant))
  return { perTest, static: Object.fromEntries(only) }
}

class RulesRunner {
  #files
  #loaded = new Set()
  #times = null

  constructor({ tap }) {
    this.#files = tap.testFiles.flatMap((pattern) => globSync(pattern)).toSorted()
  }

  capabilities() {
    return { reloadEnvironment: true }
  }

  async init() {
    const { default: fastCheck } = await import('fast-check')
    globalThis.holonMutation.fastCheck = repeatable(fastCheck)
  }

  async #load(path) {
    if (this.#loaded.has(path)) return
    this.#loaded.add(path)
    file = path.replaceAll('\\', '/')
    await import(pathToFileURL(join(process.cwd(), path)).href)
  }

  async dryRun() {
    for (const path of this.#files) await this.#load(path)
    const tests = []
    for (const test of kept) {
      const from = performance.now()
      const failure = await failureOf(test)
      const told = { id: test.id, name: test.name, fileName: test.file }
      const timeSpentMs = performance.now() - from
      tests.push(
        failure === null
          ? { ...told, timeSpentMs, status: 0 }
          : { ...told, timeSpentMs, status: 1, failureMessage: failure },
      )
    }
    const mutantCoverage = withoutLoading(structuredClone(switches.mutantCoverage))
    const times = tests.map(({ id, timeSpentMs }) => [id, timeSpentMs])
    writeFileSync(timesPath, JSON.stringify(Object.fromEntries(times)))
    for (const test of kept.toReversed()) {
      const failure = await failureOf(test)
      if (failure === null) continue
      return { status: 'error', errorMessage: `${test.id} is red the second time: ${failure}` }
    }
    return { status: 'complete', tests, mutantCoverage }
  }

  async mutantRun({ activeMutant, mutantActivation, testFilter, hitLimit, reloadEnvironment }) {
    if (reloadEnvironment) {
      generation += 1
      this.#loaded.clear()
      kept.length = 0
    }
    if (mutantActivation === 'runtime') for (const path of this.#files) await this.#load(path)
    switches.activeMutant = activeMutant.id
    switches.hitCount = hitLimit === undefined ? undefined : 0
    switches.hitLimit = hitLimit
    try {
      return mutantActivation === 'runtime'
        ? await this.#judge(kept.filter(({ id }) => testFilter.includes(id)))
        : await this.#judgeLoading(activeMutant.fileName)
    } finally {
      switches.activeMutant = undefined
    }
  }

  /** Calls the tests until one is red, the quick ones first. */
  async #judge(tests) {
    this.#times ??= existsSync(timesPath) ? JSON.parse(readFileSync(timesPath, 'utf8')) : {}
    const times = this.#times
    let nrOfTests = 0
    for (const test of tests.toSorted((a, b) => (times[a.id] ?? 0) - (times[b.id] ?? 0))) {
      nrOfTests += 1
      const failure = await failureOf(test)
      if (switches.hitCount > switches.hitLimit) return { status: 'timeout', reason: 'hit limit' }
      if (failure !== null) {
        return { status: 'killed', killedBy: [test.id], failureMessage: failure, nrOfTests }
      }
    }
    return { status: 'survived', nrOfTests }
  }

  /** Loads with the mutant on, a file at a time, the one beside the mutant first. */
  async #judgeLoading(mutated) {
    const beside = mutated.replace(/\.ts$/, '.test.ts')
    const isBeside = (path) => beside.endsWith(path.replaceAll('\\', '/'))
    const files = this.#files.toSorted((a, b) => Number(isBeside(b)) - Number(isBeside(a)))
    let nrOfTests = 0
    for (const path of files) {
      const from = kept.length
      try {
        await this.#load(path)
      } catch (error) {
        const failureMessage = String(error?.message ?? error)
        return { status: 'killed', killedBy: [`${path}: loading`], failureMessage, nrOfTests }
      }
      const judged = await this.#judge(kept.slice(from))
      nrOfTests += judged.nrOfTests ?? 0
      if (judged.status !== 'survived') return judged
    }
    return { status: 'survived', nrOfTests }
  }
}
RulesRunner.inject = ['options']

export const strykerPlugins = [{ kind: 'TestRunner', name: 'rules', injectableClass: RulesRunner }]
