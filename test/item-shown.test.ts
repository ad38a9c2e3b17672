/**
 * What its agent said of an item reaches who looks at it: its blocker and the condition of its wait
 * while it is open, and what speaks against its report once it is completed.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { leftBehind } from '../src/domain/facts/left.ts'
import type { StateRecord } from '../src/protocol/views/state-record.ts'
import { openApi } from '../src/testing/http/api.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { openSession, press, until as comes } from '../src/testing/screens/tui-session.ts'
import { onA, scene } from './support/scene.ts'
import { call, creates, runs, until, waitsFor } from './support/scripts.ts'
import { textOf, type Stage } from './support/stage.ts'
import { printed } from './support/typed-command.ts'

/** What of it a text does not say, wherever its lines were broken. */
const missing = (parts: readonly string[], text: string): string[] => {
  const flat = text.replaceAll(/[\s"\\]+/g, ' ')
  return parts.filter((part) => !flat.includes(part))
}

const words = { blocked_by: 'legal must agree', condition: 'both of them have approved' }

/** More than a cell of a terminal has room for. */
const long = 'the review of the second part of the change, by two people of another team'

/** An item that waits and is blocked, in a home that nobody has open. */
async function held(t: TestContext) {
  const model = scriptedModel((request, n) => {
    if (n === 1) return calls(call('CreateWorkItem', { objective: 'Ship it', plan: 'Ask.' }))
    if (n > 3) return says('It waits.')
    const id = /work_[0-9a-f-]{4,36}/.exec(JSON.stringify(request.messages.slice(1)))?.[0] ?? ''
    const about = { work_item_id: id }
    const { condition, blocked_by } = words
    return n === 2
      ? calls(
          waitsFor('external', { ...about, source: 'github', condition, reason: long }),
          call('UpdateWorkItem', { ...about, blocked_by, plan_status: 'ready' }),
        )
      : calls(call('GetWorkItem', about), call('ListWorkItems'))
  })
  const api = await openApi(t, { models: { default: model } })
  await api.box.host.open()
  await api.post('/agents/main/messages', { text: 'Ship it.' })
  await api.box.rests('main', () => model.requests.length > 3)
  const state = await api.get<StateRecord>('/state')
  return { api, state, item: state.work_items[0]?.id ?? assert.fail() }
}

test('the blocker and the condition that an agent named stand beside its wait', async (t) => {
  const { api, state, item } = await held(t)
  const at = `/agents/main/work-items/${item}`
  const shown: Record<string, string> = {}
  for (const path of [at, `${at}/why`]) shown[path] = JSON.stringify(await api.get(path))
  const answers = { '/spend': { spend: [] }, [at]: await api.get(at) }
  const reads = { ...answers, [`${at}/why`]: await api.get(`${at}/why`) }
  const { session, text } = await openSession(t, () => state, { answers: reads })
  await comes(session, () => session.isWhole())
  press(session, 'enter', 'w')
  await comes(session, () => text().includes('Why '))
  shown['its why on the screen'] = text()
  await api.box.close()
  for (const name of [`why ${item}`, `work show ${item}`, 'waits']) {
    shown[name] = await printed(api.box.home, name.split(' '))
  }
  const wrong = Object.entries(shown).map(([name, said]) => [
    `${name}: ${said}`,
    missing(Object.values(words), said),
  ])
  assert.deepEqual(
    wrong.filter(([, gone]) => gone?.length !== 0),
    [],
  )
  assert.match(shown[`work show ${item}`] ?? '', /, revision 2, plan ready, /)
  const list = await printed(api.box.home, ['work', 'list'])
  assert.deepEqual(missing([words.blocked_by], list), [])
})

const whole = 'The parser keeps comments now. It was run on every file of the corpus.'

/** What `work show` prints, with the home closed. */
async function shownBy(s: Stage, objective: string): Promise<string> {
  const id = s.id(objective)
  await s.box.close()
  return printed(s.box.home, ['work', 'show', id])
}

test('what a completion left stands beside its report: on the command line, and for its agent', async (t) => {
  const s = await onA(
    t,
    (s) =>
      calls(
        runs(until('go'), { yield_ms: 0 }),
        call('UpdateWorkItem', {
          work_item_id: s.id('A'),
          todo_list: [
            { text: 'read', state: 'completed' },
            { text: 'write', state: 'pending' },
          ],
        }),
      ),
    (s) => calls(whole, call('CompleteWorkItem', { work_item_id: s.id('A'), leave_running: true })),
    () => says('Nothing more.'),
  )
  await s.act({ do: 'send', text: 'Begin.' })
  await s.hurry('turn_ended')
  await s.say('And now?')
  const left = ['1 of 2 todos is not finished', '1 task of it still runs']
  const opening = textOf(s.model.requests.at(-1))
  const line = /^- work_\S+ "A", .*$/m.exec(opening)?.[0] ?? ''
  assert.deepEqual(missing(left, line), [], line)
  assert.match(opening, /Warning: 1 of 2 todos are not finished\.\nWarning: A task of the item/)
  const tasks = await s.rows('tasks')
  assert.deepEqual(leftBehind(s.item('A'), tasks), left)
  const shown = await shownBy(s, 'A')
  assert.deepEqual(missing(left, shown), [], shown)
  writeFileSync(join(s.box.workspace, 'go'), '')
})

test('a report that was written for several items says so wherever it stands', async (t) => {
  const s = await scene(
    t,
    () => creates('A', 'B'),
    (s) =>
      calls(
        whole,
        ...['A', 'B'].map((one) => call('CompleteWorkItem', { work_item_id: s.id(one) })),
      ),
    () => says('That is all.'),
  )
  await s.say('Do both.')
  const b = await s.short(s.id('B'))
  const said = `The same report was written for ${b} (B).`
  const shown = await shownBy(s, 'A')
  assert.deepEqual(missing([whole, said.replace(/\(B\)\.$/, '')], shown), [], shown)
})
