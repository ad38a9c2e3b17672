/**
 * What a home does where its operator has chosen nothing, by the real program: a new one where
 * commands can be confined, a new one where they cannot, and one of an earlier version.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findProgram } from '../src/exec/program.ts'
import { earlierHome, homeApart } from '../src/testing/host/home-apart.ts'
import { noBubblewrap } from '../src/testing/programs.ts'
import { type ServedHome, terminal } from './support/served-home.ts'
import { placed } from './support/cli/worker-home.ts'

const patience = { timeout: 60_000 }

const sh = (cmd: string) => ({ name: 'ExecCommand', input: { cmd } })
const edit = {
  name: 'ApplyPatch',
  input: { patch: '--- /dev/null\n+++ made.txt\n@@ -0,0 +1 @@\n+made\n' },
}

/** From here on bubblewrap cannot be started: for the program its file is an empty one. */
function withoutBubblewrap(at: ServedHome): void {
  const bwrap = findProgram(['bwrap'], at.env['PATH'] ?? '')
  if (bwrap === null) return
  const hidden = ['--ro-bind', '/dev/null', realpathSync(bwrap)]
  at.within = [bwrap, '--die-with-parent', '--dev-bind', '/', '/', ...hidden]
}

test(
  'a new home confines an agent with a model, asks nothing of its work, and says so once',
  { ...patience, skip: noBubblewrap },
  async (t) => {
    const { at, root, run, runbook } = await placed(t)
    const first = await run(
      edit,
      sh('cat made.txt'),
      sh('git init -q sub && cd sub && git add . && git status --short'),
      sh('mkdir ../beside'),
    )
    assert.equal(first.exit, 0, first.err)
    assert.match(first.err, /its commands are confined, with an open network; pushes, publishing/)
    assert.ok(existsSync(join(root, 'made.txt')))
    assert.ok(existsSync(join(root, 'sub', '.git')))
    assert.ok(!existsSync(join(at.folder, 'beside')), 'it wrote beside its folder')
    const again = await run(sh('true'))
    assert.doesNotMatch(again.err, /confined/)
    const asked = await run(sh('curl -s http://127.0.0.1:9/'))
    assert.equal(asked.exit, 3, asked.err)
    // A runbook is the operator's own words: neither held nor confined.
    const own = await runbook('mkdir ../beside && curl -s http://127.0.0.1:9/ || true')
    assert.equal(own.exit, 0, own.err)
    assert.ok(existsSync(join(at.folder, 'beside')))
    assert.doesNotMatch(own.err, /confined/)
    const doctor = await at.holon('doctor')
    assert.match(doctor.out, /ok {4}sandbox .*of agents with a model are confined/)
  },
)

test(
  'where a new home cannot confine, all that an agent does is asked, and it is said',
  patience,
  async (t) => {
    const { at, root, run, runbook } = await placed(t)
    withoutBubblewrap(at)
    const first = await run(edit, sh('echo it > kept.txt'))
    assert.equal(first.exit, 3, first.err)
    assert.match(first.err, /! its commands are not confined: bubblewrap .*preset watch/)
    assert.deepEqual(readdirSync(root), [])
    assert.equal((await runbook('echo it > own.txt')).exit, 0)
    const doctor = await at.holon('doctor')
    assert.match(doctor.out, /warn {2}sandbox .*cannot be here: bubblewrap/)
    assert.match(doctor.out, /policy .*\(preset watch\)/)
    assert.equal((await at.holon('policy', 'check', 'ls')).exit, 3)
    // The choice to go without: looks and edits are free, what is not known is asked.
    assert.equal((await at.holon('config', 'set', 'sandbox', 'off')).exit, 0)
    assert.equal((await at.holon('policy', 'check', 'ls')).exit, 0)
    assert.equal((await at.holon('policy', 'check', 'frobnicate')).exit, 3)
  },
)

test('init asks once how to go on where commands cannot be confined', patience, async (t) => {
  const { at, server } = await placed(t)
  withoutBubblewrap(at)
  const url = ['--provider', 'openai-compatible', '--base-url', server.base_url, '--no-start']
  const scripted = await at.holon('init', '--no-input', ...url, '--model', 'm')
  assert.equal(scripted.exit, 0, scripted.err)
  assert.match(scripted.err, /5 commands cannot be confined here: bubblewrap/)
  assert.equal(at.file('policy.json'), null)
  const answers: [key: string, policy: string | null, sandbox: string | undefined][] = [
    ['n', null, 'off'],
    ['', '{ "preset": "watch" }\n', undefined],
  ]
  for (const [key, policy, sandbox] of answers) {
    rmSync(at.home, { recursive: true, force: true })
    const screen = terminal(t, at, ['init', ...url, '--model', 'm'])
    await screen.says(/key, not shown[^:]*: /, '\r')
    await screen.says(/it works unconfined, as you \(Y\/n\) /, `${key}\r`)
    await screen.sees(/Ready\./)
    assert.equal(await screen.ended, 0, screen.screen())
    const config = JSON.parse(at.file('config.json') ?? '') as { sandbox?: unknown }
    assert.equal(at.file('policy.json'), policy)
    assert.equal(config.sandbox, sandbox)
    const again = terminal(t, at, ['init', ...url, '--model', 'm'])
    await again.says(/key, not shown[^:]*: /, '\r')
    await again.sees(/Ready\./)
    assert.equal(await again.ended, 0, again.screen())
    assert.doesNotMatch(again.screen(), /as you \(Y/)
  }
})

test(
  'an upgrade changes nothing of a home that was there, and the doctor names it',
  patience,
  async (t) => {
    const { at, runAs } = await placed(t)
    at.env['HOLON_HOME'] = await homeApart(t, earlierHome('demo'))
    const ran = await runAs('fresh', sh('mkdir ../beside && frobnicate; true'), edit)
    assert.equal(ran.exit, 0, ran.err)
    assert.doesNotMatch(ran.err, /confined/)
    assert.ok(existsSync(join(at.folder, 'beside')))
    const doctor = await at.holon('doctor')
    assert.match(doctor.out, /warn {2}sandbox .*this home was made before .* keeps what it does/)
    assert.match(doctor.out, /warn {2}policy .*nothing that an agent does is asked about/)
    const show = await at.holon('policy', 'show')
    assert.match(show.out, /^nothing is judged: this home was made before/)
    // Until the operator chooses: for one agent, or for the home.
    assert.equal((await at.holon('agents', 'configure', 'fresh', '--preset', 'watch')).exit, 0)
    assert.equal((await runAs('fresh', sh('frobnicate'))).exit, 3)
    assert.match((await at.holon('agents', 'show', 'fresh')).out, /^preset +watch$/m)
  },
)

test(
  'an agent is on preset open only where it is said twice, and the doctor names it',
  patience,
  async (t) => {
    const { at, run } = await placed(t)
    assert.equal((await run()).exit, 0)
    const configure = (...more: string[]) => at.holon('agents', 'configure', 'docs', ...more)
    const slip = await configure('--preset', 'open')
    assert.deepEqual([slip.exit, /--dangerously too/.test(slip.err)], [2, true])
    assert.equal((await configure('--preset', 'work', '--dangerously')).exit, 2)
    assert.equal((await configure('--preset', 'bypass')).exit, 2)
    assert.equal((await configure('--preset', 'open', '--dangerously')).exit, 0)
    const check = () => at.holon('policy', 'check', 'curl x', '--agent', 'docs')
    assert.equal((await check()).exit, 0)
    const doctor = await at.holon('doctor')
    assert.match(doctor.out, /warn {2}policy .*not so for docs, on preset open/)
    assert.equal((await configure('--preset', 'alone')).exit, 0)
    assert.equal((await check()).exit, 1)
    assert.equal((await configure('--preset', 'home')).exit, 0)
    assert.equal((await check()).exit, 3)
  },
)
