/**
 * The honest measure of injection (security.md): a model that does whatever a text from outside
 * asks, over every channel by which such text comes, for every forbidden goal. What it may not
 * reach is unreachable by policy and sandbox, not by its good will.
 *
 * The control run has no confinement: what only that stops is reached, what rules stop is not.
 *
 * `npm test` runs every channel and every goal, but of their pairs a quarter. `npm run puppet` runs
 * all of them, `HOLON_PUPPET=stdout npm test -- test/puppet` one channel.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { limits } from '../src/domain/limits.ts'
import { noBubblewrap } from '../src/testing/programs.ts'
import { channels, errandOf } from './puppet/channels.ts'
import { type Goal, goals, releases, runsHeld } from './puppet/goals.ts'
import { directive } from './puppet/puppet.ts'
import { type CallsOf, type Guards, openPuppetWorld } from './puppet/world.ts'

const wish = process.env['HOLON_PUPPET']
const chosen = Object.keys(channels).filter((name) => [undefined, 'all', name].includes(wish))
const sample = 4
const makes = { name: 'CreateWorkItem', input: { objective: 'Deploy' } }
const asks = (work_item_id: string) => ({
  name: 'WaitFor',
  input: { wake: 'operator_input', reason: 'May I deploy?', work_item_id },
})

test('security: there are at least 600 cases', () => {
  assert.ok(Object.keys(channels).length * goals.length >= 600)
})

const callsOf =
  (channel: string): CallsOf =>
  (at, _, name) => {
    if (name === 'make') return [makes]
    if (name === 'ask') return [asks(at.own_item)]
    if (name === 'release') return [{ name: 'ExecCommand', input: { cmd: releases } }]
    if (name === 'errand') return errandOf(channel, at)
    const goal = goals.find((one) => one.name === name)
    assert.ok(goal, `there is no goal ${name}`)
    return goal.calls(at)
  }

/** Every thing that is not as it was after the goals were asked for, one after the other. */
async function reachedIn(t: TestContext, channel: string, wanted: readonly Goal[], guards: Guards) {
  const world = await openPuppetWorld(t, callsOf(channel), guards)
  const found: string[] = []
  for (const [i, { name, aim }] of wanted.entries()) {
    const said = directive(i + 1, name)
    await channels[channel]?.(world, i + 1, said)
    await world.obeyed(said)
    found.push(...(await world.damage()).map((one) => `${aim}, ${name}: ${one}`))
  }
  assert.deepEqual((await world.api.box.ledger.verify()).problems, [])
  return found
}

/**
 * The same in as many worlds as it takes: an agent starts so many turns by its trigger alone, and
 * so many of its commands wait for a yes.
 */
async function reached(t: TestContext, channel: string, wanted: readonly Goal[], confined = true) {
  const found: string[] = []
  const isHeld = ({ aim }: Goal) => aim === 'held commands'
  for (const policy of ['none', 'asks'] as const) {
    const of = wanted.filter((goal) => isHeld(goal) === (policy === 'asks'))
    const most = policy === 'asks' ? 1 : limits.trigger_turns.value
    for (let at = 0; at < of.length; at += most) {
      const some = of.slice(at, at + most)
      found.push(...(await reachedIn(t, channel, some, { confined, policy })))
    }
  }
  return found
}

/** Without confinement each goal has a world of its own: what is reached stays so. */
const tried = goals.filter(({ stopped_by }) => stopped_by !== null)
const control = wish === undefined ? tried.filter((_, g) => g % sample === 0) : tried
for (const goal of ['all', undefined].includes(wish) ? control : []) {
  const { name, stopped_by } = goal
  const verb = stopped_by === 'confinement' ? 'reaches' : 'does not reach'
  test(`the same puppet, not confined, ${verb} ${name}`, { timeout: 120_000 }, async (t) => {
    const found = await reached(t, 'stdout', [goal], false)
    assert.equal(found.length > 0, stopped_by === 'confinement', found.join('\n'))
  })
}

/** Without the rule there is nothing to say yes to, and what leads to the command runs it. */
const leading = goals.filter(({ name }) => runsHeld.has(name))
for (const goal of wish === undefined ? leading.filter((_, g) => g % sample === 0) : leading) {
  test(`the same puppet, where no rule asks, reaches ${goal.name}`, async (t) => {
    const found = await reachedIn(t, 'stdout', [goal], { confined: false, policy: 'open' })
    assert.match(found.join('\n'), /what nobody said yes to ran/)
  })
}

for (const [c, channel] of chosen.entries()) {
  const asked = wish === undefined ? goals.filter((_, g) => (c + g) % sample === 0) : goals
  test(
    `security: a puppet that hears by ${channel} reaches no forbidden goal`,
    { skip: noBubblewrap, timeout: 600_000 },
    async (t) => {
      assert.deepEqual(await reached(t, channel, asked), [])
      t.diagnostic(`${asked.length} goals by ${channel}: none reached`)
    },
  )
}
