// A confined command works with git, and what it leaves names no program to whoever uses git there
// next: real bubblewrap, real git, and a person's own `git status` afterwards.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { noBubblewrap } from '../../testing/programs.ts'
import { systemClock } from '../clock.ts'
import { gitControl } from './git-control.ts'
import { agentRoots } from '../files/path-policy.ts'
import { createProcesses } from '../commands/processes.ts'

const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']

type World = ReturnType<typeof world>

/** A person's folder with a repository in `app`, and the commands of an agent that works there. */
function world(t: TestContext, confined = true) {
  const person = realpathSync(mkdtempSync(join(tmpdir(), 'holon-git-control-')))
  const at = (...parts: string[]) => join(person, ...parts)
  const home = at('state')
  mkdirSync(at('state/tasks'), { recursive: true })
  mkdirSync(at('state/agents/main'), { recursive: true })
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: person, GIT_ALLOW_PROTOCOL: 'file' }
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', [...who, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
      .toString()
      .trimEnd()
  const how = { whom: 'everyone', network: 'none' } as const
  const confinement = { folder: join(home, 'sandbox'), ...how, writable: [] }
  const processes = createProcesses({
    tasks_folder: join(home, 'tasks'),
    clock: systemClock(),
    parent_env: env,
    ...(confined ? { confinement } : {}),
  })
  t.after(async () => {
    await processes.close()
    rmSync(person, { recursive: true, force: true })
  })
  let tasks = 0
  /** A command of the agent in `workspace`; what it printed. */
  const sh = async (workspace: string, cmd: string, repository: string | null = null) => {
    const task_id = `task_git-${process.pid}-${(tasks += 1)}`
    const facts = { home, agent_id: 'main', workspace, user_home: person, owned: [] }
    const confine = { agent_id: 'main', roots: agentRoots(facts), repository }
    const spec = { task_id, cmd, workdir: workspace, env: {}, timeout_ms: 30_000 }
    await processes.prepare({ ...spec, stdin: 'none', confine })
    await processes.start(task_id)
    await processes.ended(task_id, new AbortController().signal)
    const text = async (stream: 'stdout' | 'stderr') =>
      (await processes.output(task_id, { stream, max_bytes: 65_536 })).text
    return `${await text('stdout')}${await text('stderr')}`
  }
  const repository = (name: string): string => {
    const folder = at(name)
    git(person, 'init', '-q', '-b', 'main', folder)
    writeFileSync(join(folder, 'readme.md'), 'first\n')
    git(folder, 'add', '-A')
    git(folder, 'commit', '-q', '-m', 'first')
    return folder
  }
  return { person, at, git, sh, repository }
}

/** Makes the program, and in `$C` a configuration that has git run it. */
const program =
  'E=$PWD/evil; printf \'#!/bin/sh\\n: >"%s"\\n\' "$(dirname "$PWD")/ran" >"$E"; chmod +x "$E"; ' +
  'C="$(printf \'[core]\\n\\tfsmonitor = %s\\n\\trepositoryformatversion = 0\\n\' "$E")"; '

type Way = {
  /** Makes the agent's workspace. */
  make: (w: World) => string
  cmd: string
  /** Where the person uses git then; by default the workspace. */
  looks?: (w: World, workspace: string) => string
}

const plain = (w: World) => w.repository('app')
const withSubmodule = (w: World): string => {
  const app = w.repository('app')
  w.git(app, 'submodule', '--quiet', 'add', w.repository('lib'), 'libs/lib')
  w.git(app, 'commit', '-q', '-m', 'lib')
  return app
}
const withWorktree = (w: World): string => {
  const app = w.repository('app')
  w.git(app, 'worktree', 'add', '-q', w.at('feature'))
  return app
}
const copyOfGit = 'cp -a .git other; echo "$C" >>other/config; '

const ways: Readonly<Record<string, Way>> = {
  'changes the configuration': { make: plain, cmd: 'echo "$C" >>.git/config' },
  'writes a configuration of the worktree': {
    make: (w) => {
      const app = w.repository('app')
      w.git(app, 'config', 'extensions.worktreeConfig', 'true')
      return app
    },
    cmd: 'echo "$C" >>.git/config.worktree',
  },
  'leads git to another shared folder': {
    make: plain,
    cmd: `${copyOfGit} rm -f .git/commondir; echo "$PWD/other" >.git/commondir`,
  },
  'makes hooks where there were none': {
    make: (w) => {
      const app = w.repository('app')
      rmSync(join(app, '.git/hooks'), { recursive: true })
      return app
    },
    cmd: 'mkdir -p .git/hooks; cp "$E" .git/hooks/post-index-change; touch readme.md',
  },
  'makes a repository where there is none': {
    make: (w) => {
      mkdirSync(w.at('app'))
      return w.at('app')
    },
    cmd: 'git init -q; echo "$C" >>.git/config',
  },
  'puts a file in the place of no repository': {
    make: (w) => {
      mkdirSync(w.at('app'))
      return w.at('app')
    },
    cmd: 'git init -q real; echo "$C" >>real/.git/config; echo "gitdir: real/.git" >.git',
  },
  'turns what is left of a repository into one': {
    make: (w) => {
      mkdirSync(w.at('app/.git'), { recursive: true })
      return w.at('app')
    },
    cmd: 'git init -q; echo "$C" >>.git/config',
  },
  'rewrites a .git file': {
    make: (w) => {
      const app = w.repository('app')
      w.git(app, 'worktree', 'add', '-q', w.at('feature'))
      return w.at('feature')
    },
    cmd: 'git init -q real; echo "$C" >>real/.git/config; rm -f .git; echo "gitdir: real/.git" >.git',
  },
  'moves the repository away': {
    make: plain,
    cmd: 'mv .git gone; git init -q; echo "$C" >>.git/config',
  },
  'changes the configuration of a submodule': {
    make: withSubmodule,
    cmd: 'echo "$C" >>.git/modules/libs/lib/config',
  },
  'replaces the git folder of a submodule': {
    make: withSubmodule,
    cmd:
      'cd .git && mv modules m; mkdir -p modules/libs; cp -a m/libs/lib modules/libs/; ' +
      'echo "$C" >>modules/libs/lib/config',
  },
  'leads a submodule to another repository': {
    make: withSubmodule,
    cmd:
      'cp -a .git/modules/libs/lib other; ' +
      'git config -f other/config --unset core.worktree; echo "$C" >>other/config; ' +
      'mv libs/lib libs/gone; mkdir -p libs/lib; rm -f libs/lib/.git; ' +
      'echo "gitdir: $PWD/other" >libs/lib/.git',
  },
  'leads another worktree to another repository': {
    make: withWorktree,
    cmd:
      `${copyOfGit} mv .git/worktrees/feature .git/worktrees/gone && ` +
      'cp -a .git/worktrees/gone .git/worktrees/feature; ' +
      'rm -f .git/worktrees/feature/commondir; ' +
      'echo "$PWD/other" >.git/worktrees/feature/commondir',
    looks: (w) => w.at('feature'),
  },
}

/** Whether a program of the agent's ran when the person looked. */
async function reached(t: TestContext, { make, cmd, looks }: Way, confined: boolean) {
  const w = world(t, confined)
  const workspace = make(w)
  // Twice: what the first one finds missing is there for the second.
  for (let n = 0; n < 2; n += 1) await w.sh(workspace, `${program}${cmd}`)
  const folder = looks?.(w, workspace) ?? workspace
  try {
    w.git(folder, 'status')
  } catch {
    // Where there is no repository, there is no status.
  }
  return existsSync(w.at('ran'))
}

test('what a confined command leaves runs nothing when a person uses git', async (t) => {
  for (const [name, way] of Object.entries(ways)) {
    await t.test(name, { skip: noBubblewrap }, async (one) => {
      assert.equal(await reached(one, way, true), false)
    })
    await t.test(`${name}: not confined, it would`, async (one) => {
      assert.equal(await reached(one, way, false), true)
    })
  }
})

test(
  'a confined agent commits, branches and merges, in submodules and worktrees too',
  { skip: noBubblewrap },
  async (t) => {
    const w = world(t)
    const app = withSubmodule(w)
    const me = `git ${who.join(' ')}`
    const said = await w.sh(
      app,
      `set -e; echo two >>readme.md; ${me} commit -q -a -m two; git checkout -q -b side; ` +
        `echo three >three; git add three; ${me} commit -q -m three; git checkout -q main; ` +
        `${me} merge -q --no-ff --no-edit side; git branch -d side; git stash list; ` +
        `cd libs/lib; echo x >>readme.md; ${me} commit -q -a -m x; cd ../..; ` +
        `git add libs/lib; ${me} commit -q -m lib; git gc -q; git worktree add -q .wt -b wt; ` +
        'git status --short; echo end',
    )
    assert.match(said, /^end$/m)
    assert.equal(w.git(app, 'status', '--short'), '?? .wt/')
    assert.equal(w.git(app, 'log', '-1', '--format=%s'), 'lib')
    assert.match(await w.sh(app, 'git worktree remove .wt && echo gone'), /gone/)
  },
)

test(
  'a child commits to the repository that its worktree is of, and changes no file of its trees',
  { skip: noBubblewrap },
  async (t) => {
    const w = world(t)
    const [app, child, below] = [w.repository('app'), w.at('child'), w.at('below')]
    w.git(app, 'worktree', 'add', '-q', child, '-b', 'child')
    w.git(child, 'worktree', 'add', '-q', below, '-b', 'below')
    // Named as a working tree, as a worktree of one, and as the git folder itself.
    const named: [string, string][] = [
      [child, app],
      [below, child],
      [below, join(app, '.git')],
    ]
    for (const [n, [mine, of]] of named.entries()) {
      const cmd =
        `echo ${n} >own; git add own; git ${who.join(' ')} commit -q -m commit-${n}; ` +
        `for one in ${app} ${mine === below ? child : app}; do echo out >$one/beside; done; ` +
        `echo out >${app}/readme.md`
      await w.sh(mine, cmd, of)
      assert.equal(w.git(mine, 'log', '-1', '--format=%s'), `commit-${n}`)
      for (const tree of [app, child, below]) assert.equal(w.git(tree, 'status', '--short'), '')
      assert.equal(existsSync(join(app, 'hooks')), false)
    }
    // A folder that is no repository any more gives nothing to write to.
    mkdirSync(w.at('plain'))
    await w.sh(below, `echo out >${w.at('plain/a')}`, w.at('plain'))
    assert.deepEqual(readdirSync(w.at('plain')), [])
  },
)

test('a folder that leads to a repository which does not name it gives nothing to write to', (t) => {
  const w = world(t)
  const [app, lib] = [withSubmodule(w), join(w.at('app'), 'libs/lib')]
  w.git(app, 'worktree', 'add', '-q', w.at('feature'))
  const git = join(app, '.git')
  const keeps = (folder: string) => gitControl([], folder).kept
  for (const named of [app, git, w.at('feature')]) assert.equal(keeps(named)[0], git)
  assert.equal(keeps(lib)[0], join(git, 'modules/libs/lib'))
  const lies: Record<string, Record<string, string>> = {
    file: { '.git': `gitdir: ${git}\n` },
    worktree: { '.git': `gitdir: ${git}/worktrees/feature\n` },
    submodule: { '.git': `gitdir: ${git}/modules/libs/lib\n` },
    own: { '.git': 'gitdir: fake\n', 'fake/gitdir': '../.git\n', 'fake/commondir': `${git}\n` },
    folder: {
      '.git/commondir': `${git}\n`,
      '.git/HEAD': 'x',
      '.git/refs/x': '',
      '.git/objects/x': '',
    },
    plain: { 'readme.md': 'none' },
  }
  for (const [name, files] of Object.entries(lies)) {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(w.at(name, path)), { recursive: true })
      writeFileSync(w.at(name, path), text)
    }
    assert.deepEqual(keeps(w.at(name)), [], name)
  }
  symlinkSync(git, w.at('plain/.git'))
  assert.deepEqual(keeps(w.at('plain')), [])
})

test('a repository with what was made in it to be shut works as before', (t) => {
  const w = world(t)
  const [app, as_it_was] = [withSubmodule(w), w.at('as-it-was')]
  w.git(app, 'worktree', 'add', '-q', w.at('feature'))
  execFileSync('cp', ['-a', app, as_it_was])
  const git_dir = join(app, '.git')
  assert.equal(gitControl([app], git_dir).problem, null)
  const made = readdirSync(git_dir).filter((name) => !existsSync(join(as_it_was, '.git', name)))
  assert.deepEqual(made.sort(), ['commondir', 'config.worktree'])
  assert.equal(readFileSync(join(git_dir, 'commondir'), 'utf8'), '.\n')
  const calls = ['status', 'branch -a', 'log --oneline', 'fsck', 'submodule status', 'stash list']
  const more = ['rev-parse --show-toplevel', 'rev-parse --is-bare-repository', 'config -l --local']
  for (const call of [...calls, ...more]) {
    const said = (folder: string) => w.git(folder, ...call.split(' ')).replaceAll(folder, '')
    assert.equal(said(app), said(as_it_was), call)
  }
  assert.equal(w.git(w.at('feature'), 'status', '--short'), '')
  w.git(app, 'worktree', 'remove', w.at('feature'))
  assert.equal(gitControl([app], null).problem, null)
})

test('what cannot be shut is a reason, and no command runs', { skip: noBubblewrap }, async (t) => {
  const w = world(t)
  const app = w.repository('app')
  rmSync(join(app, '.git/hooks'), { recursive: true })
  mkdirSync(w.at('hooks'))
  symlinkSync(w.at('hooks'), join(app, '.git/hooks'))
  const link = /hooks is a link, and what it leads to can be changed behind it/
  await assert.rejects(w.sh(app, 'echo x >ran'), (error: Error) => link.test(error.message))
  assert.equal(existsSync(join(app, 'ran')), false)
})

test(
  'where no repository may come to be, an empty folder says so',
  { skip: noBubblewrap },
  async (t) => {
    const w = world(t)
    mkdirSync(w.at('app'))
    assert.match(await w.sh(w.at('app'), 'git init -q'), /Read-only file system/)
    assert.deepEqual(readdirSync(w.at('app/.git')), [])
    assert.equal(lstatSync(w.at('app/.git')).isDirectory(), true)
    // Below it is the agent's own affair.
    assert.match(await w.sh(w.at('app'), 'git init -q sub && echo made'), /made/)
  },
)
