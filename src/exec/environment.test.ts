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
    'a credential passes when it is declared by its name, and only then',
    [
      { pass: ['GITHUB_TOKEN'], set: {} },
      { PATH, GITHUB_TOKEN: 't', OPENAI_API_KEY: 'k' },
    ],
    { PATH, GITHUB_TOKEN: 't' },
  ],
  [
    'what loads code, and our own token, do not pass when they are declared either',
    [
      {
        pass: ['LD_PRELOAD', 'NODE_OPTIONS', 'npm_config_script_shell', 'HOLON_CONTROL_TOKEN'],
        set: {},
      },
      {
        PATH,
        LD_PRELOAD: 'x',
        NODE_OPTIONS: 'x',
        npm_config_script_shell: 'x',
        HOLON_CONTROL_TOKEN: 'x',
      },
    ],
    { PATH },
  ],
  [
    'entries of PATH that mean the work folder are left out',
    [{ pass: [], set: {} }, { PATH: ':/bin:.:bin:/usr/bin:' }],
    { PATH: '/bin:/usr/bin' },
  ],
  [
    'a PATH of nothing but the work folder is none',
    [{ pass: [], set: {} }, { PATH: '.:bin' }],
    { PATH: '/usr/local/bin:/usr/bin:/bin' },
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
    [
      'PATH',
      'EDITOR',
      'HOLON_TRIGGER_URL',
      'KEYBOARD',
      'MONKEY',
      'TOKENIZER',
      '_x',
      'AUTHOR',
      'PWD',
      'OLDPWD',
      'COMPASS',
      'PYTHONUNBUFFERED',
    ],
  ],
  [
    'credential',
    [
      'ANTHROPIC_API_KEY',
      'openai_api_key',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_SESSION_TOKEN',
      'DB_PASSWORD',
      'TOKEN',
      'GITHUB_PAT',
      'SSH_AUTH_SOCK',
      'DB_PWD',
      'SMTP_PASS',
      'AWS_CREDS',
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
      'GIT_CONFIG_GLOBAL',
      'ZDOTDIR',
      'npm_config_script_shell',
      'LESSOPEN',
      'GLIBC_TUNABLES',
    ],
  ],
  ['ours', ['HOLON_CONTROL_TOKEN', 'holon_control_token']],
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
