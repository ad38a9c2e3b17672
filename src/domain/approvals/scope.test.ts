// What a yes may stand for beyond once, and what that covers.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { actionBody, actionCommand } from '../../testing/action-body.ts'
import { anAction } from '../../testing/world/held.ts'
import type { ActionBody, ActionCommand, PolicyAction } from '../policy/action.ts'
import type { ActionPart } from '../policy/part.ts'
import type { GrantScope } from '../state/grant.ts'
import { covers, grantableOf } from './scope.ts'

const command = (line: string, more: Partial<ActionCommand> = {}): ActionCommand => {
  const argv = line.split(' ')
  const real_path = argv[0]?.startsWith('/') ? argv[0] : `/usr/bin/${argv[0]}`
  const program = { kind: 'found', real_path, area: 'outside', by: 'search' } as const
  return actionCommand(argv, { program, ...more })
}

/** A line of which the last command is asked about. */
function asked(
  line: string | ActionCommand[],
  more: Partial<ActionBody> = {},
): { action: PolicyAction; lifts: readonly ActionPart[] } {
  const commands = typeof line === 'string' ? line.split(' && ').map((one) => command(one)) : line
  const last = commands.at(-1) ?? assert.fail('there is no command')
  return {
    action: anAction('x', actionBody({ commands, item: 'work_1', ...more })),
    lifts: [{ kind: 'run', command: last }],
  }
}

/** What is offered, in a word each; the words that a like one begins with. */
function offered({ action, lifts }: ReturnType<typeof asked>): string {
  const found = grantableOf(action, lifts)
  if (found === null) return 'once'
  return found.like === null
    ? 'same'
    : `like ${[...found.like.words, ...found.like.flags].join(' ')}`
}

describe('beyond once', () => {
  const table: Readonly<Record<string, string>> = {
    'git push origin v1': 'like push origin',
    'git push -u origin v1': 'like push origin -u',
    // Alone it names no remote; by force, or by an option with a value, it is another thing.
    'git push': 'same',
    'git push origin +v1': 'same',
    'git push -c x origin v1': 'same',
    'git push --repo=x origin v1': 'same',
    'git push https://there/x v1': 'like push https://there/x',
    'git push origin https://there/x': 'same',
    'git clean -fd': 'same',
    'git foo': 'same',
    'rm -rf dist': 'same',
    'npm publish --tag next': 'same',
    'npm publish --registry x': 'same',
    'npm install left-pad': 'same',
    'kubectl get pods': 'like get pods',
    'kubectl get pods -n x': 'same',
    'gh pr create --title x': 'like pr create --title',
    'gh api repos': 'same',
    'terraform plan': 'same',
    'echo a && git push origin v1': 'like push origin',
    'bash x.sh': 'once',
    'python3 x.py': 'once',
    'python3.13 x.py': 'once',
    'node x.js': 'once',
    'make all': 'once',
    'awk x': 'once',
    'curl x': 'once',
    'ssh host': 'once',
    'rsync a b': 'once',
    'watch ls': 'once',
    'sudo ls': 'once',
    'xargs ls': 'once',
    'eval x': 'once',
    '/opt/python3.9 x': 'once',
    'node x.js && git push origin v1': 'once',
  }
  for (const [line, what] of Object.entries(table)) {
    test(`of \`${line}\` there is offered: ${what}`, () => {
      assert.equal(offered(asked(line)), what)
    })
  }

  test('nothing is offered of what is in doubt, wrapped, of the agent’s own, or not known whole', () => {
    const push = 'git push origin v1'
    const own = (area: 'workspace' | 'own' | 'home') =>
      ({ program: { kind: 'found', real_path: '/w/git', area, by: 'path' } }) as const
    const not: Partial<ActionCommand>[] = [
      { certain: false, doubt: 'runs_text', in_doubt: null },
      { wrapped_by: ['sudo'] },
      { wrapped_by: ['env'] },
      { env_names: ['GIT_DIR'] },
      { cwd: null },
      { argv: ['git', 'push', 'origin', { starts: 'v' }] },
      { argv: [{ starts: '' }, 'push'] },
      { program: { kind: 'absent' } },
      own('workspace'),
      own('own'),
      own('home'),
    ]
    for (const more of not) {
      assert.equal(offered(asked([command(push, more)])), 'once', JSON.stringify(more))
      // Nor where it stands beside what is asked about.
      assert.equal(offered(asked([command('ls', more), command(push)])), 'once')
    }
    assert.equal(grantableOf(asked(push).action, null), null)
    assert.equal(grantableOf(asked(push).action, []), null)
  })

  test('two parts that ask, a file or the call as a whole: only exactly the same', () => {
    const { action, lifts } = asked('git push origin v1')
    const path = { op: 'write', real_path: '/w/x', area: 'workspace' } as const
    const others: ActionPart[] = [{ kind: 'call' }, { kind: 'write', path }, ...lifts]
    for (const other of others) {
      assert.deepEqual(grantableOf(action, [...lifts, other]), { like: null })
    }
    assert.deepEqual(grantableOf(action, [{ kind: 'call' }]), { like: null })
    const redirect = { op: 'write', to: 'x' } as const
    assert.equal(offered(asked([command('git push origin v1', { redirects: [redirect] })])), 'same')
  })
})

const likeThat = (line: string, more: Partial<ActionBody> = {}): GrantScope => {
  const { action, lifts } = asked(line, more)
  const like = grantableOf(action, lifts)?.like ?? assert.fail('it is not offered')
  return { kind: 'like_for_item', like }
}
const sameAs = (line: string, more: Partial<ActionBody> = {}): GrantScope => ({
  kind: 'same_for_item',
  action: asked(line, more).action,
})
const isCovered = (scope: GrantScope, of: ReturnType<typeof asked>) =>
  covers(scope, of.action, of.lifts)

describe('what a yes for longer covers', () => {
  test('exactly the same, whoever’s words it is on but for those of outside', () => {
    const same = sameAs('git push origin v1')
    assert.equal(isCovered(same, asked('git push origin v1')), true)
    assert.equal(isCovered(same, asked('git push origin v1', { origin: 'runtime' })), true)
    assert.equal(isCovered(same, asked('git push origin v1', { origin: 'external' })), false)
    const onEvent = sameAs('git push origin v1', { origin: 'external' })
    assert.equal(isCovered(onEvent, asked('git push origin v1', { origin: 'external' })), true)
    assert.equal(isCovered(onEvent, asked('git push origin v1')), true)
    for (const other of ['git push origin v2', 'git push', 'ls && git push origin v1']) {
      assert.equal(isCovered(same, asked(other)), false, other)
    }
    assert.equal(isCovered(same, asked('git push origin v1', { confined: true })), false)
    assert.equal(isCovered(same, asked('git push origin v1', { item: 'work_2' })), false)
  })

  test('one that begins so: other words behind, no other flag, folder, program or remote', () => {
    const like = likeThat('git push -u origin v1')
    for (const yes of ['git push -u origin v2', 'git push origin v2 v3 -u', 'git push -u origin']) {
      assert.equal(isCovered(like, asked(yes)), true, yes)
    }
    const no = [
      'git push elsewhere v1',
      // What was shown with a flag is another thing without it: `--dry-run` would be done.
      'git push origin v2',
      'git push -u origin v1:main',
      'git push -u origin HEAD:main',
      'git push -u origin refs/heads/*',
      'git push -u origin ../there',
      'git push -u origin you@there',
      'git push --force origin v1',
      'git push -f origin v1',
      'git push -uf origin v1',
      'git push origin +v1',
      'git push origin :v1',
      'git push -c x=y origin v1',
      'git push origin https://there/x',
      'git fetch origin v1',
      'git push',
      'npm publish',
      'node x && git push origin v1',
    ]
    for (const other of no) assert.equal(isCovered(like, asked(other)), false, other)
    const moved: Partial<ActionCommand>[] = [
      { cwd: { real_path: '/w/sub', area: 'workspace' } },
      { program: { kind: 'found', real_path: '/opt/git', area: 'outside', by: 'search' } },
      { redirects: [{ op: 'write', to: 'x' }] },
      { wrapped_by: ['sudo'] },
      { env_names: ['GIT_SSH'] },
      { argv: ['git', 'push', 'origin', { starts: '' }] },
    ]
    for (const more of moved) {
      const other = asked([command('git push origin v1', more)])
      assert.equal(isCovered(like, other), false, JSON.stringify(more))
    }
  })

  test('it covers no more than all that is asked: one more part is one too many', () => {
    const { action, lifts } = asked('git push origin v2')
    const like = likeThat('git push origin v1')
    const path = { op: 'write', real_path: '/w/x', area: 'workspace' } as const
    for (const more of [{ kind: 'call' }, { kind: 'write', path }] as const) {
      assert.equal(covers(like, action, [...lifts, more]), false)
    }
    assert.equal(covers(like, action, null), false)
  })

  test('what was kept in a sandbox covers nothing that is not', () => {
    const like = likeThat('git push origin v1', { confined: true })
    assert.equal(isCovered(like, asked('git push origin v2')), false)
    assert.equal(isCovered(like, asked('git push origin v2', { confined: true })), true)
    const open = likeThat('git push origin v1')
    assert.equal(isCovered(open, asked('git push origin v2', { confined: true })), true)
  })

  test('on words of outside only what was asked on such', () => {
    const external = { origin: 'external' } as const
    const push = asked('git push origin v2', external)
    assert.equal(isCovered(likeThat('git push origin v1'), push), false)
    assert.equal(isCovered(likeThat('git push origin v1', external), push), true)
  })
})
