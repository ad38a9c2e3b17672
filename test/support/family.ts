/** Runs of the three-children scenario on a box: told once, awaited until nothing is left to do. */
import assert from 'node:assert/strict'
import { isTerminal } from '../../src/domain/state/task.ts'
import { isGone } from '../../src/domain/state/worktree.ts'
import type { HostNotice } from '../../src/runtime/ports.ts'
import type { HostFixture } from '../../src/testing/host/host-fixture.ts'
import { shipIt } from '../../src/testing/scenarios/three-children.ts'

/** Tells `main` to ship, unless the home knows already, and resolves when it has. */
export async function runShip(box: HostFixture, ship: string): Promise<void> {
  const root = box.workspace
  const agent = {
    id: 'main',
    model: 'test/family',
    workspace: { mode: 'explicit_root', root },
  } as const
  assert.equal((await box.host.ensureAgent(agent)).ok, true)
  const known = await box.ledger.list('messages', { agent_id: 'main', limit: 1_000 })
  if (!known.some(({ body }) => body === shipIt(ship))) {
    const sent = await box.host.act({ do: 'send', agent_id: 'main', text: shipIt(ship) })
    assert.equal(sent.ok, true)
  }
  await box.host.open()
  await untilSo(box, () => isShipped(box), `${ship} to be shipped`)
}

/** Resolves when `is` holds after a notice: only the newest can be the one that made it so. */
export async function untilSo(box: HostFixture, is: () => boolean, what: string): Promise<void> {
  if (is()) return
  await box.until((notice: HostNotice) => notice === box.notices.at(-1) && is(), what)
}

/** Nothing is open or running, no child is left, and no worktree. */
function isShipped({ host }: HostFixture): boolean {
  const facts = host.facts('main')
  if (facts === null || host.next('main')?.do !== 'sleep') return false
  const tasks = [...facts.rows('tasks')].every(isTerminal)
  return tasks && [...facts.rows('worktrees')].every(isGone)
}
