/**
 * Two jobs for one agent: items with plans, quick and slow commands, a wait for the slow one, and
 * two reports. The first of the scenarios; `src/testing/scenarios/two-jobs.ts` has its script.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { violations } from '../../src/domain/invariants/of-an-agent.ts'
import { openBox, type HostFixture } from '../../src/testing/host/host-fixture.ts'
import { endState, type EndState } from '../../src/testing/scenarios/end-state.ts'
import { calls, scriptedModel } from '../../src/testing/scripted-model.ts'
import { letsGo, twoJobs, twoJobsPolicy } from '../../src/testing/scenarios/two-jobs.ts'
import { saidIn } from '../../src/testing/scenarios/three-children.ts'
import { lived, type Scenario } from './scenario.ts'

type Places = { home: string; workspace: string }

/** Answers from the text of the request alone. */
const model = (places: Places) =>
  scriptedModel((request) => {
    const answer = twoJobsPolicy(saidIn(request.messages).join('\n'))
    if (letsGo(answer)) writeFileSync(join(places.workspace, 'go'), '')
    return calls(answer.text, ...answer.calls)
  })

/** Does the scenario on a home until the agent sleeps, or the killer strikes. */
async function run(box: HostFixture): Promise<void> {
  await box.makeAgent('test/two-jobs')
  const asked = await box.ledger.list('messages', { limit: 1 })
  if (asked.length === 0) {
    const sent = await box.host.act({ do: 'send', agent_id: 'main', text: twoJobs })
    assert.equal(sent.ok, true)
  }
  await box.host.open()
  await box.until((notice) => notice.kind === 'resting' && notice.next.do === 'sleep', 'the end')
}

/** What must be equal, whichever of the two jobs came first. */
const comparable = ({ log, results, waits, messages, ...rest }: EndState) => ({
  ...rest,
  log: log.toSorted(),
  results: results.toSorted(),
  waits: waits.map((wait) => JSON.stringify(wait)).toSorted(),
  messages: messages.map((message) => JSON.stringify(message)).toSorted(),
})

export const twoJobsScenario: Scenario<ReturnType<typeof comparable>> = {
  name: 'two jobs',
  covers: [
    'ingress',
    'turn start',
    'model request',
    'response',
    'tool started',
    'tool finished',
    'mutation',
    'wait registered',
    'task spawned',
    'task finished',
    'brief',
    'turn end',
    'plan file',
  ],
  step: 9,
  life: (scope, place, killer) =>
    lived(
      killer,
      () =>
        openBox(scope, {
          models: { default: model(place) },
          home: place.home,
          workspace: place.workspace,
          ...killer.seams,
        }),
      async (box) => {
        await run(box)
        const end = await endState(box.ledger, place.workspace)
        const facts = box.host.facts('main')
        assert.ok(facts)
        const broken = violations(facts, await box.ledger.events({ after: 0, limit: 10_000 }))
        return comparable({ ...end, problems: [...end.problems, ...broken] })
      },
    ),
}
