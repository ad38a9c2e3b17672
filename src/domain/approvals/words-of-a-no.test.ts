/** A no that is given while a turn runs: its words are read by that turn, or by the next. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { agentCreated } from '../../testing/events.ts'
import { item, World } from '../../testing/world/agent-world.ts'
import { hold } from '../../testing/world/held.ts'
import { does } from '../../testing/world/operator-inputs.ts'
import { answer, ask, begin, end } from '../../testing/world/turns.ts'
import { violations } from '../invariants/of-an-agent.ts'
import { unreadWords } from '../work/complete.ts'
import { heldHash } from './held-text.ts'

const child = {
  preset: 'private_child',
  lineage_parent_agent_id: 'boss',
  supervisor_agent_id: 'boss',
  supervising_task_id: 'task_of_boss',
  model: 'scripted/model',
} as const

/** A turn about an item that holds a command, with its first request answered. */
function atWork(visibility: 'public' | 'private') {
  const w = new World('main', visibility === 'public')
  if (visibility === 'private') w.do((d) => d.emit(agentCreated('main', child)))
  const id = item(w, { focus: true })
  begin(w)
  ask(w)
  answer(w, { calls: [{ tool: 'ExecCommand' }] })
  const task = hold(w, { item: id })
  return { w, id, task }
}

function refuse({ w, task }: ReturnType<typeof atWork>, text?: string): void {
  const said = text === undefined ? {} : { text }
  does(w, {
    do: 'answer_held',
    task_id: task.id,
    bound_hash: heldHash(task),
    choice: 'no',
    ...said,
  })
}

const words = ({ w, task }: ReturnType<typeof atWork>) =>
  w.all('messages').filter(({ task_id }) => task_id === task.id)

for (const visibility of ['public', 'private'] as const) {
  describe(`a no to a ${visibility} agent whose turn is open`, () => {
    for (const [name, text] of [
      ['with words', 'It was asked twice.'],
      ['without words', undefined],
    ] as const) {
      test(`${name} is in the turn’s next request, and nothing is completed before`, () => {
        const one = atWork(visibility)
        refuse(one, text)
        const [message] = words(one)
        assert.deepEqual([message?.priority, message?.status], ['interject', 'queued'])
        assert.ok(message?.body.startsWith(text ?? 'No.'))
        const refusal = one.w.do((d) => ({ code: unreadWords(d, one.id)?.code }))
        assert.equal(refusal.code, 'words_unread')
        ask(one.w)
        const shown = words(one).map(({ status, round }) => [status, round])
        assert.deepEqual(shown, [['claimed', 2]])
        const now = one.w.do((d) => ({ code: unreadWords(d, one.id)?.code }))
        assert.equal(now.code, undefined)
        answer(one.w, { text: 'Understood.' })
        assert.equal(words(one)[0]?.status, 'interjected')
      })

      test(`${name} that the turn did not show is given to the next`, () => {
        const one = atWork(visibility)
        refuse(one, text)
        end(one.w)
        assert.equal(words(one)[0]?.status, 'queued')
        begin(one.w, 'message')
        ask(one.w)
        answer(one.w, { text: 'Understood.' })
        assert.equal(words(one)[0]?.status, 'consumed')
        end(one.w)
        if (visibility === 'public') assert.deepEqual(violations(one.w.whole(), one.w.events), [])
      })

      test(`${name} in a request that nobody answered is given to the next`, () => {
        const one = atWork(visibility)
        refuse(one, text)
        ask(one.w)
        end(one.w, { outcome: 'interrupted', reason: 'recovered' })
        assert.equal(words(one)[0]?.status, 'queued')
      })
    }
  })
}
