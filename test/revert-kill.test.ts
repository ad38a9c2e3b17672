/**
 * A revert that is ended at any of its effects is done by the next one, and undone whole; and so is
 * the undo of one.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openBox, temporaryHome } from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { call } from './support/scripts.ts'

const names = ['a', 'b', 'c']

/** The commit of the revert, and both sides of the exchange of each file. */
const points = ['commit', ...names.flatMap((name) => [`before ${name}`, `after ${name}`])]

const all = points.flatMap((point) => [false, true].map((undo) => ({ point, undo })))

for (const { point, undo } of all) {
  test(`${undo ? 'an undo' : 'a revert'} killed at: ${point}`, { timeout: 60_000 }, async (t) => {
    const places = temporaryHome(t)
    const at = (name: string) => join(places.workspace, name)
    const files = () => names.map((name) => readFileSync(at(name), 'utf8')).join(' ')
    for (const name of names) writeFileSync(at(name), `${name}0`)
    const edits = names.map((path) => {
      return call('EditFile', { path, old_text: `${path}0`, new_text: `${path}1` })
    })
    let isArmed = false
    const killed = new Error('killed')
    const seam = (when: string) => (what: string) => {
      const file = names.find((name) => what === `revert ${at(name)}`)
      if (isArmed && file !== undefined && point === `${when} ${file}`) throw killed
    }
    const box = await openBox(t, {
      ...places,
      models: { default: scriptedModel((_, n) => (n === 1 ? calls(...edits) : says('Done.'))) },
      effect_seam: { before_effect: seam('before'), after_effect: seam('after') },
      over: (ledger) => ({
        ...ledger,
        commit: async (change, ...more) => {
          const is = change.events.some(({ event }) => event.type === 'files_reverted')
          if (isArmed && is && point === 'commit') throw killed
          return ledger.commit(change, ...more)
        },
      }),
    })
    await box.makeAgent('test/porter')
    const agent_id = 'main'
    const item = await box.host.act({ do: 'create_item', agent_id, objective: 'Port it' })
    assert.ok(item.ok && item.id !== null)
    const about = { agent_id, work_item_id: item.id }
    await box.host.act({ do: 'pick', ...about })
    await box.host.open()
    await box.until(
      (notice) =>
        notice.kind === 'committed' &&
        notice.events.some(({ event }) => event.type === 'turn_ended'),
    )
    assert.equal(files(), 'a1 b1 c1')
    const [before, after] = undo ? ['a0 b0 c0', 'a1 b1 c1'] : ['a1 b1 c1', 'a0 b0 c0']
    if (undo) await box.host.act({ do: 'revert_files', ...about })
    assert.equal(files(), before)
    isArmed = true
    await assert.rejects(box.host.act({ do: 'revert_files', undo, ...about }), killed)
    const half = files()
    await box.close()
    const next = await openBox(t, { ...places, models: { default: scriptedModel(() => says('')) } })
    assert.equal(files(), half)
    const again = async (back: boolean) => {
      await next.host.act({ do: 'revert_files', undo: back, ...about })
      return files()
    }
    assert.equal(await again(undo), after)
    assert.equal(await again(undo), after, 'the same again changes nothing')
    assert.equal(await again(!undo), before)
    assert.equal(await again(undo), after)
    assert.deepEqual((await next.ledger.verify()).problems, [])
  })
}
