// Preloaded where scripts/covered.mjs runs a test: what the test starts with an environment of its
// own writes its coverage, too, and so does what that starts.
'use strict'
const processes = require('node:child_process')
const { syncBuiltinESMExports } = require('node:module')

const kept = ['NODE_V8_COVERAGE', 'NODE_OPTIONS']
const added = Object.fromEntries(kept.map((name) => [name, process.env[name]]))
const withCoverage = (one) =>
  typeof one?.env === 'object' && !Array.isArray(one)
    ? { ...one, env: { ...one.env, ...added } }
    : one
for (const name of ['spawn', 'spawnSync', 'execFile', 'execFileSync', 'fork']) {
  const begin = processes[name]
  processes[name] = (...args) => begin(...args.map(withCoverage))
}
syncBuiltinESMExports()
