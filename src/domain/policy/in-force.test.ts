// Which presets an agent is judged by: its own, its makers', its home's; none looser than its maker.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionBody } from '../../testing/action-body.ts'
import { decideAction, decideByAll } from './decision.ts'
import { effectivePolicy } from './effective.ts'
import { homeAge, presetsInForce } from './in-force.ts'
import { presets } from './presets.ts'
import type { PresetName, Verdict } from './rule.ts'

const names = Object.keys(presets) as PresetName[]
const settings = [null, ...names]

test('a home is new from the schema on that keeps at which one it was made', () => {
  assert.deepEqual([0, 5, 6, 7].map(homeAge), ['existing', 'existing', 'new', 'new'])
})

test('an agent is judged by what was set for it and above it, else by what the home says', () => {
  const rows: [chain: (PresetName | null)[], home: PresetName | null, by: PresetName[]][] = [
    [[], null, []],
    [[], 'work', ['work']],
    [[null], 'watch', ['watch']],
    [['open'], 'work', ['open']],
    [['open'], null, ['open']],
    [[null, 'open'], 'work', ['open']],
    [['open', null], 'work', ['open', 'work']],
    [['open', null], null, ['open']],
    [['open', 'alone', 'watch'], 'open', ['open', 'alone', 'watch']],
    [['work', 'work'], 'open', ['work']],
  ]
  for (const [chain, home, by] of rows) assert.deepEqual(presetsInForce(chain, home), by)
})

const policy = (preset: PresetName) =>
  effectivePolicy({ preset, rules: [], otherwise: {}, narrower: [] }, (text) => text)
const strict: Record<Verdict, number> = { allow: 0, ask: 1, deny: 2 }

test('whatever is set for it, an agent is let no further than whoever made it', () => {
  const actions = [
    actionBody({ class: 'pure' }),
    actionBody(),
    actionBody({ hosts: [{ name: 'example.org', port: 443 }] }),
    actionBody({ paths: [{ op: 'write', real_path: '/w/a', area: 'workspace' }] }),
    actionBody({ paths: [{ op: 'write', real_path: '/etc/a', area: 'outside' }] }),
  ]
  for (const home of settings) {
    for (const parent of settings) {
      const above = presetsInForce([parent], home)
      for (const own of settings) {
        const mine = presetsInForce([own, parent], home)
        if (above.length > 0) assert.ok(mine.length > 0)
        for (const action of above.length === 0 ? [] : actions) {
          const his = decideByAll(action, above.map(policy)).decide
          const its = decideByAll(action, mine.map(policy)).decide
          assert.ok(strict[its] >= strict[his], `${own} under ${parent} in ${home}`)
        }
      }
    }
  }
})

test('of several policies the strictest has the words, of equals the first', () => {
  const action = actionBody({ hosts: [{ name: 'example.org', port: 443 }] })
  const all = (['open', 'work', 'alone'] as const).map(policy)
  assert.deepEqual(decideByAll(action, all), decideAction(action, policy('alone')))
  assert.deepEqual(decideByAll(action, [policy('open')]), decideAction(action, policy('open')))
})
