/**
 * Short ids at both ends of a request: what a model is shown has the short form that was fixed when
 * the id was minted, what it gives is taken as the id it means, and rows have whole ids throughout.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { shortKinds } from '../src/domain/state/short-id.ts'
import { systemIds } from '../src/exec/clock.ts'
import type { Ids } from '../src/exec/ports.ts'
import type { ModelRequest } from '../src/models/model.ts'
import {
  openBox,
  type HostFixture,
  type BoxOptions,
  type Scope,
} from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel, type Script } from '../src/testing/scripted-model.ts'
import { textOf } from '../src/testing/scenarios/three-children.ts'
import { happens, openFamily, pick, spawn, steps, tell } from './support/parent-and-child.ts'
import { call, completes, creates, picks } from './support/scripts.ts'
import { ServedHome } from './support/served-home.ts'
import { resultsOf } from './support/stage.ts'

/** Ids whose calls end so, in order; the item that a call makes has the id of the call. */
function endingIn(...ends: readonly string[]): Ids {
  const ids = systemIds()
  let calls = 0
  const mint = ((prefix: Parameters<Ids['mint']>[0]) => {
    const id = ids.mint(prefix)
    const end = prefix === 'call' ? ends[calls++] : undefined
    return end === undefined ? id : `${id.slice(0, -end.length)}${end}`
  }) as Ids['mint']
  return { ...ids, mint }
}

async function openMain(t: Scope, script: Script, more: Partial<BoxOptions> = {}) {
  const model = scriptedModel(script)
  const box = await openBox(t, { models: { default: model }, ...more })
  await box.makeAgent('test/scripted')
  await box.host.open()
  return { box, model }
}

async function say(box: HostFixture, text: string, agent_id = 'main'): Promise<void> {
  await box.host.act({ do: 'send', agent_id, text })
  await box.rests(agent_id)
}

const answersOf = (request: ModelRequest | undefined): string[] =>
  resultsOf(request).map(({ text }) => text.split('\n')[0] ?? '')

test('an exact short form means its id, whatever later ids end so, also after a restart', async (t) => {
  const script: Script = (_, n) => {
    if (n === 1) return creates('one', 'two', 'three')
    if (n === 2) return calls(call('GetWorkItem', { work_item_id: 'work_7f3a' }))
    if (n === 3) return picks('work_27f3a')
    if (n === 4)
      return calls(call('UpdateWorkItem', { work_item_id: 'work_127f3a', blocked_by: 'x' }))
    return says('So it stands.')
  }
  const ids = endingIn('17f3a', '27f3a', '127f3a')
  const { box, model } = await openMain(t, script, { ids })
  await say(box, 'Begin.')
  assert.deepEqual(answersOf(model.requests[1]), [
    'CreateWorkItem: Created work_7f3a. It is queued; PickWorkItem puts it in focus.',
    'CreateWorkItem: Created work_27f3a. It is queued; PickWorkItem puts it in focus.',
    'CreateWorkItem: Created work_127f3a. It is queued; PickWorkItem puts it in focus.',
  ])
  assert.match(resultsOf(model.requests[2]).at(-1)?.text ?? '', /objective: one$/m)
  assert.match(answersOf(model.requests[3]).at(-1) ?? '', /^PickWorkItem: work_27f3a is in focus/)
  const items = await box.ledger.list('work_items', { limit: 9 })
  assert.deepEqual(
    items.map(({ objective, blocked_by }) => [objective, blocked_by]),
    [
      ['one', null],
      ['two', null],
      ['three', 'x'],
    ],
  )
  const focus = box.host.facts('main')?.row('agents', 'main')?.current_work_item_id
  assert.equal(focus, items[1]?.id)
  const [, , update] = (await box.ledger.list('calls', { limit: 9 })).slice(3)
  assert.deepEqual(update?.input, { work_item_id: items[2]?.id, blocked_by: 'x' })
  await box.close()

  const { home, workspace } = box
  const again = await openMain(
    t,
    (_, n) =>
      n === 1
        ? calls(
            call('GetWorkItem', { work_item_id: 'work_7f3a' }),
            call('CreateWorkItem', { objective: 'four' }),
          )
        : says('That is the first.'),
    { home, workspace, ids: endingIn('aaaa', '37f3a') },
  )
  await say(again.box, 'Which is it?')
  const [, next] = again.model.requests
  assert.match(resultsOf(next)[0]?.text ?? '', /id: work_7f3a\n {2}objective: one$/m)
  assert.match(answersOf(next)[1] ?? '', /^CreateWorkItem: Created work_37f3a\./)
  assert.deepEqual((await again.box.ledger.verify()).problems, [])
})

test('another part of an id is taken where it fits one, and refused with all that it fits', async (t) => {
  const { box, model } = await openMain(
    t,
    async (_, n) => {
      if (n === 1) return creates('one', 'two', 'three')
      const [{ id } = { id: '' }] = await box.ledger.list('work_items', { limit: 3 })
      const parts = ['work_b7f3a', 'work_bb7f3a', id.slice(0, 'work_01a204c3'.length), 'work_7f3b']
      return n === 2
        ? calls(...parts.map((it) => call('GetWorkItem', { work_item_id: it })))
        : says('Well.')
    },
    { ids: endingIn('bb7f3a', 'ab7f3a', 'cb7f3a') },
  )
  await say(box, 'Begin.')
  const [exact, only, several, none] = resultsOf(model.requests[2])
  assert.match(exact?.text ?? '', /objective: two$/m)
  assert.match(only?.text ?? '', /objective: one$/m)
  assert.match(
    several?.text ?? '',
    /\(rejected, ambiguous_id\)\. work_\w{8} means more than one: work_7f3a, work_b7f3a, work_cb7f3a\./,
  )
  assert.match(none?.text ?? '', /work_7f3b is not an item of yours/)
})

const newest = (text: string, kind: string) =>
  [...text.matchAll(new RegExp(`\\b${kind}_[0-9a-f]{4,}\\b`, 'g'))].at(-1)?.[0] ?? 'none'

/** Whole ids that stand in a request as what they are: paths have them as names of folders. */
const wholeIn = (request: ModelRequest): string[] =>
  [
    ...textOf(request).matchAll(
      new RegExp(`(?<![\\w/])(?:${shortKinds.join('|')})_[0-9a-f]{8}-[0-9a-f-]{27}(?!/plan)`, 'g'),
    ),
  ].map(([id]) => id)

test('no request shows a whole id of the agent, whatever happens in its turns', async (t) => {
  const child = steps(
    () => calls(call('CreateWorkItem', { objective: 'Count', focus: true })),
    (text) => completes(newest(text, 'work'), 'It has 12 lines, I counted them twice, with wc.'),
  )
  const parent = steps(
    () => creates('The whole', 'Another'),
    pick,
    (text) =>
      calls(
        'I begin.',
        call('ExecCommand', { cmd: 'while [ ! -f go ]; do sleep 0.05; done', yield_ms: 0 }),
        call('ExecCommand', { cmd: 'exit 3' }),
        call('UpdateWorkItem', {
          work_item_id: newest(text, 'work'),
          todo_list: [{ text: 'Count', state: 'completed' }],
        }),
        spawn('Count the lines.'),
        call('GetWorkItem', { work_item_id: 'work_0000' }),
        call('ListWorkItems', {}),
      ),
    (text) =>
      calls(
        call('ListTasks', {}),
        call('TaskStatus', { task_id: newest(text, 'task') }),
        call('MemorySearch', {}),
        call('MemoryGet', { source_ref: newest(text, 'call') }),
        call('WaitFor', { wake: 'task_result', resource: newest(text, 'task'), reason: 'its end' }),
      ),
    () => says('It is counted.'),
  )
  const box = await openFamily(t, { parent, child })
  await tell(box, 'Count them.')
  await happens(box, 'main.1', 'work_item_completed')
  writeFileSync(join(box.workspace, 'go'), '')
  await happens(
    box,
    'main',
    'task_ended',
    ({ status, reason }) => status === 'completed' && !reason,
  )
  await box.rests('main')
  await tell(box, 'And now?')
  await box.rests('main', () => textOf(parent.requests.at(-1) as ModelRequest).includes('And now?'))
  const requests = [...parent.requests, ...child.requests]
  assert.ok(requests.length >= 10, `${requests.length} requests`)
  // The parent finds its child's records: their ids are the child's, and whole.
  for (const { agent, of } of [
    { agent: 'main', of: parent },
    { agent: 'main.1', of: child },
  ]) {
    const whole = of.requests.flatMap(wholeIn)
    assert.deepEqual([...(await box.ledger.shortIds(agent, whole)).keys()], [])
  }
})

test('what a file or a command says is shown as it is, also where it has an id', async (t) => {
  const { box, model } = await openMain(t, async (_, n) => {
    if (n === 1) return creates('one')
    const [{ id } = { id: '' }] = await box.ledger.list('work_items', { limit: 1 })
    if (n === 2) writeFileSync(join(box.workspace, 'note.txt'), `see ${id}`)
    return n === 2
      ? calls(
          call('ReadFile', { path: 'note.txt' }),
          call('ExecCommand', { cmd: 'cat note.txt' }),
          call('FindInFiles', { query: 'see' }),
          call('EditFile', { path: 'note.txt', old_text: `see ${id}`, new_text: 'done' }),
        )
      : says('So it is.')
  })
  await say(box, 'Begin.')
  const [{ id } = { id: '' }] = await box.ledger.list('work_items', { limit: 1 })
  const [read, ran, found, edited] = resultsOf(model.requests[2])
  for (const one of [read, ran, found]) assert.ok(one?.text.includes(`see ${id}`))
  assert.equal(edited?.is_error, false)
})

test('the command line takes any beginning or end of an id, and lists several with their agents', async (t) => {
  const at = new ServedHome(t)
  const made = new Set<string>()
  const script: Script = (request) => {
    const asked = /^Make (\w+)\.$/m.exec(
      textOf(request).slice(textOf(request).indexOf('# Input')),
    )?.[1]
    if (asked === undefined || made.has(asked)) return says('It is made.')
    made.add(asked)
    return creates(`item ${asked}`)
  }
  const { box } = await openMain(t, script, {
    home: at.home,
    workspace: at.folder,
    ids: endingIn('17f3a', '27f3a', '41b4'),
  })
  const root = { mode: 'explicit_root', root: at.folder } as const
  await box.host.ensureAgent({ id: 'docs', model: 'test/scripted', workspace: root })
  await say(box, 'Make one.')
  await say(box, 'Make two.', 'docs')
  await say(box, 'Make three.')
  const ids = (await box.ledger.list('work_items', { limit: 9 })).map(({ id }) => id)
  const [one = '', two = '', three = ''] = ids
  await box.close()

  const shown = async (text: string) => (await at.holon('work', 'show', text)).out.split('\n')[0]
  for (const part of ['work_41b4', '41b4', three, three.slice(-14), three.slice(0, -2)]) {
    assert.match((await shown(part)) ?? '', /item three/, part)
  }
  assert.match((await shown('27f3a')) ?? '', /item two/)
  for (const part of ['work_7f3a', '7f3a']) {
    const { exit, err } = await at.holon('work', 'show', part)
    assert.equal(exit, 2)
    const [said, ...lines] = err.trimEnd().split('\n')
    assert.equal(said, `holon: ${part} means more than one; use one of these ids`)
    assert.deepEqual(lines, [`  work_17f3a  main  ${one}`, `  work_27f3a  docs  ${two}`])
  }
  const none = await at.holon('work', 'show', '9999')
  assert.match(none.err, /^holon: there is no work item 9999; /)
})
