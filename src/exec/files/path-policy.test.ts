// What a model may touch, as a table of paths. `r` may be read, `w` also written, `-` neither.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentRoots, homeEntry, judgePath, problemOfPath } from './path-policy.ts'
import type { Roots } from '../ports.ts'

const roots = agentRoots({
  home: '/state/holon',
  agent_id: 'main',
  workspace: '/work/project',
  user_home: '/home/ada',
  owned: ['/state/holon/tasks/task_1', '/state/holon/outputs/call_1.txt', '/etc/passwd'],
})

type Access = '-' | 'r' | 'w'

function access(given: Roots, path: string): Access {
  if (problemOfPath(path)) return '-'
  if (judgePath(given, path, 'write').allowed) return 'w'
  return judgePath(given, path, 'read').allowed ? 'r' : '-'
}

const table: [Access, string[]][] = [
  [
    'w',
    [
      '/work/project',
      '/work/project/a.ts',
      '/work/project/deep/er/b',
      '/work/project/.env',
      '/work/project/.gitignore',
      '/work/project/.github/workflows/ci.yml',
      '/work/project/hooks/use-it.ts',
      '/work/project/.husky/hooks',
      '/work/project/git/hooks/x',
      '/work/project/.ssh/config',
      '/work/project/proc/self',
      '/work/project/dev/null',
      '/work/project/.. /x',
      '/work/project/...',
      '/work/project/-rf',
      '/work/project/ü 🙂',
      '/work/project/a\nb',
      '/state/holon/agents/main',
      '/state/holon/agents/main/AGENTS.md',
      '/state/holon/agents/main/memory/self.md',
      '/state/holon/agents/main/work-items/work_1/plan.md',
    ],
  ],
  [
    'r',
    [
      '/state/holon/tasks/task_1',
      '/state/holon/tasks/task_1/stdout',
      '/state/holon/outputs/call_1.txt',
      '/work/project/.git',
      '/work/project/.git/config',
      '/work/project/.git/commondir',
      '/work/project/.git/info/attributes',
      '/work/project/.git/modules/x/config',
      '/work/project/.GIT/config.worktree',
      '/work/project/vendored/.git',
    ],
  ],
  [
    '-',
    [
      '',
      'a.ts',
      './a.ts',
      '~/a',
      'file:///work/project/a',
      '/work/project/a\0b',
      '/',
      '/work',
      '/work/project2',
      '/work/project-other/a',
      '/work/Project/a',
      '/etc/passwd',
      '/etc/shadow',
      '/root/x',
      '/tmp/x',
      '/home/ada/x',
      '/home/ada/.ssh/id_ed25519',
      '/home/ada/.netrc',
      '/proc/self/environ',
      '/proc/1/mem',
      '/proc',
      '/sys/kernel',
      '/dev/null',
      '/dev/sda',
      '/dev/stdin',
      '/dev/fd/0',
      '/state/holon',
      '/state/holon/config.json',
      '/state/holon/control-token',
      '/state/holon/ledger/holon.db',
      '/state/holon/ledger/holon.db-shm',
      '/state/holon/agents',
      '/state/holon/agents/other/AGENTS.md',
      '/state/holon/agents/main2/x',
      '/state/holon/tasks',
      '/state/holon/tasks/task_2/stdout',
      '/state/holon/tasks/task_11/stdout',
      '/state/holon/outputs/call_2.txt',
      '/state/holon/outputs/call_1.txt.bak',
      '/work/project/.git/hooks',
      '/work/project/.git/hooks/pre-commit',
      '/work/project/.git/modules/sub/hooks/post-checkout',
      '/work/project/.git/worktrees/w/hooks/x',
      '/work/project/.GIT/Hooks/pre-commit',
      '/work/project/vendored/.git/hooks/x',
    ],
  ],
]

for (const [expected, paths] of table) {
  test(`paths an agent has "${expected}" access to`, () => {
    assert.deepEqual(
      paths.map((path) => [path, access(roots, path)]),
      paths.map((path) => [path, expected]),
    )
  })
}

test('a workspace around everything still keeps the home and the credentials out', () => {
  const facts = { home: '/home/ada/.state/holon', agent_id: 'a', user_home: '/home/ada', owned: [] }
  const wide = agentRoots({ ...facts, workspace: '/home/ada' })
  const expected: [string, Access][] = [
    ['/home/ada/project/x', 'w'],
    ['/home/ada/.bashrc', 'w'],
    ['/home/ada/.state/holon/agents/a/notes/x', 'w'],
    ['/home/ada/.state/holon/agents/b/notes/x', '-'],
    ['/home/ada/.state/holon/config.json', '-'],
    ['/home/ada/.STATE/holon/config.json', '-'],
    ['/home/ada/.ssh/id_ed25519', '-'],
    ['/home/ada/.SSH/id_ed25519', '-'],
    ['/home/ada/.sshx/y', 'w'],
    ['/home/ada/.aws/credentials', '-'],
    ['/home/ada/.gnupg/x', '-'],
    ['/home/ada/.config/holon/keys', '-'],
    ['/home/ada/.config/holon/keys/openai', '-'],
    ['/home/ada/.config/other', 'w'],
    ['/home/ada/.npmrc', '-'],
    ['/home/ada/.npmrc.bak', 'w'],
    ['/home/ada/.git-credentials', '-'],
  ]
  assert.deepEqual(
    expected.map(([path]) => [path, access(wide, path)]),
    expected,
  )
})

test('a workspace that is the home itself is the agent’s own folder and no more', () => {
  const facts = { home: '/h', agent_id: 'a', workspace: '/h', user_home: '/root', owned: [] }
  const same = agentRoots(facts)
  const paths = ['/h/config.json', '/h/agents/a/x', '/h/agents/b/x']
  assert.deepEqual(
    paths.map((path) => access(same, path)),
    ['-', 'w', '-'],
  )
})

test('a path in the home names the task, the call, the message or the turn it belongs to', () => {
  const mine: [string, ReturnType<typeof homeEntry>][] = [
    ['/h/tasks/task_1/stdout', { table: 'tasks', id: 'task_1' }],
    ['/h/outputs/call_1.txt', { table: 'calls', id: 'call_1' }],
    ['/h/outputs/msg_1.txt', { table: 'messages', id: 'msg_1' }],
    ['/h/outputs/msg_1.2.png', { table: 'messages', id: 'msg_1' }],
    ['/h/outputs/turn_1.txt', { table: 'turns', id: 'turn_1' }],
    ['/h/outputs/other_1.txt', null],
    ['/h/outputs/x', null],
    ['/h/tasks', null],
    ['/h/ledger/x', null],
    ['/x', null],
  ]
  for (const [path, entry] of mine) assert.deepEqual(homeEntry('/h', path), entry, path)
})

test('a child that works in its parent’s folder leaves alone what the parent remembers there', () => {
  const home = '/state/holon'
  const child = agentRoots({
    home,
    agent_id: 'main.1',
    workspace: `${home}/agents/main`,
    user_home: '/home/ada',
    owned: [],
  })
  const seen = (path: string) => access(child, `${home}/agents/${path}`)
  const parents = [
    'AGENTS.md',
    'memory/a.md',
    'notes',
    'skills/x/SKILL.md',
    'work-items/work_1/plan.md',
  ]
  assert.deepEqual(
    ['main/src/a.ts', 'main.1/memory/a.md', 'main.2/x', ...parents.map((one) => `main/${one}`)].map(
      seen,
    ),
    ['w', 'w', '-', ...parents.map(() => '-')],
  )
})

test('what is only to be read is not written, and not read because of it', () => {
  const kept = {
    ...roots,
    read_only: ['/work/project/.agents/memory', '/home/ada/.aws/sso', '/elsewhere'],
  }
  const table: [string, Access][] = [
    ['/work/project/.agents/memory', 'r'],
    ['/work/project/.agents/memory/deep/x.md', 'r'],
    ['/work/project/.Agents/Memory/x.md', 'r'],
    ['/work/project/.agents/memory2', 'w'],
    ['/work/project/.agents/skills/a/SKILL.md', 'w'],
    ['/home/ada/.aws/sso/token', '-'],
    ['/elsewhere/x', '-'],
  ]
  for (const [path, expected] of table) assert.equal(access(kept, path), expected, path)
})

test('the roots of an agent are these, each store of credentials by its place', (t) => {
  const facts = { home: '/h', agent_id: 'ada', workspace: '/w', user_home: '/u' }
  const owned = ['/h/tasks/task_1', '/h/outputs/call_1.txt', '/h/tasksx', '/h/ledger', '/etc/tasks']
  t.assert.snapshot(agentRoots({ ...facts, owned }))
  const { deny } = agentRoots({ ...facts, owned: [], user_home: '/' })
  assert.ok(deny.includes('/.ssh') && deny.every((path) => !path.startsWith('//')))
})
