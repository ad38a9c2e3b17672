/** Grants over HTTP: listed, read, and taken back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GrantRecord } from '../../protocol/records/grant-record.ts'
import { openApi } from '../../testing/http/api.ts'
import { calls, says, scriptedModel } from '../../testing/scripted-model.ts'
import { asksAbout } from '../../testing/world/held.ts'
import type { Attention } from '../../protocol/views/attention.ts'

type Acted = { grant: GrantRecord; said: string }

test('what was granted is listed with what it allows, and is taken back by its route', async (t) => {
  const model = scriptedModel((_, n) =>
    n === 1 ? calls({ name: 'ExecCommand', input: { cmd: 'echo pushed' } }) : says('I asked.'),
  )
  const api = await openApi(t, { models: { default: model }, policy: asksAbout('pushed') })
  await api.box.host.open()
  await api.post('/agents/main/messages', { text: 'Push it.' })
  await api.box.rests('main')
  const { attention } = await api.get<{ attention: Attention[] }>('/attention')
  const [entry] = attention
  assert.ok(entry)
  const yes = { choice: 'like_for_agent', bound_hash: entry.bound_hash }
  await api.post(`/agents/main/tasks/${entry.id}/answer`, yes)
  const grants = '/agents/main/grants'
  const { grants: listed } = await api.get<{ grants: GrantRecord[] }>(grants)
  const [grant] = listed
  assert.ok(grant)
  assert.deepEqual(
    [grant.kind, grant.allows, grant.task_id, grant.surface, grant.uses, grant.status],
    ['like_for_agent', 'git push origin … in /w', entry.id, 'http_control', 0, 'active'],
  )
  assert.deepEqual(
    grant.can.map(({ key, allowed, method, path, cli }) => ({ key, allowed, method, path, cli })),
    [
      {
        key: 'revoke_grant',
        allowed: true,
        method: 'DELETE',
        path: `${grants}/${grant.id}`,
        cli: `holon grants revoke ${grant.id}`,
      },
    ],
  )
  assert.deepEqual(await api.get<GrantRecord>(`${grants}/${grant.id}`), grant)
  const { body } = await api.ask<Acted>('DELETE', `${grants}/${grant.id}`)
  assert.deepEqual([body.grant.status, body.grant.because], ['ended', 'the operator took it back'])
  assert.deepEqual(await api.get(grants), { grants: [], next_cursor: null })
  const all = await api.get<{ grants: GrantRecord[] }>(`${grants}?status=all`)
  assert.equal(all.grants.length, 1)
  const missing = await api.refused('GET', `${grants}/grant_none`)
  assert.equal(missing.code, 'grant_not_found')
})
