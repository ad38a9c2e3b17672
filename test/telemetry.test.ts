/**
 * What a start loads, whole and for real. Telemetry is the daemon's: a run of `holon run` loads none
 * of its libraries, with the variables that turn tracing on set or not. And what is refused before
 * it begins needs no schemas.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execPath } from 'node:process'
import { test, type TestContext } from 'node:test'

const root = dirname(import.meta.dirname)

/** Names the packages that the process loads, one a line, in the file LOADED. */
const hooks = `
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context)
    const [, name] = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(resolved.url) ?? []
    if (name) appendFileSync(process.env.LOADED, name + '\\n')
    return resolved
  },
})
`

/** The packages that `holon` with these words loads, and its exit code. */
function loadedBy(t: TestContext, words: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'holon-telemetry-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const loaded = file('loaded', '')
  file('one-step.md', '# One step\n\n## Say it\n\n```sh\necho said\n```\n')
  const { status, stderr } = spawnSync(
    execPath,
    ['--import', file('hooks.mjs', hooks), join(root, 'src/main.ts'), ...words],
    {
      cwd: folder,
      encoding: 'utf8',
      timeout: 60_000,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        HOLON_HOME: join(folder, 'home'),
        LOADED: loaded,
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      },
    },
  )
  return { status, stderr, packages: new Set(readFileSync(loaded, 'utf8').trim().split('\n')) }
}

test('holon run loads no library of logs, metrics or traces', (t) => {
  const { status, stderr, packages } = loadedBy(t, ['run', 'one-step.md'])
  assert.equal(status, 0, stderr)
  assert.ok(packages.has('kysely') && packages.has('commander'), 'the hook saw nothing')
  const ofTelemetry = [...packages].filter((name) =>
    /^(pino|prom-client|@opentelemetry\/)/.test(name),
  )
  assert.deepEqual(ofTelemetry, [])
})

test('a run that is refused before it begins loads the parser of its words alone', (t) => {
  for (const words of [['run'], ['run', 'missing.md'], ['run', '--modle', 'x']]) {
    const { status, packages } = loadedBy(t, words)
    assert.deepEqual([status, [...packages]], [2, ['commander']], words.join(' '))
  }
})
