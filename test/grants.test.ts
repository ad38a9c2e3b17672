/**
 * Grants over a real host: a yes for longer than once lets the next such command begin without a
 * question, its use is counted with the start, and it is over with its item, its date or a word.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { heldTasks } from '../src/domain/approvals/held-command.ts'
import { heldChoices, heldHash } from '../src/domain/approvals/held-text.ts'
import { policyPort } from '../src/main/homes/policy-port.ts'
import { calls, says, scriptedModel, type Script } from '../src/testing/scripted-model.ts'
import { asksAbout } from '../src/testing/world/held.ts'
import { call } from './support/scripts.ts'
import { ServedHome } from './support/served-home.ts'
import { hour, openStage, type Stage, type StageOptions } from './support/stage.ts'

const push = (what: string) => `echo ${what} >> pushed.txt # push`
const exec = (cmd: string) => call('ExecCommand', { cmd })

/** An item whose turns run what they are told to, and end. */
async function staged(t: TestContext, more: Partial<StageOptions> = {}) {
  const policy = asksAbout('push')
  const wanted: string[] = []
  const script: Script = (_, n) => {
    if (n === 1) return calls(call('CreateWorkItem', { objective: 'Push it', focus: true }))
    const cmd = wanted.shift()
    return cmd === undefined ? says('As far as I can go.') : calls(exec(cmd))
  }
  const model = scriptedModel(script)
  const stage = await openStage(t, { model, policy, ...more })
  await stage.say('Begin.')
  const [item] = await stage.rows('work_items')
  const work_item_id = item?.id ?? assert.fail('there is no item')
  /** A turn of the item that runs it. */
  const runs = async (cmd: string, on = stage): Promise<void> => {
    wanted.push(cmd)
    await on.say('Go on.', { work_item_id })
  }
  const pushed = () => {
    const file = join(stage.box.workspace, 'pushed.txt')
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }
  return { stage, policy, model, pushed, runs, work_item_id }
}

function held({ box }: Stage) {
  const facts = box.host.facts('main')
  const tasks = facts ? heldTasks(facts) : []
  const task = tasks.at(-1) ?? assert.fail('nothing is held')
  return { do: 'answer_held', task_id: task.id, bound_hash: heldHash(task) } as const
}

/** The first push is asked about, and answered so. */
async function granted(t: TestContext, choice: string, more: Partial<StageOptions> = {}) {
  const known = await staged(t, more)
  const { stage } = known
  await known.runs(push('first'))
  const ended = stage.committed('task_ended')
  await stage.act({ ...held(stage), choice })
  await ended
  await stage.rest()
  const [grant] = await stage.rows('grants')
  return { ...known, grant: grant ?? assert.fail('nothing was granted') }
}

const statuses = async (stage: Stage) => (await stage.rows('tasks')).map(({ status }) => status)
const uses = async (stage: Stage) => (await stage.rows('grants')).map((grant) => grant.uses)

test('what is like it runs without a question, and each use is counted with its command', async (t) => {
  const { stage, runs, pushed, grant } = await granted(t, 'like_for_item')
  assert.deepEqual([pushed(), grant.uses], ['first\n', 0])
  await runs(push('second'))
  await runs(push('third'))
  assert.equal(pushed(), 'first\nsecond\nthird\n')
  assert.deepEqual(await uses(stage), [2])
  const tasks = await stage.rows('tasks')
  assert.deepEqual(
    tasks.map(({ grant_id }) => grant_id ?? null).toSorted(),
    [null, grant.id, grant.id].toSorted(),
  )
  await stage.sound()
})

test('exactly this is exactly this: another is held', async (t) => {
  const { stage, runs, pushed } = await granted(t, 'same_for_item')
  await runs(push('first'))
  assert.equal(pushed(), 'first\nfirst\n')
  await runs(push('second'))
  assert.equal(pushed(), 'first\nfirst\n')
  assert.deepEqual((await statuses(stage)).toSorted(), ['completed', 'completed', 'held'])
  assert.deepEqual(await uses(stage), [1])
  await stage.sound()
})

test('a yes for once is for once', async (t) => {
  const { stage, runs } = await staged(t)
  await runs(push('first'))
  const ended = stage.committed('task_ended')
  await stage.act({ ...held(stage), choice: 'yes' })
  await ended
  await stage.rest()
  await runs(push('first'))
  assert.deepEqual((await statuses(stage)).toSorted(), ['completed', 'held'])
  assert.deepEqual(await stage.rows('grants'), [])
})

test('taken back, it is asked about again; a denial is one whatever was granted', async (t) => {
  const { stage, runs, policy, pushed, grant, model } = await granted(t, 'like_for_agent')
  policy.verdict = 'deny'
  await runs(push('second'))
  assert.match(JSON.stringify(model.requests.at(-1)?.messages), /push asks/)
  policy.verdict = 'ask'
  await stage.act({ do: 'revoke_grant', grant_id: grant.id })
  await runs(push('third'))
  assert.deepEqual([pushed(), await uses(stage)], ['first\n', [0]])
  assert.deepEqual((await statuses(stage)).toSorted(), ['completed', 'held'])
  await stage.sound()
})

test('it ends with its item, at its date, and with its agent’s stop', async (t) => {
  const ofItem = await granted(t, 'like_for_item')
  await ofItem.stage.act({ do: 'complete', work_item_id: ofItem.grant.work_item_id ?? '' })
  const [done] = await ofItem.stage.rows('grants')
  assert.deepEqual([done?.status, done?.because], ['ended', 'its item is completed'])
  const ofAgent = await granted(t, 'like_for_agent')
  await ofAgent.stage.pass(168 * hour)
  const [over] = await ofAgent.stage.rows('grants')
  assert.deepEqual([over?.status, over?.because], ['ended', 'its date has come'])
  const stopped = await granted(t, 'like_for_agent')
  await stopped.stage.act({ do: 'stop_agent' })
  const [gone] = await stopped.stage.rows('grants')
  assert.deepEqual([gone?.status, gone?.because], ['ended', 'its agent is stopped'])
  await stopped.stage.sound()
})

test('it holds over a restart, with its count', async (t) => {
  const { stage, runs, policy, model, pushed } = await granted(t, 'like_for_item')
  await runs(push('second'))
  const { home, workspace } = stage.box
  await stage.box.close()
  const next = await openStage(t, { model, policy, home, workspace, clock: stage.clock })
  await runs(push('third'), next)
  assert.deepEqual([pushed(), await uses(next)], ['first\nsecond\nthird\n', [2]])
  await next.sound()
})

const hasGit = spawnSync('git', ['--version']).status === 0

test(
  'by real rules: git push to one remote, and no other; a repository’s rule gives way to nobody',
  { skip: hasGit ? false : 'there is no git' },
  async (t) => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'holon-grants-')))
    t.after(() => rmSync(home, { recursive: true, force: true }))
    writeFileSync(join(home, 'policy.json'), '{ "otherwise": { "run": "allow" } }')
    const { stage, runs } = await staged(t, {
      policy: policyPort(home, { age: 'existing', choice: 'unset' }, null),
    })
    await runs('git push origin v1')
    const [task] = heldTasks(stage.box.host.facts('main') ?? assert.fail('no agent'))
    const keys = task === undefined ? [] : heldChoices(task).map(({ key }) => key)
    assert.deepEqual(keys, ['yes', 'same_for_item', 'like_for_item', 'like_for_agent', 'no'])
    const ended = stage.committed('task_ended')
    await stage.act({ ...held(stage), choice: 'like_for_item' })
    await ended
    await stage.rest()
    const asksAgain = async (line: string): Promise<boolean> => {
      const before = heldTasks(stage.box.host.facts('main') ?? assert.fail('no agent')).length
      await runs(line)
      return heldTasks(stage.box.host.facts('main') ?? assert.fail('no agent')).length > before
    }
    assert.equal(await asksAgain('git push origin v2'), false)
    assert.equal(await asksAgain('git push --force origin v2'), true)
    assert.equal(await asksAgain('git push elsewhere v2'), true)
    assert.equal(await asksAgain('curl example.invalid'), true)
    const narrow = '{ "rules": [{ "decide": "ask", "run": ["git", "push"] }] }'
    const folder = join(stage.box.workspace, '.holon')
    spawnSync('mkdir', ['-p', folder])
    writeFileSync(join(folder, 'policy.json'), narrow)
    assert.equal(await asksAgain('git push origin v3'), true)
    assert.deepEqual(await uses(stage), [1])
    await stage.sound()
  },
)

test('on the command line: choices by number, the list of grants, and the end of one', async (t) => {
  const { stage, runs } = await staged(t)
  await runs('echo push-first')
  const { task_id } = held(stage)
  await stage.box.close()
  const at = new ServedHome(t)
  const env = { HOLON_HOME: stage.box.home }
  const holon = (...args: string[]) => at.start(args, env).ended
  const rules = [{ decide: 'ask', run: ['echo'] }]
  writeFileSync(join(stage.box.home, 'policy.json'), JSON.stringify({ rules }))
  assert.match((await holon('grants')).out, /nothing is allowed beyond once/)
  const markOf = (err: string) => /--mark (\w{6})/.exec(err)?.[1] ?? ''
  const first = await holon('answer', task_id, '?')
  assert.match(first.err, /<choice> --mark/)
  // The rules of this home are others than those it was asked by: it is asked anew.
  const anew = await holon('answer', task_id, 'yes', '--mark', markOf(first.err))
  assert.match(anew.out, /does not run: what it would do is not the same any more/)
  const shown = await holon('answer', task_id, '2')
  assert.match(shown.out, /1\. yes: run it, this once\n2\. same_for_item: exactly this.*\n3\. no/)
  assert.match(shown.err, /same_for_item --mark/)
  const done = await holon('answer', task_id, '2', '--mark', markOf(shown.err))
  assert.match(done.out, /is begun/, done.err)
  const list = await holon('grants')
  assert.match(list.out, /grant_[-\w]+\s+work_\w+\s+exactly: echo push-first/)
  const id = /grant_[-\w]+/.exec(list.out)?.[0] ?? ''
  assert.match((await holon('grants', 'revoke', id)).out, /is revoked/)
  assert.match((await holon('grants')).out, /nothing is allowed beyond once/)
  const all = await holon('grants', '--all')
  assert.match(all.out, /the operator took it back/)
  const json = JSON.parse((await holon('grants', '--all', '--json')).out) as { grants: unknown[] }
  assert.equal(json.grants.length, 1)
})
