/** `holon tui <item>` as it is typed: what the screen is told to open, on a home of the real program. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ScreenLook } from '../src/cli/command/screen-port.ts'
import { ServedHome } from './support/served-home.ts'
import { plain, printed } from './support/typed-command.ts'

test('an item is found in the whole ledger, however long it is done', async (t) => {
  const at = new ServedHome(t)
  const file = at.write('done.md', '# Done\n\n## Do\n\n```sh\ntrue\n```\n')
  assert.equal((await at.holon('run', file)).exit, 0)
  const { work_items } = await at.json<{ work_items: { id: string; agent_id: string }[] }>(
    ...['work', 'list', '--all'],
  )
  const [{ id, agent_id } = { id: '', agent_id: '' }] = work_items
  const opened: ScreenLook['opens'][] = []
  const others = {
    owner: () => Promise.resolve({ pid: 1, owner_since: '2026-11-21T14:00:00.000Z' }),
    screen: (_: string, { opens }: ScreenLook) => {
      opened.push(opens)
      return Promise.resolve('left' as const)
    },
  }
  const item = { agent_id, work_item_id: id }
  const unknown = 'work_00000000'
  for (const named of [id, id.slice(0, -4), id.slice(-4), agent_id, unknown]) {
    await printed(at.home, ['tui', named], plain, others)
  }
  assert.deepEqual(opened, [item, item, item, agent_id, unknown])
})
