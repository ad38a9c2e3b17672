/**
 * `holon take-back` as a person types it: beside a daemon while a turn runs, without one, and what
 * it says when there is nothing to take back. The end asks the ledger whether it is whole.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ServedHome } from './support/served-home.ts'

type Sent = { message_id: string }

/** Until the turn that it starts has it: each look waits for its answer. */
async function claimed(at: ServedHome, url: string, id: string): Promise<void> {
  for (;;) {
    const { body } = await at.fetch(url, `/agents/main/messages/${id}`)
    if (body['status'] === 'claimed') return
  }
}

describe('taking back', { timeout: 300_000 }, () => {
  test('beside a daemon, while a turn is open: once, again, and too late', async (t) => {
    const at = new ServedHome(t)
    // Nobody listens there: the first turn stays open, and what is said meanwhile waits.
    Object.assign(at.env, {
      ANTHROPIC_API_KEY: 'sk-nobody',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:1/v1',
    })
    const { url } = await at.serve()
    await at.json('agents', 'create', 'main', '--model', 'anthropic/claude-sonnet-4-6')
    const { message_id: first } = await at.json<Sent>('send', 'begin')
    await claimed(at, url, first)
    const { message_id: id } = await at.json<Sent>('send', 'and sweep the floor')
    const back = await at.holon('take-back', `msg_${id.slice(-6)}`)
    assert.deepEqual([back.exit, back.err], [0, ''])
    assert.match(back.out, /^msg_[0-9a-f]+ is taken back; no turn has read it\.\n$/)
    const again = await at.holon('take-back', id)
    assert.match(again.out, /^msg_[0-9a-f]+ was taken back before\.\n$/)
    const { body } = await at.fetch(url, `/agents/main/messages/${id}`)
    assert.deepEqual([body['status'], body['turn_id']], ['dropped', null])
    const late = await at.holon('take-back', first)
    assert.equal(late.exit, 1)
    assert.match(late.err, /^holon: msg_[0-9a-f]+ is in turn turn_[0-9a-f]+ already; say otherwise/)
    const doctor = await at.holon('doctor', '--verify')
    assert.match(doctor.out, /ok +ledger/)
  })

  test('without a daemon this process takes the home, and what comes next never sees it', async (t) => {
    const at = new ServedHome(t)
    const made = await at.holon('run', at.write('one.md', '# One\n\n## Step\n\n```sh\ntrue\n```\n'))
    assert.equal(made.exit, 0, made.err)
    const { message_id: id } = await at.json<Sent>('send', '--agent', 'runbooks', 'once more')
    const back = await at.holon('take-back', id, '--json')
    assert.equal(back.exit, 0, back.err)
    const reply = JSON.parse(back.out) as { message_id: string; said: string }
    assert.deepEqual(
      [reply.message_id, reply.said],
      [id, `${id} is taken back; no turn has read it.`],
    )
    const quiet = await at.holon('take-back', id, '--quiet')
    assert.deepEqual([quiet.exit, quiet.out, quiet.err], [0, '', ''])
    const next = await at.holon('run', '--resume')
    assert.equal(next.exit, 0, next.err)
    type Told = { event: { type: string; id: string } }
    const { out } = await at.holon('events', '--json')
    const told = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Told)
    const about = told.filter(({ event }) => event.id === id).map(({ event }) => event.type)
    assert.deepEqual(about, ['message_admitted', 'message_taken_back'])
  })

  const wrong: [args: string[], exit: number, says: RegExp][] = [
    [['msg_abcd1234'], 2, /there is no message msg_abcd1234/],
    [['msg_a'], 2, /"msg_a" is too short for an id/],
    [['work_abcd1234'], 2, /"work_abcd1234" is no id of a message; ids look like msg_7f3a/],
    [[''], 2, /"" is no id of a message/],
    [[], 2, /missing required argument "message"/],
  ]
  test('an id that is none, is too short, or is of something else is a usage error', async (t) => {
    const at = new ServedHome(t)
    for (const [args, exit, says] of wrong) {
      const refused = await at.holon('take-back', ...args)
      assert.deepEqual([refused.exit, refused.out], [exit, ''], refused.err)
      assert.match(refused.err, says)
    }
  })
})
