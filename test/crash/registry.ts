/** Every scenario of the crash matrix, in the order in which its table shows them. */
import { childEndScenario } from './child-end.ts'
import { compactionScenario } from './compaction.ts'
import { familyScenario } from './family.ts'
import { outsideScenario } from './outside-events.ts'
import type { Scenario } from './scenario.ts'
import { childStories } from './stories-children.ts'
import { waitStories } from './stories-waits.ts'
import { workStories } from './stories-work.ts'
import { twoJobsScenario } from './two-jobs.ts'

export const scenarios: readonly Scenario[] = [
  twoJobsScenario,
  outsideScenario,
  compactionScenario,
  ...workStories,
  ...waitStories,
  ...childStories,
  childEndScenario('stop'),
  childEndScenario('delete'),
  familyScenario,
]

export const scenarioNamed = (name: string): Scenario => {
  const found = scenarios.find((one) => one.name === name)
  if (found === undefined) throw new Error(`there is no scenario "${name}"`)
  return found
}
