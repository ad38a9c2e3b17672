/** When traces are sent at all, and that being off costs nothing. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { execPath } from 'node:process'
import { test } from 'node:test'
import { tracingSettings, type Environment } from './tracing-settings.ts'

const traces = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
const base = 'OTEL_EXPORTER_OTLP_ENDPOINT'

const addresses: readonly [string, Environment, string | null][] = [
  ['no variable', {}, null],
  ['the base address', { [base]: 'http://127.0.0.1:4318' }, 'http://127.0.0.1:4318/v1/traces'],
  ['the base with a path', { [base]: 'https://otel.test/in/' }, 'https://otel.test/in/v1/traces'],
  ['the address for traces', { [traces]: 'http://127.0.0.1:4318/t' }, 'http://127.0.0.1:4318/t'],
  ['both', { [base]: 'http://a.test', [traces]: 'http://b.test/t' }, 'http://b.test/t'],
  ['empty ones', { [base]: '', [traces]: '  ' }, null],
  ['the SDK disabled', { [base]: 'http://a.test', OTEL_SDK_DISABLED: 'TRUE' }, null],
  [
    'the SDK not disabled',
    { [base]: 'http://a.test', OTEL_SDK_DISABLED: '0' },
    'http://a.test/v1/traces',
  ],
  ['no traces exporter', { [base]: 'http://a.test', OTEL_TRACES_EXPORTER: 'none' }, null],
]
for (const [what, env, url] of addresses) {
  test(`${what}: traces go to ${url ?? 'nobody'}, and nothing is wrong`, () => {
    const { settings, problem } = tracingSettings(env)
    assert.deepEqual([settings?.url ?? null, problem], [url, null])
  })
}

test('an address that cannot be one turns tracing off, and a protocol not spoken is said', () => {
  const bad = {
    settings: null,
    problem: 'The OTLP endpoint is no http or https address: nothing is traced.',
  }
  assert.deepEqual(tracingSettings({ [base]: 'collector:4317' }), bad)
  assert.deepEqual(tracingSettings({ [traces]: 'not an address' }), bad)
  const { settings, problem } = tracingSettings({
    [base]: 'http://a.test',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
  })
  assert.deepEqual(
    [settings?.url, problem],
    ['http://a.test/v1/traces', 'Traces are sent as http/json; grpc is not spoken.'],
  )
})

test('numbers and the wish for content come from their variables, and from nothing else', () => {
  const { settings } = tracingSettings({
    [base]: 'http://a.test',
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    OTEL_EXPORTER_OTLP_TIMEOUT: '900',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_BSP_MAX_QUEUE_SIZE: 'many',
  })
  assert.deepEqual(settings, {
    url: 'http://a.test/v1/traces',
    content: true,
    timeout: 900,
    schedule_delay: 50,
    max_queue_size: null,
    max_export_batch_size: null,
  })
  const plain = tracingSettings({
    [base]: 'http://a.test',
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'yes please',
  })
  assert.equal(plain.settings?.content, false)
})

/** Packages of OpenTelemetry that a fresh process loads when it starts tracing so. */
function loadedBy(env: Environment): string[] {
  const program = `
    import { registerHooks } from 'node:module'
    const loaded = new Set()
    registerHooks({
      resolve(specifier, context, next) {
        const resolved = next(specifier, context)
        const [, name] = /node_modules\\/(@opentelemetry\\/[a-z-]+)/.exec(resolved.url) ?? []
        if (name) loaded.add(name)
        return resolved
      },
    })
    const { startTracing } = await import(${JSON.stringify(new URL('tracing.ts', import.meta.url).href)})
    await startTracing(${JSON.stringify(env)}, { version: '1', problem_changed() {} })
    process.stdout.write(JSON.stringify([...loaded].sort()))
    process.exit()
  `
  const { stdout, stderr } = spawnSync(execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 30_000,
  })
  assert.notEqual(stdout, '', stderr)
  return JSON.parse(stdout) as string[]
}

test('off, no module of OpenTelemetry is loaded; on, they are', () => {
  assert.deepEqual(loadedBy({}), [])
  assert.deepEqual(loadedBy({ [base]: 'http://127.0.0.1:9', OTEL_SDK_DISABLED: 'true' }), [])
  const on = loadedBy({ [base]: 'http://127.0.0.1:9' })
  assert.deepEqual(
    ['sdk-trace', 'exporter-trace-otlp-http'].filter(
      (name) => !on.includes(`@opentelemetry/${name}`),
    ),
    [],
  )
})
