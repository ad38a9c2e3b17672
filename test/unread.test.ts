/**
 * Words to an agent that does not read them now. Each way in which an agent or an item is kept from
 * reading is put before every surface: the answer to `send`, the API, and the box of the screen.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { registerHold, type HoldCause } from '../src/domain/waits/hold.ts'
import type { WorkItemId } from '../src/domain/ids.ts'
import type { Timestamp } from '../src/domain/time.ts'
import { unreadOf, unreadWords } from '../src/domain/explain/unread.ts'
import { open } from '../src/present/presentation.ts'
import { unreadAt } from '../src/present/unread.ts'
import { agentRecordOf } from '../src/protocol/records/agent-record.ts'
import { agentView, projectionOf } from '../src/protocol/agent-view.ts'
import { attentionOf } from '../src/protocol/views/attention.ts'
import { workItemRecordOf } from '../src/protocol/records/work-item-record.ts'
import { whyOf } from '../src/protocol/views/why.ts'
import { item, World } from '../src/testing/world/agent-world.ts'
import { does } from '../src/testing/world/operator-inputs.ts'
import { openSession, press } from '../src/testing/screens/tui-session.ts'
import { spentUp } from '../src/testing/why/why-held.ts'
import { aState } from '../src/testing/screens/state.ts'

const held =
  (
    runtime_cause: HoldCause,
    more: { source?: string; resource?: string; wake_at?: Timestamp } = {},
  ) =>
  (w: World): void =>
    w.do((d) => {
      const { source = null, resource = null, wake_at = null } = more
      registerHold(d, { runtime_cause, reason: 'It says why.', source, resource, wake_at })
    })
const later = '2026-12-01T09:00:00.000Z'

type Case = {
  model?: null
  prepare: (w: World, id: WorkItemId) => void
  because: string
  ends: string | null
}
const causes: Record<HoldCause, Case> = {
  provider_setup: {
    prepare: held('provider_setup'),
    because: 'main is held',
    ends: 'holon agents start main',
  },
  provider_world: {
    prepare: held('provider_world', { wake_at: later }),
    because: 'main is held',
    ends: null,
  },
  disk_full: {
    prepare: held('disk_full', { wake_at: later }),
    because: 'main is held',
    ends: null,
  },
  budget: {
    prepare: held('budget', { resource: 'work_0009' }),
    because: 'main is held',
    ends: 'holon agents configure main --max-usd <n>',
  },
  spending: {
    prepare: held('spending', { source: 'budget', resource: 'main' }),
    because: 'main is held',
    ends: 'holon agents configure main --max-usd <n>',
  },
}
const cases: Record<string, Case> = {
  ...causes,
  'the home is over its budget': {
    prepare: held('spending', { source: 'budget' }),
    because: 'main is held',
    ends: 'holon config set budget <limits>',
  },
  'another agent asks': {
    prepare: held('spending', { source: 'question', resource: 'lead' }),
    because: 'main is held',
    ends: 'holon send --agent lead <text>',
  },
  'no model, and nothing was tried': {
    model: null,
    prepare: () => {},
    because: 'main has no model',
    ends: 'holon agents configure main --model <provider/model>',
  },
  'no model, and it is held for that': {
    model: null,
    prepare: held('provider_setup'),
    because: 'main has no model',
    ends: 'holon agents configure main --model <provider/model>',
  },
  'its item is over its budget': {
    prepare: spentUp,
    because: 'work_0001 is over its budget',
    ends: 'holon work update work_0001 --max-rounds <n>',
  },
}
function prepared({ model, prepare }: Case): { w: World; id: WorkItemId } {
  const w = new World('main', true, model)
  const id = item(w, { objective: 'Paint it' })
  prepare(w, id)
  return { w, id }
}

describe('words that are not read now say so, and what has to be done, wherever they are written', () => {
  for (const [name, one] of Object.entries(cases)) {
    test(name, async (t) => {
      const { w, id } = prepared(one)
      const unread = unreadOf(w.facts, id, w.now)
      assert.equal(unread?.because, one.because)
      assert.equal(unread.cli, one.ends)
      const view = agentView(w.facts, w.now, true)
      const projection = projectionOf(view, id)
      assert.ok(projection)
      const parts = { plan: null, spend: null, can: [], late: [], whole: false }
      const state = aState({
        now: w.now,
        agents: [agentRecordOf(view, [])],
        work_items: [workItemRecordOf(projection, parts)],
      })
      const target = { agent_id: 'main', work_item_id: id }
      assert.deepEqual(unreadAt(open(state), target), unread)
      const { session, text } = await openSession(t, () => state, {
        size: [160, 30],
        options: { opens: id },
      })
      press(session, 'c')
      assert.ok(text().includes(`enter: not read yet: ${unread.because}`), text())
      if (one.ends !== null) assert.ok(text().includes(one.ends), text())
      const { said } = does(w, { do: 'send', text: 'go on', work_item_id: id })
      assert.ok(said.endsWith(unreadWords(unread)), said)
    })
  }

  test('an agent that may go on says nothing of it, nor does one whose words let it go on', () => {
    for (const prepare of [
      () => {},
      held('spending', { source: 'question', resource: 'main' }),
      held('provider_world', { wake_at: '2020-01-01T00:00:00.000Z' }),
    ]) {
      const { w, id } = prepared({ prepare, because: '', ends: null })
      assert.equal(unreadOf(w.facts, id, w.now), null)
      assert.doesNotMatch(does(w, { do: 'send', text: 'go on' }).said, /not read|held|once/)
    }
  })
})

test('an agent without a model is told to get one, wherever its hold is told', () => {
  const { w, id } = prepared({
    model: null,
    prepare: held('provider_setup'),
    because: '',
    ends: null,
  })
  const view = agentView(w.facts, w.now, true)
  const projection = projectionOf(view, id)
  assert.ok(projection)
  const told = whyOf(view, projection, null)
  const [entry] = attentionOf([view], [])
  for (const can of [told.can, entry?.can ?? []]) {
    assert.equal(can[0]?.cli, 'holon agents configure main --model <provider/model>')
    assert.ok(can.every(({ cli }) => cli !== 'holon agents start main'))
  }
  assert.match(told.why, /held until it has a model/)
  assert.match(told.next, /once its agent has a model/)
})
