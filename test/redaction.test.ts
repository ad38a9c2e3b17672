/**
 * Secrets through the whole host (docs/spec/security.md#secrets, docs/spec/invariants.md, invariant
 * 39): words of the operator, outputs of commands, files that are read, a plan, the model's own
 * text. None of it is stored, shown live, or sent to the model, in any spelling.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createRedactor } from '../src/domain/secrets/redact.ts'
import { openBox } from '../src/testing/host/host-fixture.ts'
import { calls, scriptedModel } from '../src/testing/scripted-model.ts'
import { call, completes, inOrder, picks, runs } from './support/scripts.ts'

const canaries = ['sk-canary-0aB9xY7z-raw', 'p@ss "w\\rd"/ü/0aB9', 'ghp_0123456789abcdefCANARY']
const secrets = canaries.map((value, n) => ({ name: `canary-${n}`, value }))

/** How a canary would look in a file: as text, inside JSON, and as the commands below print it. */
const traces = canaries.flatMap((value) => {
  const bytes = Buffer.from(value)
  const inside = JSON.stringify(value).slice(1, -1)
  return [value, inside, JSON.stringify(inside).slice(1, -1), bytes.toString('hex')]
})

const found = (text: string): string[] => traces.filter((trace) => text.includes(trace))

test('no canary is in a row, event, blob, file, live sign or request', async (t) => {
  const { redactor, refused } = createRedactor(secrets)
  assert.deepEqual(refused, [])
  let item = ''
  const idIn = (text: string) => (item = /work_[0-9a-f-]{4,36}/.exec(text)?.[0] ?? 'none')
  const model = scriptedModel(
    inOrder(
      calls(
        `I was told ${canaries[0]}.`,
        call('CreateWorkItem', { objective: 'Leak', plan: '# P' }),
      ),
      (request) => picks(idIn(JSON.stringify(request.messages.at(-1)))),
      calls(runs('cat keys; base64 -w0 keys; od -An -v -tx1 keys | tr -d " \\n"')),
      calls(call('ReadFile', { path: 'big' })),
      async () =>
        calls(runs(`cat keys >> "${await planOf(item)}"; echo "$(cat keys)" >&2; exit 3`)),
      () =>
        calls(call('UpdateWorkItem', { work_item_id: item, blocked_by: `needs ${canaries[1]}` })),
      () => calls(call('UpdateWorkItem', { work_item_id: item, blocked_by: null })),
      () => completes(item, `It is done. The key is ${canaries[2]}, as asked.`),
    ),
  )
  const box = await openBox(t, { models: { default: model }, redactor })
  const planOf = async (short: string) => {
    const id = (await box.ledger.idOfShort('main', short)) ?? 'none'
    return join(box.home, 'agents/main/work-items', id, 'plan.md')
  }
  writeFileSync(join(box.workspace, 'keys'), `${canaries.join('\n')}\n`)
  const line = `${'x'.repeat(200)} ${canaries[0]}\n`
  writeFileSync(join(box.workspace, 'big'), line.repeat(400))
  await box.makeAgent('test/scripted')
  await box.host.open()
  const text = `Use ${canaries[0]} and ${Buffer.from(`:${canaries[1]}`).toString('base64')}.`
  await box.host.act({ do: 'send', agent_id: 'main', text })
  await box.rests('main')

  const [row] = await box.ledger.list('work_items', { limit: 10 })
  assert.equal(row?.state, 'completed', 'the whole script was played')
  assert.equal(readFileSync(await planOf(item), 'utf8').includes(canaries[0] ?? '?'), true)
  const [sent] = await box.ledger.list('messages', { limit: 10 })
  // At the edges of base64 a character also holds bits of its neighbour, and stays.
  const edges = /^Use \{\{secret:canary-0\}\} and .{0,2}\{\{secret:canary-1\}\}.{0,4}\.$/
  assert.match(sent?.body ?? '', edges)

  assert.deepEqual(found(JSON.stringify(box.notices)), [])
  assert.deepEqual(found(JSON.stringify(model.requests)), [])
  assert.deepEqual((await box.ledger.verify()).problems, [])
  // Reading the database's files in the process that has it open would drop its locks.
  await box.close()
  // What commands write themselves is theirs: the plan above, and the runner's folders.
  const theirs = /^agents\/main\/work-items\/[^/]+\/plan\.md$|^tasks\//
  const files = globSync('**/*', { cwd: box.home }).filter(
    (path) => !theirs.test(path) && statSync(join(box.home, path)).isFile(),
  )
  for (const path of files) {
    assert.deepEqual(found(readFileSync(join(box.home, path), 'latin1')), [], path)
    assert.deepEqual(found(readFileSync(join(box.home, path), 'utf8')), [], path)
  }
  // On the pages of the file a blob is in pieces.
  const database = new DatabaseSync(join(box.home, 'ledger/ledger.sqlite'), { readOnly: true })
  const blobs = database.prepare('select bytes from blobs').all()
  database.close()
  assert.ok(blobs.length >= 2, 'openings and plans were kept')
  for (const { bytes } of blobs) {
    assert.ok(bytes instanceof Uint8Array)
    assert.deepEqual(found(new TextDecoder().decode(bytes)), [])
  }
})
