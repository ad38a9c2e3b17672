// `check` tells what would make `npm ci` fail or tie a clone to one registry; `fix` repairs it.
// A registry that does not serve an optional package for another platform makes npm leave it out
// of the lock, and `npm ci` then refuses ("Missing: … from lock file"): a stub with the platform
// read from the package's name is enough. Download addresses are left out, integrity is not.
import { readFileSync, writeFileSync } from 'node:fs'
import { argv, exit } from 'node:process'
import { fileURLToPath } from 'node:url'

const path = fileURLToPath(new URL('../package-lock.json', import.meta.url))
const systems = {
  android: 'android',
  darwin: 'darwin',
  freebsd: 'freebsd',
  linux: 'linux',
  netbsd: 'netbsd',
  ohos: 'openharmony',
  openbsd: 'openbsd',
  openharmony: 'openharmony',
  sunos: 'sunos',
  wasi: 'wasi',
  wasm32: 'wasi',
  win: 'win32',
  win32: 'win32',
  windows: 'win32',
}
const processors = /^(arm|arm64|ia32|loong64|ppc64|riscv64|s390x|wasm32|x64)$/

/** The folder of the package around the one at `folder`: '' for the root, undefined outside it. */
const around = (folder) =>
  folder === '' ? undefined : folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))

/** Whether the lock has a package that code in `from` would find, looking outwards as Node does. */
const isLocked = (packages, from, name) => {
  for (let folder = from; folder !== undefined; folder = around(folder)) {
    if (packages[`${folder}${folder && '/'}node_modules/${name}`]) return true
  }
  return false
}

/** Optional dependencies named by a locked package but not locked themselves. */
const missing = (packages) =>
  Object.entries(packages).flatMap(([from, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !isLocked(packages, from, name))
      .map(([name, range]) => ({ from, name, range })),
  )

/** Every entry of the lock that says where to download from. */
const addressed = (packages) =>
  Object.entries(packages).filter(([, entry]) => entry.resolved && !entry.link)

/** Locked packages that are neither checked by integrity nor a stub npm skips on this platform. */
const unverified = (packages) =>
  Object.entries(packages).filter(
    ([at, entry]) => at !== '' && !entry.link && !entry.integrity && !entry.optional,
  )

const stub = (name, range) => {
  const words = name.split(/[-/]/)
  const os = words.map((word) => systems[word]).find(Boolean) ?? 'none'
  const cpu = words.find((word) => processors.test(word))
  return {
    version: range.replace(/^\D*/, ''),
    optional: true,
    os: [os],
    ...(cpu ? { cpu: [cpu] } : {}),
  }
}

const lock = JSON.parse(readFileSync(path, 'utf8'))
if (argv[2] === 'fix') {
  for (const { name, range } of missing(lock.packages)) {
    lock.packages[`node_modules/${name}`] = stub(name, range)
  }
  for (const [, entry] of addressed(lock.packages)) delete entry.resolved
  lock.packages = Object.fromEntries(
    Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
} else if (argv[2] !== 'check') {
  console.error('usage: node scripts/lockfile.mjs check|fix')
  exit(2)
}

const wrong = [
  ...missing(lock.packages).map(({ from, name }) => `${from || 'root'} needs ${name}: not locked`),
  ...addressed(lock.packages).map(([at]) => `${at} records a download address`),
  ...unverified(lock.packages).map(([at]) => `${at} has no integrity: install it again`),
]
for (const line of wrong) console.error(`package-lock.json: ${line}`)
if (wrong.length > 0) {
  console.error('package-lock.json: run `node scripts/lockfile.mjs fix`')
  exit(1)
}
