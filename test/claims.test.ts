/**
 * The agent's completion of an item with checks, with real commands and real git: they are run
 * before it is decided, one that fails refuses it, and what is decided stands on results (17.25).
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { CheckGiven } from '../src/domain/checks/spec.ts'
import { isUnderWay } from '../src/domain/state/check.ts'
import { limits } from '../src/domain/limits.ts'
import { verificationOf } from '../src/domain/facts/verification.ts'
import { temporaryHome } from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel, type Scripted } from '../src/testing/scripted-model.ts'
import { call, completes, runs } from './support/scripts.ts'
import { openStage, type Stage } from './support/stage.ts'

const report = 'The sum is right now; the tests pass, and nothing is left open in this work.'
const begun = 'echo run >> ../begun; '
/** Passes once there is a file `right`, and counts in a file outside how often it ran. */
const tests: CheckGiven = {
  kind: 'command',
  name: 'tests',
  cmd: `${begun}[ -e right ] || { echo "not ok 1 - it adds"; exit 3; }`,
}

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { cwd: folder })

function repository(folder: string): void {
  git(folder, 'init', '-q')
  writeFileSync(join(folder, '.gitignore'), 'out/\n')
  git(folder, 'add', '.')
  git(folder, 'commit', '-qm', 'first')
}

type Scripts = (s: Stage, n: number) => Scripted

/** The operator makes `A` with these checks, in a repository; the model does as it is scripted. */
async function claiming(t: TestContext, checks: CheckGiven[], script: Scripts) {
  const places = temporaryHome(t)
  repository(places.workspace)
  const stage: { s: Stage | null } = { s: null }
  const model = scriptedModel((_, n) => (stage.s ? script(stage.s, n) : says('Understood.')))
  const s = (stage.s = await openStage(t, { ...places, model }))
  const made = s.act({ do: 'create_item', objective: 'A', checks })
  return { s, model, made, ran: () => ranTimes(places.workspace) }
}

const ranTimes = (workspace: string): number => {
  const path = join(workspace, '..', 'begun')
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').length : 0
}

const picked = (s: Stage) => calls(call('PickWorkItem', { work_item_id: s.id('A') }))
const completed = (s: Stage) => completes(s.id('A'), report)

/** What the model was answered on its completions, oldest first. */
const answers = async (s: Stage) =>
  (await s.rows('calls'))
    .filter(({ tool_name }) => tool_name === 'CompleteWorkItem')
    .map(({ result }) => (result?.status === 'error' ? result.error.code : result?.status))

const refusals = async (s: Stage) =>
  (await s.rows('calls')).flatMap(({ result }) =>
    result?.status === 'error' ? [result.error.message] : [],
  )
const printed = async (s: Stage) =>
  (await s.rows('calls')).flatMap(({ result }) =>
    result?.status === 'error' ? [JSON.stringify(result.error.detail)] : [],
  )

const rest = (s: Stage) => s.box.rests('main')

test('a check that fails refuses the completion with its output, and one that passes verifies it', async (t) => {
  const { s, made, ran } = await claiming(t, [tests], (stage, n) => {
    if (n === 1) return picked(stage)
    if (n === 2 || n === 4) return completed(stage)
    if (n === 3) return calls(runs('touch right'))
    return says('')
  })
  await made
  await rest(s)
  assert.deepEqual(await answers(s), ['checks_failed', 'success'])
  assert.match((await printed(s)).join(), /"printed":"not ok 1 - it adds/)
  assert.doesNotMatch((await refusals(s)).join(), /not ok/)
  const item = s.item('A')
  assert.equal(item.state, 'completed')
  const verified = verificationOf(item)
  assert.equal(verified.state, 'verified', verified.says)
  assert.equal(item.claim?.tree, verified.tree)
  assert.equal(ran(), 2, 'nothing is run again behind a completion that was decided on it')
  // The refused words are no report, and nobody was told of a failure that was mended.
  assert.deepEqual((await s.briefs()).map(({ kind }) => kind).toSorted(), ['result'])
  await s.sound()
})

test('the same files are not checked again; what the agent did since is', async (t) => {
  const { s, made, ran } = await claiming(t, [tests], (stage, n) => {
    if (n === 1) return picked(stage)
    if (n === 2 || n === 3 || n === 5) return completed(stage)
    // Nothing that git sees.
    if (n === 4) return calls(runs('mkdir -p out && touch out/x'))
    return calls(call('WaitFor', { wake: 'operator_input', question: 'What now?' }))
  })
  await made
  await rest(s)
  assert.deepEqual(await answers(s), ['checks_failed', 'checks_failed', 'checks_failed'])
  assert.equal(ran(), 2)
  const [first, second, third] = await refusals(s)
  assert.equal(third, first)
  assert.match(first ?? '', /failed\.$/)
  assert.match(second ?? '', /failed\. They were not run again, as nothing has changed: change a/)
  assert.equal(s.item('A').claim?.refused, 3)
  await s.sound()
})

test('after three refusals in a row the completion goes through as a claim, which its checks judge', async (t) => {
  const { s, made, ran } = await claiming(t, [tests], (stage, n) =>
    n === 1 ? picked(stage) : n <= 5 ? completed(stage) : says('Understood.'),
  )
  await made
  await rest(s)
  assert.deepEqual(await answers(s), [
    ...Array.from({ length: limits.claim_refusals.value }, () => 'checks_failed'),
    'success',
  ])
  await s.box.until(() => verificationOf(s.item('A')).state === 'failed', 'the last run')
  await rest(s)
  assert.equal(ran(), 2, 'once for the first claim, once behind the completion')
  const kinds = (await s.briefs()).map(({ kind }) => kind)
  assert.ok(kinds.includes('failure'), kinds.join())
  await s.sound()
})

test('what a person says, and what only the operator completes, refuses nothing', async (t) => {
  const look: CheckGiven = { kind: 'person', name: 'look', question: 'Is it right?' }
  const { s, made } = await claiming(t, [look], (stage, n) =>
    n === 1 ? picked(stage) : n === 2 ? completed(stage) : says(''),
  )
  await made
  await rest(s)
  assert.deepEqual(await answers(s), ['success'])
  assert.equal(verificationOf(s.item('A')).state, 'pending')

  const own = await claiming(t, [tests], () => says('Understood.'))
  await own.made
  await own.s.act({ do: 'complete', work_item_id: own.s.id('A'), report })
  await own.s.box.until(() => verificationOf(own.s.item('A')).state === 'failed', 'its check')
  await own.s.sound()
})

test('words that come while the checks run end the wait: the item stays open, the run goes on', async (t) => {
  const slow: CheckGiven = {
    ...tests,
    cmd: `${begun}while [ ! -e ../go ]; do sleep 0.05; done; [ -e right ]`,
  }
  const { s, made, ran } = await claiming(t, [slow], (stage, n) => {
    if (n === 1) return picked(stage)
    if (n === 2) return completed(stage)
    if (n === 3) return calls(runs('touch right'))
    if (n === 4) return completed(stage)
    return says('')
  })
  await made
  const alive = () => s.item('A').checks.some(isUnderWay)
  await s.box.until(() => alive(), 'the run of the check')
  await s.act({ do: 'send', text: 'A word.', priority: 'interject' })
  const ended = () =>
    [...(s.box.host.facts('main')?.rows('calls') ?? [])].some(
      ({ tool_name, state }) => tool_name === 'CompleteWorkItem' && state === 'finished',
    )
  await s.box.until(() => ended(), 'the answer')
  assert.deepEqual(await answers(s), ['checks_running'])
  assert.ok(alive(), 'it goes on')
  writeFileSync(join(s.box.workspace, '..', 'go'), '')
  await rest(s)
  // The run of before was about other files, or about what the agent has changed since.
  assert.deepEqual(await answers(s), ['checks_running', 'success'])
  assert.equal(verificationOf(s.item('A')).state, 'verified', verificationOf(s.item('A')).says)
  assert.equal(ran(), 2)
  await s.sound()
})

test('a later pass on other files says on which the completion was verified', async (t) => {
  const { s, made } = await claiming(t, [tests], (stage, n) => {
    if (n === 1) return picked(stage)
    if (n === 2) return calls(runs('touch right'))
    return n === 3 ? completed(stage) : says('')
  })
  await made
  await rest(s)
  const first = verificationOf(s.item('A')).tree
  writeFileSync(join(s.box.workspace, 'more.txt'), 'more')
  await s.act({ do: 'run_checks', work_item_id: s.id('A') })
  const again = () => s.item('A').checks[0]?.run
  await s.box.until(() => again()?.n === 2 && again()?.state === 'finished', 'the second run')
  const { state, says: said, tree } = verificationOf(s.item('A'))
  assert.equal(state, 'verified')
  assert.notEqual(tree, first)
  assert.match(said, new RegExp(`when it was completed they passed on ${first}`))
})
