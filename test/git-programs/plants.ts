/**
 * Programs planted in every place where git looks for one: which setting or file names it, and
 * where the configuration with it lies. Each program leaves a file of its own name when it runs, so
 * that one look says which of them did.
 */
import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Bench } from '../../src/testing/host/repository.ts'

/** A name of a setting, as bytes of a configuration file. */
type Setting = { section: string; sub?: Buffer; key: string; name: string; prefix?: string }

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')

/** Names of drivers: what a reader of the configuration may take for another one. */
export const driverNames: Readonly<Record<string, Buffer>> = {
  plain: bytes('plain'),
  dots: bytes('with.dots.in'),
  case: bytes('CaSe'),
  equals: bytes('a=b'),
  not_utf8: bytes('\xff\xfe'),
  utf8: Buffer.from('fïlter'),
  quote: bytes('qu"ote'),
  dash: bytes('-c'),
}

/** Drivers of every kind under every name: an attribute leads to them. */
const ofDrivers: readonly Setting[] = Object.entries(driverNames).flatMap(([name, sub]) => [
  { section: 'filter', sub, key: 'clean', name: `filter-clean-${name}` },
  { section: 'filter', sub, key: 'smudge', name: `filter-smudge-${name}` },
  { section: 'filter', sub: suffixed(sub), key: 'process', name: `filter-process-${name}` },
  { section: 'diff', sub, key: 'textconv', name: `textconv-${name}` },
  { section: 'diff', sub: suffixed(sub), key: 'command', name: `diff-command-${name}` },
  { section: 'merge', sub, key: 'driver', name: `merge-driver-${name}` },
])

function suffixed(sub: Buffer): Buffer {
  return Buffer.concat([sub, bytes('2')])
}

/** Settings that name a program by themselves. */
const alone: readonly Setting[] = [
  { section: 'core', key: 'fsmonitor', name: 'fsmonitor' },
  { section: 'core', key: 'pager', name: 'pager' },
  { section: 'core', key: 'editor', name: 'editor' },
  { section: 'sequence', key: 'editor', name: 'sequence-editor' },
  { section: 'core', key: 'sshCommand', name: 'ssh' },
  { section: 'core', key: 'askPass', name: 'askpass' },
  { section: 'core', key: 'gitProxy', name: 'git-proxy' },
  { section: 'core', key: 'alternateRefsCommand', name: 'alternate-refs' },
  { section: 'credential', key: 'helper', name: 'credential' },
  { section: 'gpg', key: 'program', name: 'gpg' },
  { section: 'gpg', sub: bytes('ssh'), key: 'program', name: 'gpg-ssh' },
  { section: 'diff', key: 'external', name: 'diff-external' },
  { section: 'interactive', key: 'diffFilter', name: 'interactive' },
  { section: 'pager', key: 'status', name: 'pager-status' },
  { section: 'alias', key: 'status', name: 'alias-status', prefix: '!' },
  { section: 'alias', key: 'read-tree', name: 'alias-read-tree', prefix: '!' },
  { section: 'submodule', sub: bytes('sub'), key: 'update', name: 'submodule-update', prefix: '!' },
  { section: 'remote', sub: bytes('o'), key: 'uploadpack', name: 'upload-pack' },
  { section: 'remote', sub: bytes('o'), key: 'vcs', name: 'remote-vcs' },
  { section: 'hook', sub: bytes('h'), key: 'command', name: 'configured-hook' },
  { section: 'trailer', sub: bytes('t'), key: 'command', name: 'trailer' },
]

/** Settings that make git look for what the others name. */
const switches = (b: Bench): string =>
  `[core]\n\thooksPath = ${b.folder}/hooks\n\tsafecrlf = warn\n` +
  '[commit]\n\tgpgSign = true\n[log]\n\tshowSignature = true\n' +
  '[status]\n\tsubmoduleSummary = true\n[submodule]\n\trecurse = true\n' +
  '[diff]\n\tsubmodule = log\n[hook "h"]\n\tevent = post-checkout\n' +
  '\tevent = reference-transaction\n[merge]\n\tdefault = plain\n' +
  '[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always\n' +
  `[remote "o"]\n\turl = ext::${programOf(b, 'transport')}\n\tpromisor = true\n`

export const hooks = `post-checkout pre-commit post-commit reference-transaction post-index-change
  fsmonitor-watchman pre-auto-gc post-rewrite post-merge pre-merge-commit`.split(/\s+/)

export const proofFolder = (b: Bench): string => join(b.folder, 'proof')

/** Which of the programs ran since the last time this was asked. */
export function ran(b: Bench): string[] {
  const folder = proofFolder(b)
  const names = existsSync(folder) ? readdirSync(folder).sort() : []
  rmSync(folder, { recursive: true, force: true })
  return names
}

/** A program that proves that it ran, and otherwise passes on what it was given. */
export function programOf(b: Bench, name: string): string {
  const path = join(b.folder, 'programs', name)
  if (existsSync(path)) return path
  mkdirSync(dirname(path), { recursive: true })
  const proof = proofFolder(b)
  writeFileSync(path, `#!/bin/sh\nmkdir -p '${proof}'; : >'${join(proof, name)}'; exec cat\n`)
  chmodSync(path, 0o755)
  return path
}

/** The text of a configuration in which every setting names a program. */
export function evilConfig(b: Bench): Buffer {
  const parts: Buffer[] = [bytes(switches(b))]
  for (const { section, sub, key, name, prefix = '' } of [...ofDrivers, ...alone]) {
    const quoted = sub && bytes(` "${sub.toString('latin1').replace(/["\\]/g, '\\$&')}"`)
    const value = `${prefix}${programOf(b, name)}`
    parts.push(bytes(`[${section}`), quoted ?? bytes(''), bytes(`]\n\t${key} = ${value}\n`))
  }
  return Buffer.concat(parts)
}

/** Files whose attributes ask for each driver. */
export function attributes(): Buffer {
  const lines = Object.entries(driverNames).flatMap(([name, value]) => [
    bytes(`*.${name} filter=`),
    value,
    bytes(' diff='),
    value,
    bytes(' merge='),
    value,
    bytes(`\n*.${name}2 filter=`),
    suffixed(value),
    bytes(' diff='),
    suffixed(value),
    bytes('\n'),
  ])
  return Buffer.concat(lines)
}

export const drivenFiles = Object.keys(driverNames).flatMap((name) => [`f.${name}`, `f.${name}2`])

/** Where the configuration with the programs lies, and what leads git to it. */
export type Lie = {
  name: string
  /** Into the repository of the bench, before anything of ours looks. */
  plant: (b: Bench, evil: Buffer) => void
  /** It is in force in worktrees that are made, not in the one where it lies. */
  only_new?: true
}

const git = (b: Bench, ...args: string[]) => b.git(b.root, ...args)

function include(b: Bench, evil: Buffer, condition: string | null): void {
  const file = join(b.folder, 'included')
  writeFileSync(file, evil)
  const section = condition === null ? 'include' : `includeIf "${condition}"`
  appendFileSync(join(b.repository, 'config'), `[${section}]\n\tpath = ${file}\n`)
}

export const lies: readonly Lie[] = [
  { name: 'config', plant: (b, evil) => appendFileSync(join(b.repository, 'config'), evil) },
  { name: 'an include', plant: (b, evil) => include(b, evil, null) },
  {
    name: 'an include that includes',
    plant: (b, evil) => {
      writeFileSync(join(b.folder, 'inner'), evil)
      include(b, bytes('[include]\n\tpath = inner\n'), null)
    },
  },
  { name: 'includeIf gitdir', plant: (b, evil) => include(b, evil, `gitdir:${b.root}/`) },
  {
    name: 'includeIf gitdir of worktrees',
    plant: (b, evil) => include(b, evil, 'gitdir:**/worktrees/**'),
    only_new: true,
  },
  { name: 'includeIf gitdir/i', plant: (b, evil) => include(b, evil, 'gitdir/i:**/.GIT') },
  { name: 'includeIf onbranch', plant: (b, evil) => include(b, evil, 'onbranch:main') },
  {
    name: 'includeIf onbranch of children',
    plant: (b, evil) => include(b, evil, 'onbranch:holon/**'),
    only_new: true,
  },
  {
    name: 'includeIf hasconfig',
    plant: (b, evil) => {
      git(b, 'config', 'remote.x.url', 'https://example.com/x')
      // Git takes no remote from a file that is included because of one.
      const text = evil.toString('latin1').replace(/\turl = .*\n/g, '')
      include(b, bytes(text), 'hasconfig:remote.*.url:https://example.com/**')
    },
  },
  {
    name: 'config.worktree',
    plant: (b, evil) => {
      git(b, 'config', 'extensions.worktreeConfig', 'true')
      writeFileSync(join(b.repository, 'config.worktree'), evil)
    },
  },
  {
    name: 'commondir',
    plant: (b, evil) => {
      const other = join(b.folder, 'other')
      execFileSync('cp', ['-a', b.repository, other])
      appendFileSync(join(other, 'config'), evil)
      writeFileSync(join(b.repository, 'commondir'), `${other}\n`)
    },
  },
  {
    name: 'a .git file',
    plant: (b, evil) => {
      const other = join(b.folder, 'moved')
      execFileSync('mv', [b.repository, other])
      appendFileSync(join(other, 'config'), evil)
      writeFileSync(join(b.root, '.git'), `gitdir: ${other}\n`)
    },
  },
  {
    name: 'hooks',
    plant: (b) => {
      for (const hook of hooks) {
        const text = readFileSync(programOf(b, `hook-${hook}`))
        writeFileSync(join(b.repository, 'hooks', hook), text, { mode: 0o755 })
      }
    },
  },
  {
    name: 'a submodule',
    plant: (b, evil) => {
      const from = join(b.folder, 'origin-of-sub')
      b.git(b.folder, 'init', '-q', '-b', 'main', from)
      b.commit(from, 'inner', 'inner\n')
      git(b, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', from, 'sub')
      git(b, 'commit', '-q', '-m', 'submodule')
      appendFileSync(join(b.repository, 'modules/sub/config'), evil)
      b.put(join(b.root, 'sub/inner'), 'changed\n')
    },
  },
  {
    name: 'a repository inside',
    plant: (b, evil) => {
      const inner = join(b.root, 'inner')
      b.git(b.folder, 'init', '-q', '-b', 'main', inner)
      b.commit(inner, 'file', 'file\n')
      git(b, '-c', 'advice.addEmbeddedRepo=false', 'add', 'inner')
      git(b, 'commit', '-q', '-m', 'inner')
      appendFileSync(join(inner, '.git/config'), evil)
      b.put(join(inner, 'file'), 'changed\n')
    },
  },
]
