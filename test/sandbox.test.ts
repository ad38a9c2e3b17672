/**
 * Confined commands of a whole agent (docs/spec/security.md#sandbox): what it does in its folders
 * works, what it tries beside them does not, its children in worktrees can commit, and without
 * bubblewrap nothing runs.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import {
  type HostFixture,
  type BoxOptions,
  openBox,
  temporaryHome,
} from '../src/testing/host/host-fixture.ts'
import { expectedEnd, familyEnd } from '../src/testing/scenarios/family-end.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { familyModel } from '../src/testing/scenarios/three-children.ts'
import { noBubblewrap } from '../src/testing/programs.ts'
import { runShip } from './support/family.ts'
import { makeRepository } from './support/repository.ts'
import { leftProcesses } from './support/processes.ts'

/** The results of the commands, one a call, as the ledger has them. */
async function results(t: TestContext, cmds: readonly string[], more: Partial<BoxOptions> = {}) {
  const places = temporaryHome(t)
  const model = scriptedModel((_, n) =>
    n === 1
      ? calls(...cmds.map((cmd) => ({ name: 'ExecCommand', input: { cmd } })))
      : says('That is all.'),
  )
  const box = await openBox(t, { models: { default: model }, ...places, ...more })
  await box.makeAgent('test/scripted')
  await box.host.open()
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Go.' })
  await box.rests('main', () => model.requests.length >= 2)
  const made = await box.ledger.list('calls', { agent_id: 'main', limit: 100 })
  return { box, places, results: made.map(({ result }) => result) }
}

const outputs = (found: Awaited<ReturnType<typeof results>>['results']) =>
  found.map((result) => {
    assert.ok(result?.status === 'success')
    const { exit_status, stdout } = result.result as { exit_status: number; stdout: string }
    return [exit_status, stdout]
  })

test(
  'an agent works in its folders and finds nothing of the home',
  { skip: noBubblewrap },
  async (t) => {
    const beside = (box: HostFixture) => join(dirname(box.workspace), 'beside')
    const {
      box,
      places,
      results: found,
    } = await results(
      t,
      [
        'echo made >a && cat a',
        `ls ${join('..', 'home')} 2>/dev/null; ls "$HOLON_HOME" 2>/dev/null; echo end`,
        'echo out >../beside; echo $?',
      ],
      { network: 'none' },
    )
    const [made, home, out] = outputs(found)
    assert.deepEqual(made, [0, 'made\n'])
    assert.equal(readFileSync(join(places.workspace, 'a'), 'utf8'), 'made\n')
    // Its own folder and the task's are all there is of the home.
    assert.doesNotMatch(String(home?.[1]), /ledger|control|outputs/)
    assert.deepEqual([out?.[0], existsSync(beside(box))], [0, false])
  },
)

test(
  'three children commit in confined worktrees, and the parent merges',
  { skip: noBubblewrap },
  async (t) => {
    const places = temporaryHome(t)
    makeRepository(places.workspace)
    const box = await openBox(t, { models: { default: familyModel() }, ...places, network: 'none' })
    await runShip(box, 'r1')
    const { tasks, ...rest } = await familyEnd(box.ledger, places)
    await box.close()
    assert.deepEqual(rest, expectedEnd(['r1']))
    assert.equal(tasks.length, 10)
    assert.deepEqual(await leftProcesses(dirname(places.home)), [])
  },
)

test('what cannot be confined does not run, and the agent is told why', async (t) => {
  const places = temporaryHome(t)
  // The sandbox has no place for its folder.
  writeFileSync(join(places.home, 'sandbox'), '')
  const { results: found } = await results(t, ['echo ran >ran'], { ...places, network: 'none' })
  const [result] = found
  assert.ok(result?.status === 'error')
  assert.deepEqual([result.error.kind, result.error.code], ['rejected', 'sandbox_unavailable'])
  assert.match(result.error.message, /^Commands are to be confined here, and cannot be: /)
  assert.equal(existsSync(join(places.workspace, 'ran')), false)
})
