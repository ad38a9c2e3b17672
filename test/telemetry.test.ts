/**
 * Telemetry is the daemon's: a run of `holon run`, whole and for real, loads none of its libraries,
 * with the variables that turn tracing on set or not.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execPath } from 'node:process'
import { test } from 'node:test'

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

test('holon run loads no library of logs, metrics or traces', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holon-telemetry-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const loaded = file('loaded', '')
  const runbook = file('one-step.md', '# One step\n\n## Say it\n\n```sh\necho said\n```\n')
  const { status, stderr } = spawnSync(
    execPath,
    ['--import', file('hooks.mjs', hooks), join(root, 'src/main.ts'), 'run', runbook],
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
  assert.equal(status, 0, stderr)
  const packages = new Set(readFileSync(loaded, 'utf8').split('\n'))
  assert.ok(packages.has('kysely') && packages.has('commander'), 'the hook saw nothing')
  const ofTelemetry = [...packages].filter((name) =>
    /^(pino|prom-client|@opentelemetry\/)/.test(name),
  )
  assert.deepEqual(ofTelemetry, [])
})
