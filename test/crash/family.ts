/**
 * A parent splits its work over three children in worktrees of a real repository, goes on with
 * something else, is woken by each result, merges, and reports.
 */
import { openBox } from '../../src/testing/host/host-fixture.ts'
import { familyEnd, type FamilyEnd } from '../../src/testing/scenarios/family-end.ts'
import { familyModel } from '../../src/testing/scenarios/three-children.ts'
import { runShip } from '../support/family.ts'
import { makeRepository } from '../support/repository.ts'
import { lived, type Scenario } from './scenario.ts'
import { leftProcesses } from '../support/processes.ts'

export const familyScenario: Scenario<FamilyEnd> = {
  name: 'three children',
  covers: ['child spawned', 'task spawned', 'task finished', 'wait triggered', 'worktree'],
  // It shares no factor with 2, so that both sides of a step are among them.
  step: 37,
  furnish: ({ workspace }) => makeRepository(workspace),
  async life(scope, place, killer) {
    const { home, workspace, folder } = place
    const open = () =>
      openBox(scope, {
        models: { default: familyModel() },
        home,
        workspace,
        ...killer.seams,
      })
    const end = await lived(killer, open, async (box) => {
      await runShip(box, 'r1')
      return familyEnd(box.ledger, place)
    })
    if (end === null) return null
    return { ...end, problems: [...end.problems, ...(await leftProcesses(folder))] }
  },
}
