/**
 * The house rules a machine can check beside the linter: who may import whom, what is pure, where
 * the outside world may be touched, names, line lengths, what may be cited. `violations` is a pure
 * function of a path and a text, `crowdedFolders` of all paths, `importCircles` of all imports,
 * `repeatedTypes` of all sources;
 * test/tidy.test.ts runs them over planted faults and over the repository.
 */
import { floors, folderLimit, folderLimits, unbounded } from './tidy-rooms.ts'
import { codeOf, importsOf, lineAt, type Import } from './tidy-source.ts'

type File = {
  path: string
  /** The folder below src, 'main' for src/main.ts, '' outside src. */
  room: string
  isTest: boolean
  source: string
  code: string
  imports: Import[]
}
type Violation = { line: number; says: string }
type Rule = (file: File) => Violation[]

/** A room may import itself and the rooms named here, and types of `shared`. */
const ladder: Record<string, readonly string[]> = {
  domain: [],
  ports: ['domain'],
  protocol: ['domain'],
  context: ['domain'],
  ledger: ['domain'],
  models: ['domain'],
  exec: ['domain'],
  tools: ['domain', 'exec'],
  runtime: ['domain', 'context', 'ledger', 'models', 'exec', 'tools', 'protocol'],
  http: ['protocol', 'domain'],
  telemetry: ['domain', 'exec', 'runtime'],
  client: ['protocol'],
  present: ['protocol'],
  cli: ['client', 'present', 'protocol'],
  tui: ['client', 'present', 'protocol'],
}
/** These may import any room: one wires the rooms together, the other stands in for them. */
const unbound = ['main', 'testing']
/** The room of types that several rooms speak in; every room but `domain` may import them. */
const shared = 'ports'
/** Steps of the ladder on which only types travel; the code comes through a port. */
const typesOnly = [
  'ports → domain',
  'models → domain',
  'exec → domain',
  'http → domain',
  'tools → exec',
  'runtime → protocol',
  'telemetry → domain',
  'telemetry → exec',
  'telemetry → runtime',
]
/** Numbers with a name, a unit and a reason, which every room above may read. */
const limits = 'src/domain/limits.ts'

/** Rooms without a machine under them, and the packages they may use. */
const pure: Record<string, readonly string[]> = {
  domain: [],
  ports: [],
  protocol: ['zod'],
  context: [],
  present: ['marked'],
}
/** Packages that only one room knows. */
const owned: Record<string, string> = {
  kysely: 'ledger',
  '@ai-sdk': 'models',
  commander: 'cli',
  ink: 'tui',
  marked: 'present',
  react: 'tui',
  pino: 'telemetry',
  'prom-client': 'telemetry',
  '@opentelemetry': 'telemetry',
}

/** Where the machine may be touched. Everyone else is given it through a port. */
const machineRooms = ['exec', 'ledger', 'testing', 'main']
const machineModules = /^node:(fs|child_process|timers)(\/|$)/
const machineWords: Record<string, RegExp> = {
  'the clock': /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.now\b|\bhrtime\b/g,
  'a timer': /(?<!\.)\b(setTimeout|setInterval)\b|\bAbortSignal\.timeout\b/g,
  randomness: /\bMath\.random\b|\brandom(UUID|UUIDv7|Bytes|Int)\b|\bgetRandomValues\b/g,
  'the environment': /\bprocess\.env\b/g,
}
/** `process` is also a word of the domain: only what Node's own has counts. */
const impureWords = new RegExp(
  String.raw`(?<![.\w])(fetch|console|globalThis|queueMicrotask|setImmediate|process(?=\.(?:` +
    'arch|argv|cwd|emit|env|exit|exitCode|getBuiltinModule|hrtime|kill|memoryUsage|nextTick|' +
    String.raw`off|on|once|platform|stderr|stdin|stdout|umask|uptime|versions?)\b))\b(?!\??:)`,
  'g',
)

const vagueNames = /^(utils?|helpers?|common|managers?|services?)$/
const lineLimit = 100
/** A test's name is a sentence, and the formatter breaks no string. */
const testLineLimit = 120

const resolve = (from: string, specifier: string): string =>
  new URL(specifier, `file:///${from}`).pathname.slice(1)

const roomOf = (path: string): string =>
  path === 'src/main.ts' ? 'main' : (/^src\/([^/]+)\//.exec(path)?.[1] ?? '')

const at = (file: File, position: number, says: string): Violation => ({
  line: lineAt(file.source, position),
  says,
})

const climbsTheLadder: Rule = (file) => {
  if (!file.path.startsWith('src/')) return []
  const above = ladder[file.room]
  if (above === undefined && !unbound.includes(file.room)) {
    return [{ line: 1, says: 'is in no room of the ladder' }]
  }
  return file.imports
    .filter(({ specifier }) => specifier.startsWith('.'))
    .flatMap((imported) => {
      const target = resolve(file.path, imported.specifier)
      const room = roomOf(target)
      const mayStandIn = file.isTest || file.room === 'testing'
      if (room === file.room || (room === 'testing' && mayStandIn)) return []
      const isShared = room === shared && file.room !== 'domain'
      if (above === undefined ? room === 'testing' : !isShared && !above.includes(room)) {
        return [at(file, imported.at, `${file.room} may not import ${room || target}`)]
      }
      const step = `${file.room} → ${room}`
      if (imported.isType || file.isTest || target === limits) return []
      if (!isShared && !typesOnly.includes(step)) return []
      return [at(file, imported.at, `${file.room} may import only types from ${room}`)]
    })
}

const hasTypesOnly: Rule = (file) =>
  file.room !== shared || file.isTest
    ? []
    : [...file.code.matchAll(/^export (?!type\b|interface\b)\w+( \w+)?/gm)].map((found) =>
        at(file, found.index, `${shared} has types only: ${found[0]} belongs to a room`),
      )

/** The folder of a path below its room: `state`, or `.` for the top. */
const subRoomOf = (path: string): string => path.split('/').slice(2, -1).join('/') || '.'

/** How high a sub-room lies in its room; undefined where there is none. `src/main.ts` has all. */
const floorOf = (room: string, path: string): number | undefined => {
  if (path === 'src/main.ts') return Infinity
  const at = floors[room]?.findIndex((names) => names.split(' ').includes(subRoomOf(path)))
  return at === -1 ? undefined : at
}

const climbsInsideItsRoom: Rule = (file) => {
  if (!file.path.startsWith('src/') || floors[file.room] === undefined) return []
  const own = floorOf(file.room, file.path)
  const place = `${file.room}/${subRoomOf(file.path)}`
  if (own === undefined) return [{ line: 1, says: `is in no sub-room: ${place}` }]
  if (file.isTest) return []
  return file.imports.flatMap(({ specifier, at: position }) => {
    const target = specifier.startsWith('.') ? resolve(file.path, specifier) : ''
    if (roomOf(target) !== file.room || subRoomOf(target) === subRoomOf(file.path)) return []
    const below = floorOf(file.room, target)
    if (below === undefined || below < own) return []
    return [at(file, position, `${place} may not import ${file.room}/${subRoomOf(target)}`)]
  })
}

const isPure: Rule = (file) => {
  const packages = pure[file.room]
  if (packages === undefined || file.isTest) return []
  const foreign = file.imports
    .filter(({ specifier }) => !specifier.startsWith('.') && !packages.includes(specifier))
    .map((imported) => at(file, imported.at, `${file.room} may not import ${imported.specifier}`))
  const words = [...file.code.matchAll(impureWords)].map((word) =>
    at(file, word.index, `${file.room} is pure: ${word[1]} does not belong here`),
  )
  return [...foreign, ...words]
}

const ownsItsPackages: Rule = (file) => {
  if (!file.path.startsWith('src/') || file.isTest || file.room in pure) return []
  return file.imports.flatMap(({ specifier, at: position }) => {
    const name = Object.keys(owned).find((start) => `${specifier}/`.startsWith(`${start}/`))
    const owner = name && owned[name]
    if (!owner || owner === file.room || unbound.includes(file.room)) return []
    return [at(file, position, `${specifier} belongs to ${owner}`)]
  })
}

const leavesTheMachineAlone: Rule = (file) => {
  if (!file.path.startsWith('src/') || file.isTest || machineRooms.includes(file.room)) return []
  const modules = file.imports
    .filter(({ specifier }) => machineModules.test(specifier) && !(file.room in pure))
    .map((imported) => at(file, imported.at, `${imported.specifier} comes through a port`))
  const words = Object.entries(machineWords).flatMap(([what, pattern]) =>
    [...file.code.matchAll(pattern)].map((word) =>
      at(file, word.index, `${what} comes through a port (${word[0]})`),
    ),
  )
  return [...modules, ...words]
}

/** A fixed pause is either too short on a busy machine or wasted on an idle one. */
const neverSleeps: Rule = (file) => {
  if (!file.isTest) return []
  const sleeps = /new Promise(<[^>]*>)?\(\s*\(?\w*\)?\s*=>\s*\{?\s*(return\s+)?setTimeout\b/g
  return [
    ...file.imports
      .filter(({ specifier }) => specifier === 'node:timers/promises')
      .map((imported) => at(file, imported.at, 'a test does not sleep: await the event')),
    ...[...file.code.matchAll(sleeps)].map((sleep) =>
      at(file, sleep.index, 'a test does not sleep: await the event'),
    ),
  ]
}

const opensWithAComment: Rule = (file) =>
  !file.path.startsWith('src/') || file.isTest || /^\/[/*]/.test(file.source)
    ? []
    : [{ line: 1, says: 'opens without saying what it is and what it promises' }]

const isWellNamed: Rule = (file) => {
  const segments = file.path.split('/')
  const name = segments.at(-1) ?? ''
  const words = segments.flatMap((segment) => segment.split(/[-.]/))
  return [
    ...(name.startsWith('index.') ? ['is a barrel: import the file that has the thing'] : []),
    ...(/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)+$/.test(name) ? [] : ['is not kebab-case']),
    ...words.filter((word) => vagueNames.test(word)).map((word) => `is named ${word}: name a noun`),
  ].map((says) => ({ line: 1, says }))
}

const hasShortLines: Rule = (file) => {
  const widest = file.isTest ? testLineLimit : lineLimit
  return file.source
    .split('\n')
    .map((text, index) => ({ line: index + 1, length: text.length }))
    .filter(({ length }) => length > widest)
    .map(({ line, length }) => ({ line, says: `is ${length} characters wide (${widest})` }))
}

/** A section of a document that is not here: by its sign, or by its name and a number. */
const absent = new RegExp(
  String.raw`\u00a7\s*\d|\b(?:contracts|reliability|experience|architecture|security)(?:\.md)?,?` +
    String.raw`\s+(?:(?:\*|//)\s+)?(?:section |rule )?[A-Z]?\d`,
  'g',
)

const citesWhatIsHere: Rule = (file) =>
  [...file.source.matchAll(absent)].map((cited) =>
    at(file, cited.index, `cites ${cited[0]}, which is not here: say it, or link docs/spec`),
  )

const rules: readonly Rule[] = [
  climbsTheLadder,
  climbsInsideItsRoom,
  hasTypesOnly,
  isPure,
  ownsItsPackages,
  leavesTheMachineAlone,
  neverSleeps,
  opensWithAComment,
  isWellNamed,
  hasShortLines,
  citesWhatIsHere,
]

/**
 * What is untidy about one source file, as `path:line says` in the order of the rules. `path` is
 * relative to the repository, with forward slashes. Generated files are exempt.
 */
export function violations(path: string, source: string): string[] {
  if (path.endsWith('/generated.ts')) return []
  const code = codeOf(source)
  const isTest = path.endsWith('.test.ts')
  const imports = importsOf(source, code)
  const file: File = { path, room: roomOf(path), isTest, source, code, imports }
  return rules.flatMap((rule) => rule(file)).map(({ line, says }) => `${path}:${line} ${says}`)
}

/** Folders that show more files than they may, beside tests and their snapshots. */
export function crowdedFolders(paths: readonly string[]): string[] {
  const shown = paths.filter((path) => !/\.test\.ts(\.snapshot)?$/.test(path))
  const folders = Map.groupBy(shown, (path) => path.split('/').slice(0, -1).join('/'))
  return [...folders].flatMap(([folder, { length }]) => {
    const limit = folderLimits[folder] ?? folderLimit
    if (length <= limit || unbounded.includes(folder)) return []
    return [`${folder} shows ${length} files (${limit}): make a sub-room`]
  })
}

/** Names under which several files export a type: who reads one cannot know which is meant. */
export function repeatedTypes(sources: ReadonlyMap<string, string>): string[] {
  const exported = /^export (?:declare |abstract )*(?:type|interface|class|enum) (\w+)/gm
  const declared = [...sources].flatMap(([path, source]) =>
    [...codeOf(source).matchAll(exported)].map(([, name = '']) => ({ name, path })),
  )
  return [...Map.groupBy(declared, ({ name }) => name)].flatMap(([name, those]) => {
    if (those.length === 1) return []
    const paths = those.map(({ path }) => path)
    return [
      `${paths.join(' and ')} export ${name}: where they are one thing keep one, in ${shared} if ` +
        'neither room may import the other; else name each for what it is',
    ]
  })
}

/** What a file imports of the repository, types too, by paths: the edges of the import graph. */
export const importedBy = (path: string, source: string): string[] =>
  importsOf(source, codeOf(source))
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => resolve(path, specifier))

/** Files that import themselves by way of others: one such way for each that closes a circle. */
export function importCircles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const way: string[] = []
  const visit = (path: string): void => {
    const begins = way.indexOf(path)
    if (begins >= 0) found.push([...way.slice(begins), path].join(' → '))
    if (begins >= 0 || done.has(path)) return
    way.push(path)
    for (const next of graph.get(path) ?? []) visit(next)
    way.pop()
    done.add(path)
  }
  for (const path of graph.keys()) visit(path)
  return found
}

/**
 * Links of a source file to the specification that lead nowhere. `headings` has the anchors of a
 * page by its path, and undefined where there is no page.
 */
export function deadCitations(
  path: string,
  source: string,
  headings: (page: string) => ReadonlySet<string> | undefined,
): string[] {
  const links = /(?<![\w/.])docs\/(?:spec|concepts)\/[\w./-]+\.md(?:#([\w-]+))?/g
  return [...source.matchAll(links)].flatMap(({ 0: link, 1: anchor, index }) => {
    const there = headings(link.split('#')[0] ?? '')
    const where = `${path}:${lineAt(source, index)}`
    if (there === undefined) return [`${where} links ${link}, which is not there`]
    if (anchor === undefined || there.has(anchor)) return []
    return [`${where} links ${link}, which has no such heading`]
  })
}

/** Home folders of invented people may appear in a file: these are the ones to use. */
const invented = /^(ada|bob|me|user|you|operator)$/

/**
 * Where a text of any kind names a folder of the machine it was written on: somebody's home, or
 * `root`, where the repository happens to be.
 */
export function machinePaths(path: string, text: string, root: string): string[] {
  const home = /\/(?:home|Users)\/([\w.-]+)/g
  return text.split('\n').flatMap((line, index) => {
    const named = [...line.matchAll(home)].some(([, who = '']) => !invented.test(who))
    return named || line.includes(root) ? [`${path}:${index + 1} names a folder of a machine`] : []
  })
}
