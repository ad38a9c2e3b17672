/**
 * The policy that a running home judges calls by: its files as they are at the moment of the call,
 * and everything asked where they cannot be read.
 */
import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { presetWords } from '../src/cli/command/guards.ts'
import { policyPorts } from '../src/main/homes/policy.ts'
import { policyPort, type HomeStanding } from '../src/main/homes/policy-port.ts'
import { configSchema } from '../src/protocol/config.ts'
import type { CallJudged } from '../src/runtime/ports.ts'

const existing: HomeStanding = { age: 'existing', choice: 'unset' }

function placed(t: TestContext, standing = existing) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-policy-')))
  t.after(() => rmSync(folder, { recursive: true }))
  const [home, workspace] = [join(folder, 'home'), join(folder, 'work')]
  for (const one of [home, workspace]) mkdirSync(one, { mode: 0o700 })
  return at({ folder, home, workspace }, standing)
}

type Placed = { folder: string; home: string; workspace: string }

function at({ folder, home, workspace }: Placed, standing = existing) {
  const port = policyPort(home, standing, null)
  const says = (policy: unknown) =>
    writeFileSync(
      join(home, 'policy.json'),
      typeof policy === 'string' ? policy : JSON.stringify(policy),
    )
  const judged = async (input: unknown, more: Partial<CallJudged> = {}) => {
    const asked: CallJudged = {
      tool_name: 'ExecCommand',
      class: 'reattachable',
      input,
      agent: 'main',
      item: null,
      origin: 'operator',
      workspace,
      confined: false,
      presets: [],
      environment: {},
      ...more,
    }
    return port.judge(asked)
  }
  const decided = async (cmd: string, more: Partial<CallJudged> = {}) =>
    (await judged({ cmd, workdir: workspace }, more))?.decision.decide
  const anew = () => at({ folder, home, workspace }, standing)
  return { folder, home, workspace, says, judged, decided, anew }
}

test('a home without a policy asks nothing', async (t) => {
  const { judged } = placed(t)
  assert.equal(await judged({ cmd: 'git push -f' }), null)
})

test('a rule holds from the call on that follows it', async (t) => {
  const { says, decided } = placed(t)
  says({ rules: [{ decide: 'deny', run: ['git', 'push'], why: 'never' }] })
  assert.equal(await decided('git push'), 'deny')
  says({ rules: [{ decide: 'allow', run: ['git', 'push'] }] })
  assert.equal(await decided('git push'), 'allow')
})

test('a file that is refused asks about everything and says why; what only looks goes on', async (t) => {
  const { says, judged, decided, home } = placed(t)
  for (const broken of ['{', { rules: [{ decide: 'allow', run: ['ls'], match: ['git push'] }] }]) {
    says(broken)
    assert.equal(await decided('ls'), 'ask')
    const found = await judged({ cmd: 'ls' })
    assert.match(found?.decision.why ?? '', new RegExp(`^${home}/policy.json line 1 is refused: `))
    assert.match(found?.decision.why ?? '', /Until then everything is asked\.$/)
    const looks = await judged({ path: 'a.txt' }, { tool_name: 'ReadFile', class: 'pure' })
    assert.equal(looks?.decision.decide, 'allow')
  }
})

test('of a file that is refused the last good one stays in force, also over a restart', async (t) => {
  const { says, decided, home, anew } = placed(t)
  says({ rules: [{ decide: 'deny', run: ['ls'] }] })
  assert.equal(await decided('ls'), 'deny')
  assert.equal(await decided('cat a'), 'allow')
  says('{ "rules": [\n')
  for (const decidedBy of [decided, anew().decided]) {
    assert.equal(await decidedBy('ls'), 'deny')
    assert.equal(await decidedBy('cat a'), 'allow')
  }
  says({ rules: [] })
  assert.equal(await decided('ls'), 'allow')
  says('{')
  assert.equal(await decided('ls'), 'allow')
  rmSync(join(home, 'policy.good.json'))
  assert.equal(await decided('cat a'), 'ask')
})

test('what a workspace has is never the last good file of the home', async (t) => {
  const { says, decided, workspace } = placed(t)
  mkdirSync(join(workspace, '.holon'))
  const open = JSON.stringify({ preset: 'open', rules: [{ decide: 'allow', run: ['git'] }] })
  for (const place of ['policy.good.json', '.holon/policy.good.json']) {
    writeFileSync(join(workspace, place), open)
  }
  says('{')
  assert.equal(await decided('git push'), 'ask')
  assert.equal(await decided('ls'), 'ask')
})

test("a workspace's file that is refused asks about everything there", async (t) => {
  const { says, decided, workspace } = placed(t)
  says({ preset: 'open' })
  mkdirSync(join(workspace, '.holon'))
  const repository = join(workspace, '.holon', 'policy.json')
  writeFileSync(repository, JSON.stringify({ rules: [] }))
  assert.equal(await decided('ls'), 'allow')
  writeFileSync(repository, JSON.stringify({ rules: [{ decide: 'allow', run: ['ls'] }] }))
  assert.equal(await decided('ls'), 'ask')
})

test('where the workspace holds the home, its policy is read once, as the operator wrote it', async (t) => {
  const { folder, workspace } = placed(t)
  const home = join(workspace, '.holon')
  mkdirSync(home, { mode: 0o700 })
  const { says, decided } = at({ folder, home, workspace })
  says({ preset: 'open', rules: [{ decide: 'allow', run: ['git', 'push'] }] })
  assert.equal(await decided('git push'), 'allow')
})

test('the same command is another action where its program is another', async (t) => {
  const { says, judged, workspace, home } = placed(t)
  says({ preset: 'watch' })
  const [first, second] = [join(home, 'first'), join(home, 'second')]
  for (const one of [first, second]) {
    mkdirSync(one)
    writeFileSync(join(one, 'deploy'), '#!/bin/sh\n')
    chmodSync(join(one, 'deploy'), 0o755)
  }
  const hash = async (PATH: string, cmd = 'deploy now') =>
    (await judged({ cmd, workdir: workspace }, { environment: { PATH } }))?.action.sha256
  const as = await hash(first)
  assert.equal(await hash(first), as)
  assert.notEqual(await hash(second), as)
  assert.notEqual(await hash(first, 'deploy  now #'), undefined)
  assert.notEqual(await hash(first, 'deploy later'), as)
})

test('a grant may answer for a line that is the command alone, by the line as it is written', async (t) => {
  const { says, judged } = placed(t)
  says({ rules: [{ decide: 'ask', run: ['ls'] }], otherwise: { run: 'allow' } })
  const lifts = async (cmd: string) => (await judged({ cmd }))?.decision.lifts ?? null
  assert.equal((await lifts('ls sub'))?.length, 1)
  for (const line of ['export LS_COLORS=x; ls sub', 'ls sub &', 'ls sub <<E\nx\nE']) {
    assert.equal(await lifts(line), null, line)
  }
})

test('what a workspace denies holds from the next call on, and no longer than it stands there', async (t) => {
  const { says, decided, workspace } = placed(t)
  says({ preset: 'open' })
  mkdirSync(join(workspace, '.holon'))
  const repository = join(workspace, '.holon', 'policy.json')
  assert.equal(await decided('ls'), 'allow')
  writeFileSync(repository, JSON.stringify({ rules: [{ decide: 'deny', run: ['ls'] }] }))
  assert.equal(await decided('ls'), 'deny')
  rmSync(repository)
  assert.equal(await decided('ls'), 'allow')
})

test('by turns, each call is judged by its own presets, workspace and files as they are then', async (t) => {
  const { says, judged, folder, workspace } = placed(t)
  const other = join(folder, 'other')
  for (const one of [workspace, other]) mkdirSync(join(one, '.holon'), { recursive: true })
  const denying = (run: string) => JSON.stringify({ rules: [{ decide: 'deny', run: [run] }] })
  writeFileSync(join(workspace, '.holon', 'policy.json'), denying('ls'))
  writeFileSync(join(other, '.holon', 'policy.json'), denying('cat'))
  const decides = async (more: Partial<CallJudged>) =>
    (await judged({ cmd: 'ls', workdir: workspace }, more))?.decision
  const revisions = new Set<string | undefined>()
  for (const [at, file] of [{}, { otherwise: { run: 'ask', write: 'deny' } }, {}].entries()) {
    says(file)
    for (const _ of ['first', 'again']) {
      const here = await decides({ presets: ['open'] })
      const there = await decides({ presets: ['open'], workspace: other })
      const watched = await decides({ presets: ['watch'], workspace: other })
      const both = await decides({ presets: ['open', 'watch'], workspace: other })
      assert.deepEqual(
        [here, there, watched, both].map((one) => one?.decide),
        ['deny', at === 1 ? 'ask' : 'allow', 'ask', 'ask'],
      )
      for (const one of [here, there, watched]) revisions.add(one?.revision)
    }
  }
  // Two texts of the home's file, by two workspaces under `open` and one under `watch`.
  assert.equal(revisions.size, 6)
})

test('past calls of the same words are decided apart where their folder, tool or class differ', async (t) => {
  const { says, home, workspace, folder } = placed(t)
  says({
    preset: 'open',
    rules: [
      { decide: 'deny', run: ['ls'], in: 'workspace' },
      { decide: 'ask', class: 'non_repeatable' },
    ],
  })
  const config = configSchema.parse({ sandbox: 'off' })
  const asked = { home, workspace, file: null, agent: 'main', config }
  const policy = await policyPorts.open(asked)
  assert.ok(policy.ok)
  const decided = (tool_name: string, workdir: string, effect_class: string) =>
    policy.call({ tool_name, input: { cmd: 'ls', workdir }, effect_class }).decide
  for (const _ of ['first', 'again']) {
    assert.equal(decided('ExecCommand', workspace, 'reattachable'), 'deny')
    assert.equal(decided('ExecCommand', folder, 'reattachable'), 'allow')
    assert.equal(decided('ExecCommand', folder, 'non_repeatable'), 'ask')
    assert.equal(decided('ReadFile', workspace, 'pure'), 'allow')
  }
})

/** A file that an agent on `watch` writes, and what is decided; of its own folder, of the other's. */
const written: readonly [string, 'allow' | 'ask'][] = [
  ['memory/notes.md', 'allow'],
  ['OWN/memory/deep/notes.md', 'allow'],
  ['OWN/notes/today.md', 'allow'],
  ['OWN/work-items/work_1/plan.md', 'allow'],
  ['./memory/notes.md', 'ask'],
  ['a.ts', 'ask'],
  ['memory/../AGENTS.md', 'ask'],
  ['OWN/skills/x/SKILL.md', 'ask'],
  ['OTHER/memory/notes.md', 'ask'],
  ['OWN/memory/out/a.ts', 'ask'],
]

test('an agent keeps its own memory, notes and plans without a question, also on watch', async (t) => {
  const { says, judged, home, workspace } = placed(t, { age: 'new', choice: 'unset' })
  const [own, other] = [join(home, 'agents/main'), join(home, 'agents/other')]
  mkdirSync(join(own, 'memory'), { recursive: true })
  symlinkSync(workspace, join(own, 'memory/out'))
  const decided = async (path: string) => {
    const input = { path: path.replace('OWN', own).replace('OTHER', other), new_text: 'x' }
    const call = { tool_name: 'EditFile', class: 'content_checked' } as const
    return (await judged(input, { ...call, presets: ['watch'] }))?.decision.decide
  }
  for (const [path, decide] of written) assert.equal(await decided(path), decide, path)
  says({ rules: [{ decide: 'deny', write: ['**/memory/*.md'] }] })
  assert.equal(await decided('memory/notes.md'), 'deny', 'a rule that somebody wrote holds')
  assert.equal(await decided('OWN/notes/today.md'), 'allow')
  says({ rules: [{ decide: 'ask', tool: ['EditFile'] }] })
  assert.equal(await decided('memory/notes.md'), 'ask')
  says({ rules: [{ decide: 'deny', write: ['**/*'], in: 'own' }] })
  assert.equal(await decided('memory/notes.md'), 'deny')
})

/** A line on the preset `work`, where commands are confined, and what is decided. */
const onWork: readonly [decide: 'allow' | 'ask', lines: readonly string[]][] = [
  ['ask', ['git push', 'git push origin v2', 'npm publish', 'docker push a/b', 'gh pr create']],
  ['ask', ['curl https://example.org', 'wget x', 'ssh host', 'scp a host:', 'rsync a host:b']],
  ['allow', ['npm i', 'pip install x', 'git fetch', 'git clone https://example.org/a', 'ls']],
  ['allow', ['docker run x', 'npm test', 'cat a']],
]

test('work asks about what it is said to ask about, and about nothing that is fetched', async (t) => {
  const { decided } = placed(t, { age: 'new', choice: 'unset' })
  for (const [decide, lines] of onWork) {
    for (const line of lines) {
      const found = await decided(line, { presets: ['work'], confined: true })
      assert.equal(found, decide, line)
    }
  }
  const says = /^pushes, publishing and programs that speak to other machines are asked about$/
  assert.match(presetWords.work, says)
})
