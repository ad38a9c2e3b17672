import assert from 'node:assert/strict'
import { test } from 'node:test'
import { confinedArguments, confinedScript, type Shut, type Standing } from './confined-script.ts'

const shut: Shut = {
  program: '/usr/bin/bwrap',
  shell: '/bin/bash',
  roots: {
    write: ['/home/ann/app', '/home/ann/.holon/agents/main'],
    read: [],
    deny: ['/home/ann/.holon', '/home/ann/.ssh', '/home/ann/.netrc', '/home/ann/.aws'],
  },
  task_folder: '/home/ann/.holon/tasks/task_1',
  tmp: '/home/ann/.holon/sandbox/main',
  workdir: '/home/ann/app/src',
  network: 'none',
  git_dir: null,
}

const files = new Set(['/home/ann/.netrc', '/home/ann/app/.git/config'])
const missing = new Set(['/home/ann/.aws', '/etc/sudoers', '/etc/sudoers.d'])
const standing = (path: string): Standing =>
  missing.has(path) ? 'nothing' : files.has(path) ? 'file' : 'folder'
const real = (path: string) => (missing.has(path) ? null : path)

/** What is mounted, in order: `how path`. */
function mounted(of: Shut): string[] {
  const args = confinedArguments(of, standing, real)
  const from = args.indexOf('--proc') + 2
  const found: string[] = []
  for (let i = from; i < args.length;) {
    const how = args[i] ?? ''
    if (how === '--chdir') break
    found.push(how === '--tmpfs' ? `${how} ${args[i + 1]}` : `${how} ${args[i + 2]}`)
    i += how === '--tmpfs' ? 2 : 3
  }
  return found
}

test('security 12: what lies deeper is mounted later, so that an own folder opens in a denied home', () => {
  assert.deepEqual(mounted(shut), [
    '--tmpfs /run',
    '--bind /tmp',
    '--tmpfs /var/tmp',
    '--tmpfs /etc/shadow',
    '--tmpfs /etc/gshadow',
    '--bind-try /home/ann/app',
    '--tmpfs /home/ann/.ssh',
    '--tmpfs /home/ann/.holon',
    '--ro-bind /home/ann/.netrc',
    '--bind-try /home/ann/app/.git',
    '--ro-bind-try /home/ann/app/.git/hooks',
    '--ro-bind-try /home/ann/app/.git/config',
    '--bind-try /home/ann/.holon/agents/main',
    '--ro-bind-try /home/ann/.holon/tasks/task_1',
    '--bind-try /home/ann/.holon/agents/main/.git',
    '--ro-bind-try /home/ann/.holon/agents/main/.git/hooks',
    '--ro-bind-try /home/ann/.holon/agents/main/.git/config',
  ])
})

test('security 12: a denied root wins where it is also written', () => {
  const roots = { ...shut.roots, write: ['/home/ann/.ssh'] }
  const places = mounted({ ...shut, roots }).filter((place) => place.endsWith('/.ssh'))
  assert.deepEqual(places, ['--tmpfs /home/ann/.ssh'])
})

test('security 12: commits of a worktree reach its repository, whose hooks stay as they are', () => {
  const places = mounted({ ...shut, git_dir: '/srv/app/.git' })
  const of = places.filter((place) => place.includes('/srv/app'))
  assert.deepEqual(of, [
    '--bind-try /srv/app/.git',
    '--ro-bind-try /srv/app/.git/hooks',
    '--ro-bind-try /srv/app/.git/config',
  ])
})

test('security 12: without a network there is no other way than none', () => {
  const has = (network: Shut['network']) =>
    confinedArguments({ ...shut, network }, standing, real).includes('--unshare-net')
  assert.deepEqual([has('none'), has('open')], [true, false])
})

test('a path with a quote stays one word of the script', () => {
  const text = confinedScript(shut, ['--chdir', "/home/ann/it's here", '--'])
  assert.equal(
    text,
    `exec '/usr/bin/bwrap' '--chdir' '/home/ann/it'\\''s here' '--' '/bin/bash' "$1"\n`,
  )
})
