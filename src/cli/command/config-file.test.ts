import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseConfig } from './config-file.ts'
import { CliFailure, failureText } from './failure.ts'
import { lineOf } from './json-lines.ts'
import { chooseModel, type RunTarget } from '../run/target.ts'
import type { ModelSetting } from './settings.ts'

const ports = {
  nearest: (name: string, known: readonly string[]) =>
    known.find((key) => key.startsWith(name.slice(0, 2))) ?? null,
}

const path = '/h/config.json'

async function refusal(text: string): Promise<string> {
  const error = await parseConfig(ports, path, text).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof CliFailure, `${text} was taken`)
  return `${error.exit} ${failureText(error)}`
}

describe('config.json', () => {
  test('every key of this version is taken', async () => {
    const config = {
      $schema: './config.schema.json',
      model: 'local/qwen3-coder',
      fallback_model: 'runbook',
      workspace: '~/src/app',
      environment: ['CARGO_HOME'],
      providers: {
        local: {
          kind: 'openai-compatible',
          base_url: 'http://127.0.0.1:11434/v1',
          api_key_file: '/k',
          api_key_env: 'LOCAL_KEY',
          models: ['qwen3-coder'],
        },
      },
      acp: {
        gemini: {
          command: '~/bin/gemini',
          args: ['--acp'],
          env: { pass: ['GEMINI_API_KEY'], set: { NO_COLOR: '1' } },
        },
        plain: { command: 'agent' },
      },
    }
    assert.deepEqual(await parseConfig(ports, path, JSON.stringify(config)), config)
    assert.deepEqual(await parseConfig(ports, path, '{}'), {})
  })

  const wrong: [name: string, text: string, said: string][] = [
    [
      'an unknown key names the file, the line and the nearest key',
      '{\n  "workspace": "/w",\n  "modle": "x/y"\n}',
      '2 holon: unknown key "modle" in /h/config.json line 3; did you mean "model"?',
    ],
    [
      'an unknown key like none of them names them all',
      '{"zzz": 1}',
      '2 holon: unknown key "zzz" in /h/config.json line 1; there are: "$schema", "model", ' +
        '"fallback_model", "summary_model", "workspace", "providers", "models", "acp", ' +
        '"environment", "command_caps", "sandbox", "hooks", "budget", "http", "webhooks", "secrets", ' +
        '"retention", "log_level"',
    ],
    [
      'an unknown key of a provider is found where it stands',
      '{\n "providers": {\n  "a": { "kind": "openai" },\n  "b": {\n   "kind": "openai",\n   "basurl": 1\n  }\n }\n}',
      '2 holon: unknown key "basurl" in /h/config.json line 6; did you mean "base_url"?',
    ],
    [
      'an unknown key of an agent of another maker is found where it stands',
      '{\n "acp": {\n  "a": { "command": "a", "env": {\n   "pas": []\n  } }\n }\n}',
      '2 holon: unknown key "pas" in /h/config.json line 4; did you mean "pass"?',
    ],
    [
      'the program of an agent is a name or an absolute path',
      '{\n "acp": { "a": { "command": "./a" } }\n}',
      '2 holon: "acp.a.command" in /h/config.json line 2 is not valid; ' +
        'write a name to be found in PATH, or an absolute path',
    ],
    [
      'a provider is not called acp',
      '{\n "providers": { "acp": { "kind": "openai" } }\n}',
      '2 holon: "providers.acp" in /h/config.json line 2 is not valid; ' +
        'acp/ is for the agents under the key "acp": take another id',
    ],
    [
      'a wrong value names its key and what is valid',
      '{\n "model": "qwen"\n}',
      '2 holon: "model" in /h/config.json line 2 is not valid; ' +
        'write it as provider/model, for example anthropic/claude-sonnet-5-5',
    ],
    [
      'what asks no provider writes no summary',
      '{\n "summary_model": "runbook"\n}',
      '2 holon: "summary_model" in /h/config.json line 2 is not valid; ' +
        'write a model that answers requests: not runbook, not acp/…',
    ],
    [
      'text that is no JSON names the line',
      '{\n "model": "a/b",\n}',
      '2 holon: /h/config.json line 3 is not JSON: expected double-quoted property name; ' +
        'correct that line',
    ],
    [
      'a document that is no object is refused',
      '[]',
      '2 holon: the configuration in /h/config.json line 1 is not valid; ' +
        'expected object, received array',
    ],
  ]
  for (const [name, text, said] of wrong) {
    test(name, async () => assert.equal(await refusal(text), said))
  }

  const text = '{\n "a": ["x", {\n  "b": "}\\"{",\n  "c": 1 }],\n "d": 2\n}'
  const lines: [path: PropertyKey[], line: number][] = [
    [[], 1],
    [['a'], 2],
    [['a', 1], 2],
    [['a', 1, 'b'], 3],
    [['a', 1, 'c'], 4],
    [['d'], 5],
    [['nowhere'], 1],
  ]
  for (const [at, line] of lines) {
    test(`${at.map(String).join('.') || 'the root'} stands on line ${line}`, () =>
      assert.equal(lineOf(text, at), line))
  }
})

const words: RunTarget = { kind: 'text', images: [], text: 'do it', from: null }
const book: RunTarget = { kind: 'runbook', text: '# A', from: 'a.md', checked: null }
const resume: RunTarget = { kind: 'resume' }
const flag: ModelSetting = { value: 'f/f', source: '--model' }
const env: ModelSetting = { value: 'e/e', source: 'HOLON_MODEL' }
const file: ModelSetting = { value: 'c/c', source: '/h/config.json' }
const none: ModelSetting = { value: null, source: 'default' }

describe('the model of a run', () => {
  const cases: [
    name: string,
    target: RunTarget,
    given: ModelSetting,
    stored: string | null,
    model: string | null,
  ][] = [
    ['words: the flag goes before all', words, flag, 's/s', 'f/f'],
    ['words: the environment changes no agent that has a model', words, env, 's/s', 's/s'],
    ['words: the environment serves an agent without a model', words, env, null, 'e/e'],
    ['words: what is stored goes before the configuration', words, file, 's/s', 's/s'],
    ['words: the configuration serves an agent without a model', words, file, null, 'c/c'],
    ['words: without any model there is nothing to run with', words, none, null, null],
    ['words: a file run before does not leave them to runbooks', words, file, 'runbook', 'c/c'],
    ['words: an agent of runbooks takes none', words, none, 'runbook', null],
    ['a file goes to the runbook model', book, env, null, 'runbook'],
    ['a second file goes to the same agent', book, env, 'runbook', 'runbook'],
    ['a file makes no runbook agent of another', book, env, 's/s', null],
    ['nor does it with the flag', book, { ...flag, value: 'runbook' }, 's/s', null],
    ['resume: what is stored holds', resume, env, 'runbook', 'runbook'],
    ['resume: but for the flag', resume, flag, 's/s', 'f/f'],
    ['resume: an agent without a model takes what is set', resume, file, null, 'c/c'],
  ]
  for (const [name, target, given, stored, wanted] of cases) {
    test(name, () => {
      const chosen = chooseModel(target, given, stored)
      assert.deepEqual(
        'model' in chosen ? chosen : null,
        wanted === null ? null : { model: wanted, store: wanted !== stored },
      )
    })
  }
})

test('a file for an agent with another model is refused, with both ways', () => {
  const chosen = chooseModel(book, none, 's/s')
  assert.ok('refused' in chosen)
  assert.match(chosen.hint, /leave --agent out, or give --model s\/s/)
})
