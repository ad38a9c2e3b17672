// Path strings made from rules: every place that is kept from an agent, in every form that a path
// can be written in. Judged as text, and opened for real where the places can be made.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, describe, test } from 'node:test'
import { FileFault } from './file-fault.ts'
import { agentRoots, judgePath, problemOfPath } from './path-policy.ts'
import { openWithin } from './roots.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-forms-')))
after(() => rmSync(folder, { recursive: true, force: true }))

const user_home = join(folder, 'ada')
const workspace = join(user_home, 'project')
const home = join(user_home, '.local/state/holon')
const roots = agentRoots({ home, agent_id: 'main', workspace, user_home, owned: [] })

/** Files that may be neither read nor written, with a text that would show it. */
const kept: Record<string, string> = {
  'the control token': `${home}/control-token`,
  'the secret of triggers': `${home}/trigger-secret`,
  'the configuration': `${home}/config.json`,
  'the ledger': `${home}/ledger/holon.db`,
  'another agent': `${home}/agents/other/notes/x.md`,
  'the output of another’s task': `${home}/tasks/task_9/stdout`,
  'an SSH key': `${user_home}/.ssh/id_ed25519`,
  'cloud credentials': `${user_home}/.aws/credentials`,
  'a netrc': `${user_home}/.netrc`,
  'a git hook': `${workspace}/.git/hooks/pre-commit`,
  'a file beside the workspace': `${user_home}/projects/x`,
  'a file of the system': '/etc/hostname',
  'the environment of a process': '/proc/self/environ',
  'a device': '/dev/null',
  'a setting of the kernel': '/sys/kernel/notes',
}

/** Files that may be read and written, in the same forms. */
const free: Record<string, string> = {
  'a source file': `${workspace}/src/main.ts`,
  'a file that looks like a hook': `${workspace}/hooks/pre-commit`,
  'the agent’s notes': `${home}/agents/main/notes/x.md`,
}

/** Other ways to write the same place. */
const forms: Record<string, (path: string) => string> = {
  'as it is': (path) => path,
  'doubled slashes': (path) => path.replaceAll('/', '//'),
  'dots between': (path) => path.replaceAll('/', '/./'),
  'a slash in front': (path) => `/${path}`,
  'up from the root': (path) => `/../..${path}`,
  'out of the workspace': (path) => `${workspace}/${'../'.repeat(20)}.${path}`,
  'out of a folder that is not there': (path) => `${workspace}/none/..${'/..'.repeat(20)}${path}`,
  'out of the agent’s folder': (path) => `${home}/agents/main/${'../'.repeat(20)}.${path}`,
  'through a neighbour': (path) => path.replace(/\/([^/]+)$/, '/neighbour/../$1'),
  'up and back': (path) => path.replace(/\/([^/]+)\/([^/]+)$/, '/$1/../$1/$2'),
  'a slash at the end': (path) => `${path}/`,
  'a dot at the end': (path) => `${path}/.`,
}

/** Texts that are no path of a file at all. */
const broken: Record<string, (path: string) => string> = {
  'a NUL in it': (path) => `${path}\0`,
  'a NUL before it': (path) => `${workspace}/a\0${path}`,
  'as a URL': (path) => `file://${path}`,
  'without its root': (path) => path.slice(1),
  'from a home': () => '~/.ssh/id_ed25519',
  'on a drive': (path) => `C:${path.replaceAll('/', '\\')}`,
  'blanks in front': (path) => ` ${path}`,
  nothing: () => '',
}

/** Names that a file system which folds letters takes for the same. */
const folded: Record<string, (path: string) => string> = {
  'in upper case': (path) => path.toUpperCase(),
  'its last name in upper case': (path) => path.replace(/[^/]+$/, (name) => name.toUpperCase()),
}

const isAllowed = (path: string, mode: 'read' | 'write'): boolean =>
  problemOfPath(path) === null && judgePath(roots, resolve(path), mode).allowed

for (const path of [...Object.values(kept), ...Object.values(free)]) {
  if (!path.startsWith(folder)) continue
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, 'canary')
}

/** What opening comes to: nothing is allowed to be read, whatever else is wrong with the path. */
async function opened(path: string, mode: 'read' | 'write'): Promise<string> {
  try {
    const file = await openWithin(roots, path, mode)
    await file.close()
    return 'opened'
  } catch (error) {
    assert(error instanceof FileFault, String(error))
    return error.code
  }
}

describe('300 forms of paths', () => {
  let count = 0
  for (const [what, path] of Object.entries(kept)) {
    test(`${what} is kept in every form`, async () => {
      for (const [form, write] of Object.entries({ ...forms, ...broken })) {
        const text = write(path)
        for (const mode of ['read', 'write'] as const) {
          assert.equal(isAllowed(text, mode), false, `${mode} ${form}: ${text}`)
          assert.equal(await opened(text, mode), 'denied', `${mode} ${form}: ${text}`)
        }
        count += 1
      }
    })
  }

  test('places inside a denied folder are kept in other letters too', () => {
    for (const [what, path] of Object.entries(kept)) {
      if (!path.startsWith(`${home}/`) && !path.startsWith(`${user_home}/.`)) continue
      for (const [form, write] of Object.entries(folded)) {
        for (const mode of ['read', 'write'] as const) {
          const text = write(path)
          assert.equal(isAllowed(text, mode), false, `${what}, ${mode} ${form}: ${text}`)
        }
        count += 1
      }
    }
  })

  test('what is free stays free in every form of a file’s path', async () => {
    for (const path of Object.values(free)) {
      for (const [form, write] of Object.entries(forms)) {
        const text = write(path)
        for (const mode of ['read', 'write'] as const) {
          assert.equal(isAllowed(text, mode), true, `${mode} ${form}: ${text}`)
          assert.equal(await opened(text, mode), 'opened', `${mode} ${form}: ${text}`)
        }
        count += 1
      }
    }
  })

  test('they were at least 300, and none changed a file', () => {
    assert(count >= 300, `${count} forms`)
    for (const path of Object.values(kept)) {
      if (path.startsWith(folder)) assert.equal(readFileSync(path, 'utf8'), 'canary')
    }
  })
})
