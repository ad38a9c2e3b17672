/**
 * A turn that reads until its requests are compacted, twice. What was compacted, and to where, must
 * be the same whenever it was killed: each compaction is made once.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openBox, type HostFixture } from '../../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel } from '../../src/testing/scripted-model.ts'
import type { Killer } from '../support/killer.ts'
import { call } from '../support/scripts.ts'
import { lived, type Scenario } from './scenario.ts'

const long = 'a line of text, forty characters long...\n'.repeat(500)

/** Reads the long file until it was compacted twice, then says so. */
export const compactedReader = () =>
  scriptedModel((request) => {
    const round = request.messages.filter(({ role }) => role === 'tool').length
    const recap = /recap of rounds 1 to (\d+)/.exec(JSON.stringify(request.messages[0]))?.[1]
    const done = Number(recap ?? 0) + round
    const reasoning = { type: 'reasoning', text: 'Hm.', provider_metadata: { p: { sig: 'S1' } } }
    const answer = calls(`After ${done}.`, call('ReadFile', { path: 'long.txt' }))
    return done >= 9
      ? says('Enough.')
      : { ...answer, parts: [reasoning as (typeof answer.parts)[number], ...answer.parts] }
  })

export const longFile = (workspace: string): void =>
  writeFileSync(join(workspace, 'long.txt'), long)

/** The smallest window in which the file is compacted away, in tokens. */
export const smallWindow = 32_000

async function readsAll(box: HostFixture): Promise<void> {
  await box.makeAgent('test/reader')
  const asked = await box.ledger.list('messages', { limit: 1 })
  if (asked.length === 0) await box.host.act({ do: 'send', agent_id: 'main', text: 'Read it all.' })
  await box.host.open()
  await box.until((notice) => notice.kind === 'resting' && notice.next.do === 'sleep', 'the end')
}

/** The same until killed, or to the end: its rounds, and what is wrong with the ledger then. */
export async function readsUntil(box: HostFixture, killer: Killer) {
  const expected = (error: unknown) => {
    if (!killer.dead) throw error
  }
  await readsAll(box).catch(expected)
  const rounds = killer.dead ? [] : await box.ledger.list('rounds', { limit: 100 })
  const problems = killer.dead ? [] : (await box.ledger.verify()).problems
  await box.close().catch(expected)
  return { rounds, problems }
}

export const compactionScenario: Scenario = {
  name: 'compaction',
  covers: ['compaction', 'model request', 'response', 'turn end'],
  step: 7,
  furnish: ({ workspace }) => longFile(workspace),
  life: (scope, { home, workspace }, killer) =>
    lived(
      killer,
      () =>
        openBox(scope, {
          models: { default: compactedReader() },
          home,
          workspace,
          context_window: smallWindow,
          ...killer.seams,
        }),
      async (box) => {
        await readsAll(box)
        const rounds = await box.ledger.list('rounds', { limit: 100 })
        const briefs = await box.ledger.list('briefs', { limit: 100 })
        return {
          recapped: rounds.map((round) => round.recapped ?? null),
          briefs: briefs.map(({ kind, text }) => `${kind}: ${text}`),
          problems: (await box.ledger.verify()).problems,
        }
      },
    ),
}
