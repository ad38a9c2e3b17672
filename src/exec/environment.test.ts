// The environment of commands, as a table: what is there, and what comes out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { childEnvironment, refusedName } from './environment.ts'

const PATH = '/bin'

const cases: [string, Parameters<typeof childEnvironment>, Record<string, string>][] = [
  [
    'the fixed names pass, others do not',
    [
      { pass: [], set: {} },
      { PATH, HOME: '/h', LANG: 'C', TERM: 'x', TZ: 'UTC', USER: 'u' },
    ],
    { PATH, HOME: '/h', LANG: 'C', TERM: 'x', TZ: 'UTC' },
  ],
  [
    'a missing PATH is not an empty one',
    [{ pass: [], set: {} }, { PATH: '' }],
    { PATH: '/usr/local/bin:/usr/bin:/bin' },
  ],
  [
    'declared names pass when they are there',
    [
      { pass: ['EDITOR', 'NOT_THERE'], set: {} },
      { PATH, EDITOR: 'vi' },
    ],
    { PATH, EDITOR: 'vi' },
  ],
  [
    'a declared credential does not pass',
    [
      { pass: ['OPENAI_API_KEY', 'MY_TOKEN'], set: {} },
      { PATH, OPENAI_API_KEY: 'k', MY_TOKEN: 't' },
    ],
    { PATH },
  ],
  [
    'values of the runtime are set and win',
    [
      { pass: [], set: { TZ: 'X', HOLON_TRIGGER_URL: 'http://x' } },
      { PATH, TZ: 'UTC' },
    ],
    { PATH, TZ: 'X', HOLON_TRIGGER_URL: 'http://x' },
  ],
  [
    'set values follow the same rules',
    [{ pass: [], set: { LD_PRELOAD: 'x', 'a-b': 'x', OK: 'a\0b', A_SECRET: 'x' } }, { PATH }],
    { PATH },
  ],
]

for (const [name, args, expected] of cases) {
  test(name, () => assert.deepEqual(childEnvironment(...args), expected))
}

const names: [ReturnType<typeof refusedName>, string[]][] = [
  [
    null,
    ['PATH', 'EDITOR', 'HOLON_TRIGGER_URL', 'KEYBOARD', 'MONKEY', 'TOKENIZER', '_x', 'AUTHOR'],
  ],
  [
    'credential',
    [
      'ANTHROPIC_API_KEY',
      'openai_api_key',
      'HOLON_CONTROL_TOKEN',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_SESSION_TOKEN',
      'DB_PASSWORD',
      'TOKEN',
      'GITHUB_PAT',
      'SSH_AUTH_SOCK',
    ],
  ],
  [
    'loads_code',
    [
      'LD_PRELOAD',
      'LD_LIBRARY_PATH',
      'DYLD_INSERT_LIBRARIES',
      'GIT_SSH_COMMAND',
      'NODE_OPTIONS',
      'BASH_ENV',
      'ENV',
      'SHELLOPTS',
      'PROMPT_COMMAND',
      'PYTHONSTARTUP',
      'PERL5OPT',
    ],
  ],
  ['not_a_name', ['', '1A', 'A-B', 'A B', 'A=B', 'BASH_FUNC_x%%', 'é']],
]

for (const [verdict, list] of names) {
  test(`names that are ${verdict ?? 'allowed'}`, () => {
    assert.deepEqual(
      list.map((name) => [name, refusedName(name)]),
      list.map((name) => [name, verdict]),
    )
  })
}
