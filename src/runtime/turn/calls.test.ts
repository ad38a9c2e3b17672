// A call that was under way when the process ended: it is recovered, never begun a second time.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openBox, temporaryHome } from '../../testing/host/host-fixture.ts'
import { calls, says, scriptedModel, type Scripted } from '../../testing/scripted-model.ts'

type Places = { home: string; workspace: string }
type When = 'before' | 'after'

const agent_id = 'main'

/** A host whose process ends before or after the effect of its first call of `tool`, or never. */
async function open(t: TestContext, places: Places, first: Scripted, dies: When | null) {
  let dead = false
  const ends = (when: When, what: string) => {
    if (when !== dies || !what.startsWith('EditFile ')) return
    dead = true
    throw new Error(`the process ended ${when} ${what}`)
  }
  const noMore = () => {
    if (dead) throw new Error('the process has ended')
  }
  const model = scriptedModel((_, n) => (n === 1 ? first : says('Nothing more to do.')))
  const box = await openBox(t, {
    ...places,
    models: { default: model },
    is_dead: () => dead,
    effect_seam: {
      before_effect: (what) => ends('before', what),
      after_effect: (what) => ends('after', what),
    },
    fault: {
      before_commit: noMore,
      after_commit: noMore,
      before_blob: noMore,
      after_blob: noMore,
      around_batch: noMore,
    },
  })
  return { box, model }
}

const edit = { path: 'log.txt', old_text: 'two', new_text: 'two\nthree' }

for (const when of ['before', 'after'] as const) {
  test(`an edit whose process ended ${when} it was made is there once, and told as made`, async (t) => {
    const places = temporaryHome(t)
    const path = join(places.workspace, 'log.txt')
    writeFileSync(path, 'one\ntwo\n')
    const edits = calls({ name: 'EditFile', input: edit })
    const { box } = await open(t, places, edits, when)
    await box.makeAgent('test/first', agent_id)
    await box.host.open()
    await box.host.act({ do: 'send', agent_id, text: 'Add a line.' })
    await assert.rejects(box.rests(agent_id), /the process ended/)
    await assert.rejects(box.close())
    const left = when === 'before' ? 'one\ntwo\n' : 'one\ntwo\nthree\n'
    assert.equal(readFileSync(path, 'utf8'), left)

    const again = await open(t, places, says('It is recovered.'), null)
    await again.box.host.open()
    await again.box.rests(agent_id)
    assert.equal(readFileSync(path, 'utf8'), 'one\ntwo\nthree\n')
    const made = await again.box.ledger.list('calls', { limit: 5 })
    assert.deepEqual(
      made.map(({ tool_name, state, attempts, result }) => ({
        tool_name,
        state,
        attempts,
        status: result?.status,
      })),
      [{ tool_name: 'EditFile', state: 'finished', attempts: 1, status: 'success' }],
    )
    assert.equal(again.model.requests.length, 1)
  })
}
