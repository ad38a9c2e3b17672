/**
 * Memory through the whole: an agent finds what it did in an earlier turn and reads it, and the
 * operator finds the same with `holon search`, beside a daemon and without one.
 */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { SearchAnswer } from '../src/protocol/records/search-record.ts'
import { openBox } from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { itemFile } from './support/item-file.ts'
import { ServedHome } from './support/served-home.ts'
import { call, inOrder, runs } from './support/scripts.ts'

const lastOf = (request: { messages: readonly unknown[] }): string =>
  JSON.stringify(request.messages.at(-1))

test('an agent finds what a command printed in an earlier round, and reads the record whole', async (t) => {
  const seen: string[] = []
  const model = scriptedModel(
    inOrder(
      calls(runs('echo the wombat sleeps; echo and more')),
      calls(
        'I saw the wombat.',
        call('MemorySearch', { query: 'wombat', kinds: ['call', 'message'] }),
      ),
      (request) => {
        seen.push(lastOf(request))
        const ref = /source_ref: (call_[0-9a-f-]{4,36})/.exec(lastOf(request))?.[1] ?? 'none'
        return calls(
          call('MemoryGet', { source_ref: ref }),
          call('MemoryGet', { source_ref: 'brief_nope' }),
        )
      },
      (request) => {
        seen.push(lastOf(request))
        return calls('That is all.')
      },
    ),
  )
  const box = await openBox(t, { models: { default: model } })
  await box.makeAgent('test/scripted')
  await box.host.open()
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Look after the wombat.' })
  await box.until(
    (notice) =>
      notice.kind === 'committed' && notice.events.some(({ event }) => event.type === 'turn_ended'),
  )
  const [found = '', got = ''] = seen
  assert.match(found, /MemorySearch: 1 record found/)
  assert.doesNotMatch(found, /Look after the «wombat»/, 'its own input')
  assert.match(found, /echo the «wombat» sleeps/)
  assert.match(got, /MemoryGet: call of main/)
  assert.match(got, /and more/)
  assert.match(
    got,
    /MemoryGet: error \(rejected, source_not_found\)\. There is no record brief_nope/,
  )
})

test(
  '`holon search` says the same beside a daemon and without one, in words and as JSON',
  { timeout: 300_000 },
  async (t) => {
    const at = new ServedHome(t)
    const daemon = await at.serve()
    const book = at.write(
      'look.md',
      '# Look for the capybara\n\n## Look\n\n```sh\necho capybara found\n```\n',
    )
    const run = await at.holon('run', book)
    assert.equal(run.exit, 0, run.err)
    const folder = join(at.home, 'agents', 'runbooks', 'memory')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'animals.md'), 'A capybara swims well.\n')
    const served = await at.json<SearchAnswer>('search', 'capybara')
    const kinds = new Set(served.results.map(({ kind }) => kind))
    assert.deepEqual([served.match, served.complete], ['all', true])
    for (const kind of ['work_item', 'plan', 'call', 'file'] as const)
      assert.ok(kinds.has(kind), kind)
    const words = await at.holon('search', 'capybara', '--kind', 'file')
    assert.deepEqual([words.exit, words.err], [0, ''])
    assert.match(
      words.out,
      /^KIND\tFOUND\tWHERE\tAGENT\tWRITTEN\nfile\tA «capybara» swims well\.\tmemory\/animals\.md\trunbooks\t\d\d:\d\d/,
    )
    assert.match(words.out, /\n1 found; the memory of workspaces is not searched\n$/)
    const none = await at.holon('search', 'nowhere-to-be-found')
    assert.deepEqual(
      [none.exit, none.out],
      [
        0,
        'nothing found\nlooked through items, plans, briefs, reports, messages, rounds, calls, tasks, ' +
          "their output, schedules and agents' own files\nthe memory of workspaces is not searched\n",
      ],
    )
    const bad = await at.holon('search', '""')
    assert.deepEqual([bad.exit, bad.out], [2, ''])
    assert.match(bad.err, /There is no word in/i)
    daemon.child.kill('SIGTERM')
    await daemon.ended
    writeFileSync(join(folder, 'later.md'), 'Another capybara.\n')
    const alone = await at.json<SearchAnswer>('search', 'capybara')
    assert.equal(alone.complete, true)
    const refs = ({ results }: SearchAnswer) =>
      results.map(({ source_ref }) => source_ref).toSorted()
    assert.deepEqual(refs(alone), [...refs(served), 'file:@runbooks/memory/later.md'].toSorted())
  },
)

test('what an imported item says is found by nobody until you pick it', async (t) => {
  const box = await openBox(t, { models: { default: scriptedModel(() => says('Seen.')) } })
  const { host } = box
  const { memory } = box.ports
  const agent_id = 'main'
  assert.ok((await host.act({ do: 'create_agent', agent_id, model: 'test/scripted' })).ok)
  await host.open()
  const file = itemFile('Count the zebras', 'Obey: first the zebras.')
  const brought = await host.act({ do: 'import_item', agent_id, file })
  const id = (brought.ok && brought.id) || 'nothing'
  const search = async (viewer: string | null) => {
    const query = { query: 'zebras', kinds: null, agent_id: null, limit: 10 }
    const found = await memory.search(viewer, query)
    assert.ok(found.ok)
    return found.answer.hits.map(({ source_ref }) => source_ref).toSorted()
  }
  const get = async (ref: string) => {
    const got = await memory.get(agent_id, ref, 'seed')
    return got.ok ? got.record.words : got.code
  }
  const seen = async () => [
    await search(agent_id),
    await search(null),
    await get(id),
    await get(`${id}/plan`),
  ]
  assert.deepEqual(await seen(), [[], [], 'source_not_found', 'source_not_found'])

  const more = { do: 'update_item', agent_id, work_item_id: id, blocked_by: 'Not now.' } as const
  assert.ok((await host.act(more)).ok)
  assert.deepEqual(await seen(), [[], [], 'source_not_found', 'source_not_found'])

  assert.ok((await host.act({ do: 'pick', agent_id, work_item_id: id })).ok)
  const both = [id, `${id}/plan`]
  assert.deepEqual(await seen(), [both, both, 'own', 'own'])
})
