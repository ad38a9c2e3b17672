import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CliFailure } from './failure.ts'
import type { CliPorts } from './ports.ts'
import { logLevelSetting } from './settings.ts'

type Given = { flag?: string; env?: string; file?: 'debug' | 'warn' }

const levelOf = ({ flag, env, file }: Given) => {
  const environment = { holon_log: env } as CliPorts['environment']
  const config = file === undefined ? {} : { log_level: file }
  return logLevelSetting({ environment }, flag, config, '/h/config.json')
}

describe('the level of the log: flag, environment, configuration, default', () => {
  const table: [name: string, given: Given, value: string, source: string][] = [
    [
      'the flag goes before all',
      { flag: 'error', env: 'debug', file: 'warn' },
      'error',
      '--log-level',
    ],
    ['then the environment', { env: 'debug', file: 'warn' }, 'debug', 'HOLON_LOG'],
    ['then the configuration', { file: 'warn' }, 'warn', '/h/config.json'],
    ['an empty variable is none', { env: ' ', file: 'warn' }, 'warn', '/h/config.json'],
    ['and nothing at all is info', {}, 'info', 'default'],
  ]
  for (const [name, given, value, source] of table) {
    test(name, () => assert.deepEqual(levelOf(given), { value, source }))
  }

  test('a word that is no level is refused by where it stands', () => {
    const wrong = (given: Given) => () => levelOf(given)
    const says = (message: string) => (error: unknown) =>
      error instanceof CliFailure && error.message === message && error.exit === 2
    assert.throws(wrong({ flag: 'loud' }), says('--log-level loud is no level'))
    assert.throws(wrong({ env: 'loud' }), says('HOLON_LOG=loud is no level'))
  })
})
