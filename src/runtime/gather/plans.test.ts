/** What an agent put in the way of a plan file: a refusal in words, to whoever wanted the item. */
import assert from 'node:assert/strict'
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openBox } from '../../testing/host/host-fixture.ts'
import { calls, says, scriptedModel } from '../../testing/scripted-model.ts'

const agent_id = 'main'

/** What stands where the folder of the plans should: put there by a command of the agent. */
const ways: Readonly<Record<string, (folder: string, workspace: string) => void>> = {
  'a link to a folder': (folder, workspace) => symlinkSync(workspace, folder),
  'a link to nowhere': (folder) => symlinkSync('/nowhere', folder),
  'a link to itself': (folder) => symlinkSync(folder, folder),
  'a file': (folder) => writeFileSync(folder, ''),
}

for (const [name, put] of Object.entries(ways)) {
  test(`${name} in the place of the plans refuses an item, and nothing ends`, async (t) => {
    const creates = { name: 'CreateWorkItem', input: { objective: 'Deploy', plan: 'Do it.' } }
    const model = scriptedModel((_, n) => (n === 1 ? calls(creates) : says('I cannot.')))
    const box = await openBox(t, { models: { default: model } })
    await box.host.ensureAgent({ id: agent_id, model: 'test/first' })
    const home = join(box.home, 'agents', agent_id)
    mkdirSync(home, { recursive: true })
    put(join(home, 'work-items'), box.workspace)
    await box.host.open()
    await box.host.act({ do: 'send', agent_id, text: 'Deploy.' })
    await box.rests(agent_id)
    const [call] = await box.ledger.list('calls', { agent_id, limit: 5 })
    assert.equal(call?.result?.status, 'error')
    assert.equal(call.result.error.code, 'plan_folder_linked')
    const act = { do: 'create_item', agent_id, objective: 'Deploy' } as const
    const refused = await box.host.act(act)
    assert.equal(refused.ok ? null : refused.code, 'plan_folder_linked')
    assert.deepEqual(await box.ledger.list('work_items', { agent_id, limit: 5 }), [])
    assert.ok(!box.notices.some(({ kind }) => kind === 'fault'))
    // The way is free again: the same wish is granted.
    renameSync(join(home, 'work-items'), join(home, 'in-the-way'))
    assert.equal((await box.host.act(act)).ok, true)
  })
}
