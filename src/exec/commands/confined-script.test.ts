import assert from 'node:assert/strict'
import { test } from 'node:test'
import { confinedArguments, confinedScript, type Shut, type PathKind } from './confined-script.ts'

const shut: Shut = {
  program: '/usr/bin/bwrap',
  shell: '/bin/bash',
  roots: {
    write: ['/people/ann/app', '/people/ann/.holon/agents/main'],
    read: [],
    deny: ['/people/ann/.holon', '/people/ann/.ssh', '/people/ann/.netrc', '/people/ann/.aws'],
    read_only: [],
  },
  task_folder: '/people/ann/.holon/tasks/task_1',
  tmp: '/people/ann/.holon/sandbox/main',
  workdir: '/people/ann/app/src',
  network: 'none',
  relay: { node: '/opt/holon/node', script: '/opt/holon/relay.js' },
  git: {
    kept: ['/people/ann/app/.git'],
    shut: ['/people/ann/app/.git/hooks', '/people/ann/app/.git/config'],
    covered: ['/people/ann/.holon/agents/main/.git'],
  },
}

const files = new Set(['/people/ann/.netrc'])
const missing = new Set(['/people/ann/.aws', '/etc/sudoers', '/etc/sudoers.d'])
const standing = (path: string): PathKind =>
  missing.has(path) ? 'nothing' : files.has(path) ? 'file' : 'folder'
const real = (path: string) => (missing.has(path) ? null : path)

/** What is mounted, in order: `how path`. */
function mounted(of: Shut): string[] {
  const args = confinedArguments(of, standing, real)
  const from = args.indexOf('--remount-ro') + 2
  const found: string[] = []
  for (let i = from; i < args.length;) {
    const how = args[i] ?? ''
    if (how === '--chdir') break
    const isShort = how === '--tmpfs' || how === '--remount-ro'
    found.push(isShort ? `${how} ${args[i + 1]}` : `${how} ${args[i + 2]}`)
    i += isShort ? 2 : 3
  }
  return found
}

test('what lies deeper is mounted later, so that an own folder opens in a denied home', () => {
  assert.deepEqual(mounted(shut), [
    '--tmpfs /run',
    '--bind /tmp',
    '--tmpfs /var/tmp',
    '--tmpfs /etc/shadow',
    '--tmpfs /etc/gshadow',
    '--bind-try /people/ann/app',
    '--tmpfs /people/ann/.ssh',
    '--tmpfs /people/ann/.holon',
    '--ro-bind /people/ann/.netrc',
    '--bind-try /people/ann/app/.git',
    '--ro-bind /people/ann/app/.git/hooks',
    '--ro-bind /people/ann/app/.git/config',
    '--bind-try /people/ann/.holon/agents/main',
    '--ro-bind-try /people/ann/.holon/tasks/task_1',
    '--tmpfs /people/ann/.holon/agents/main/.git',
    '--remount-ro /people/ann/.holon/agents/main/.git',
  ])
})

test('a denied root wins where it is also written', () => {
  const roots = { ...shut.roots, write: ['/people/ann/.ssh'] }
  const places = mounted({ ...shut, roots }).filter((place) => place.endsWith('/.ssh'))
  assert.deepEqual(places, ['--tmpfs /people/ann/.ssh'])
})

test('what is only to be read in a writable folder is mounted so, and not moved with what is above it', () => {
  const roots = { ...shut.roots, read_only: ['/people/ann/app/.agents/memory'] }
  const places = mounted({ ...shut, roots }).filter((place) => place.includes('.agents'))
  assert.deepEqual(places, [
    '--bind-try /people/ann/app/.agents',
    '--ro-bind-try /people/ann/app/.agents/memory',
  ])
})

test('without a network there is no other way than none', () => {
  const has = (network: Shut['network']) =>
    confinedArguments({ ...shut, network }, standing, real).includes('--unshare-net')
  assert.deepEqual([has('none'), has('open'), has({ allow: ['a.example'] })], [true, false, true])
})

test('where hosts are listed the relay begins before the command, and the command knows of it', () => {
  const of: Shut = { ...shut, network: { allow: ['a.example'] } }
  assert.deepEqual(
    mounted(of).filter((place) => place.includes('/run')),
    [
      '--tmpfs /run',
      '--ro-bind /run/holon/node',
      '--ro-bind /run/holon/hosts',
      '--ro-bind /run/holon/relay.mjs',
    ],
  )
  const [line = '', ...more] = confinedScript(of, ['--']).split('\n')
  assert.match(
    line,
    /^exec '\/usr\/bin\/bwrap' '--' '\/bin\/bash' '-c' 'relay=\$\(.* 3>&1 >\/dev\/null &\)$/,
  )
  assert.match(more[0] ?? '', /^\[ "\$relay" = ready \] \|\| \{ .*; exit 126; \}$/)
  const names = more.flatMap(
    (word) => /^export (\w+)=http:\/\/127\.0\.0\.1:4128$/.exec(word)?.[1] ?? [],
  )
  assert.deepEqual(names, [
    ...['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'],
  ])
  assert.match(more.at(-2) ?? '', /^exec "\$0" "\$1"' '\/bin\/bash' "\$1"$/)
})

test('a path with a quote stays one word of the script', () => {
  const text = confinedScript(shut, ['--chdir', "/people/ann/it's here", '--'])
  assert.equal(
    text,
    `exec '/usr/bin/bwrap' '--chdir' '/people/ann/it'\\''s here' '--' '/bin/bash' "$1"\n`,
  )
})
