/**
 * A question is its text: all of it, with every answer that is offered, stands wherever its wait
 * is. One of an item is put before a person and before the model that asked it, one of a child
 * before its parent, on every surface that shows more of a wait than a row of a list.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { ModelRequest } from '../src/models/model.ts'
import type { StateRecord } from '../src/protocol/views/state-record.ts'
import { openApi, type ApiBox } from '../src/testing/http/api.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { openSession, press, until } from '../src/testing/screens/tui-session.ts'
import { committed } from './support/asking-child.ts'
import { lastId } from './support/parent-and-child.ts'
import { call, waitsFor } from './support/scripts.ts'
import { resultsOf, textOf } from './support/stage.ts'
import { printed } from './support/typed-command.ts'

const ofItem = {
  question: 'Which colour shall it be?\nI would take red.',
  choices: [{ label: 'red' }, { label: 'blue, as the sky is', key: 'b' }],
}
const ofChild = {
  question: 'Which shape has it?\nI would take a star.',
  choices: [{ label: 'star' }, { label: 'half a moon' }],
}
type Asked = typeof ofItem | typeof ofChild

/** Of a question what a text does not have, wherever its lines were broken. */
function missing({ question, choices }: Asked, text: string): string[] {
  const flat = text.replaceAll(/[\s"\\]+/g, ' ')
  const parts = [...question.split('\n'), ...choices.map(({ label }) => label)]
  return parts.filter((part) => !flat.includes(part))
}

/** Its reason is another: who shows it has not shown what is asked. */
const asks = (asked: Asked, work_item_id?: string) =>
  waitsFor('operator_input', {
    ...asked,
    reason: 'one thing is open',
    ...(work_item_id === undefined ? {} : { work_item_id }),
  })

type Home = { api: ApiBox; item: string; task: string; requests: readonly ModelRequest[] }

/** An item that asks, made by an agent whose child asks something else; all come to rest. */
async function asking(t: TestContext): Promise<Home> {
  const main = scriptedModel((request, n) => {
    const text = textOf({ ...request, system: '' })
    if (n === 1) return calls(call('CreateWorkItem', { objective: 'Paint it' }))
    const id = n > 3 ? '' : lastId(text, 'work')
    if (n === 2) {
      const spawn = { initial_message: 'Ask me.', model: 'a/child' }
      return calls(asks(ofItem, id), call('SpawnAgent', spawn))
    }
    if (n === 3) {
      const about = { work_item_id: id }
      return calls(call('AgentGet'), call('GetWorkItem', about), call('ListWorkItems'))
    }
    const task = { task_id: n > 4 ? lastId(text, 'task') : '' }
    return n === 5 ? calls(call('TaskStatus', task), call('TaskOutput', task)) : says('I wait.')
  })
  const child = scriptedModel(() => calls(asks(ofChild)))
  const api = await openApi(t, { models: { default: main, 'a/child': child } })
  await api.box.host.open()
  const asked = committed(api, 'task_asked')
  await api.post('/agents/main/messages', { text: 'Paint it.' })
  await asked
  await api.box.rests('main', () => main.requests.length > 5)
  const { work_items, tasks } = await api.get<StateRecord>('/state')
  const [item, task] = [work_items[0]?.id, tasks[0]?.id]
  assert.ok(item !== undefined && task !== undefined)
  return { api, item, task, requests: main.requests }
}

/** What each surface shows, by its name. */
type Shown = Record<string, string>

const wrong = (asked: Asked, shown: Shown): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(shown).flatMap(([name, text]) => {
      const gone = missing(asked, text)
      return gone.length === 0 ? [] : [[`${name}: ${text}`, gone]]
    }),
  )

async function answers(api: ApiBox, paths: readonly string[]): Promise<Shown> {
  const all: Shown = {}
  for (const path of paths) all[path] = JSON.stringify(await api.get(path)).replaceAll('\\n', '\n')
  return all
}

/** Its page and each tab that says what it waits for: of a wide screen the pane that says most. */
async function screens(t: TestContext, { api, item }: Home): Promise<Shown> {
  const at = `/agents/main/work-items/${item}`
  const state = await api.get<StateRecord>('/state')
  const reads = [at, `${at}/why`, `${at}/plan`, '/agents/main/events', '/agents/main.1/events']
  const known: Record<string, unknown> = { '/spend': { by: ['agent'], spend: [] } }
  for (const path of reads) known[path] = await api.get(path)
  const shown: Shown = {}
  const sizes = [
    [80, 24],
    [120, 40],
    [200, 50],
  ] as const
  for (const size of sizes) {
    const look = async (name: string, ...keys: string[]) => {
      const { session, lines } = await openSession(t, () => state, { answers: known, size })
      for (const key of keys) press(session, key)
      await until(session, () => session.isWhole() && !lines().join().includes('reading …'))
      // Beside each other stand panes of their own: a row, and beside it all that it is about.
      const cut = lines().map((line) => line.split('│'))
      const panes = [...Array(Math.max(...cut.map((one) => one.length))).keys()].map((n) =>
        cut.map((one) => one[n] ?? '').join('\n'),
      )
      const fullest = panes.toSorted(
        (a, b) => missing(ofItem, a).length - missing(ofItem, b).length,
      )
      shown[`${name} at ${size.join('x')}`] = fullest[0] ?? ''
    }
    await look('home')
    await look('the question', 'a')
    await look('its thread', 'enter')
    await look('its why', 'enter', 'w')
  }
  return shown
}

test('what an item asks is whole wherever a person or its agent sees the wait', async (t) => {
  const home = await asking(t)
  const { api, item, requests } = home
  const at = `/agents/main/work-items/${item}`
  const http = ['/attention', '/state', '/agents/main/waits', '/agents/main/work-items', at]
  assert.deepEqual(wrong(ofItem, await answers(api, [...http, `${at}/why`])), {})
  const onScreens = await screens(t, home)
  assert.ok(Object.keys(onScreens).length === 12, Object.keys(onScreens).join(', '))
  assert.deepEqual(wrong(ofItem, onScreens), {})
  const results = resultsOf(requests[3]).map(({ text }) => text)
  const [agent = '', one = '', list = ''] = results
  assert.deepEqual(wrong(ofItem, { agent, one, list, opening: textOf(requests[4]) }), {})
  for (const text of results) assert.doesNotMatch(text, /wait_[0-9a-f]{8}-/, 'a whole id')
  await api.box.close()
  const shown: Shown = {}
  for (const words of ['inbox', `why ${item}`, `work show ${item}`, 'waits']) {
    shown[words] = await printed(api.box.home, words.split(' '))
  }
  shown['briefs'] = await printed(api.box.home, ['briefs'])
  assert.deepEqual(wrong(ofItem, shown), {})
})

test('what a child asks is whole wherever its parent, or who looks at its task, sees it', async (t) => {
  const { api, task, requests } = await asking(t)
  const http = ['/state', '/agents/main/tasks', `/agents/main/tasks/${task}`]
  assert.deepEqual(wrong(ofChild, await answers(api, [...http, '/agents/main.1/waits'])), {})
  const [status = '', output = ''] = resultsOf(requests[5]).map(({ text }) => text)
  assert.deepEqual(wrong(ofChild, { message: textOf(requests[4]), status, output }), {})
  await api.box.close()
  const shown: Shown = {}
  for (const words of [`tasks show ${task}`, 'waits', 'briefs']) {
    shown[words] = await printed(api.box.home, words.split(' '))
  }
  assert.deepEqual(wrong(ofChild, shown), {})
})
