/**
 * The main job through a real HTTP model endpoint: a loopback server that streams Chat Completions,
 * Responses and Anthropic Messages. The same two jobs over each, with the same end.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../src/exec/clock.ts'
import { keptAliveFetch } from '../src/models/transport/fetch.ts'
import { openModel } from '../src/models/catalogue/open-model.ts'
import { openBox, temporaryHome } from '../src/testing/host/host-fixture.ts'
import { endState } from '../src/testing/scenarios/end-state.ts'
import { startModelServer, TEST_KEY } from '../src/testing/model-server/server.ts'
import {
  alphaReport,
  betaReport,
  letsGo,
  logLines,
  twoJobs,
  twoJobsPolicy,
} from '../src/testing/scenarios/two-jobs.ts'

/** The variables a user sets, and the model they name with them. */
const doors = [
  { name: 'Chat Completions', model: 'openai-compatible/two-jobs', vars: 'OPENAI_COMPATIBLE' },
  { name: 'Responses', model: 'openai/two-jobs', vars: 'OPENAI' },
  { name: 'Anthropic Messages', model: 'anthropic/two-jobs', vars: 'ANTHROPIC' },
]

for (const door of doors) {
  test(`an agent does two jobs through ${door.name}`, async (t) => {
    const places = temporaryHome(t)
    const server = await startModelServer(({ messages_text }) => {
      const answer = twoJobsPolicy(messages_text)
      if (letsGo(answer)) writeFileSync(join(places.workspace, 'go'), '')
      return answer
    })
    t.after(() => server.close())
    const fetching = keptAliveFetch()
    t.after(() => fetching.close())
    const opened = await openModel(
      door.model,
      {
        providers: {},
        env: { [`${door.vars}_BASE_URL`]: server.base_url, [`${door.vars}_API_KEY`]: TEST_KEY },
        read_file: async () => '',
      },
      { clock: systemClock(), fetch: fetching.fetch },
    )
    assert.ok(opened.ok)
    const box = await openBox(t, { models: { [door.model]: opened.model }, ...places })
    await box.makeAgent(door.model)
    await box.host.act({ do: 'send', agent_id: 'main', text: twoJobs })
    await box.host.open()
    await box.until(
      (notice) => notice.kind === 'resting' && notice.next.do === 'sleep',
      'both jobs to end',
    )
    const end = await endState(box.ledger, box.workspace)
    assert.deepEqual(server.violations, [])
    assert.deepEqual(end.problems, [])
    assert.deepEqual(end.results.toSorted(), [alphaReport, betaReport])
    assert.deepEqual(end.log.toSorted(), logLines.toSorted())
    assert.equal(end.open_turns, 0)
    assert.deepEqual(end.unanswered_calls, [])
  })
}
