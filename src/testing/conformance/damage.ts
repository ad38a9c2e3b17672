/**
 * Conformance of retention on a home that is not sound: what does not verify is not taken, and what
 * it leaves behind is verified too.
 */
import assert from 'node:assert/strict'
import type { Cases } from './case.ts'
import { always, inhabited, rowsOf } from './retention.ts'
import { messageAdmitted } from '../events.ts'

export const damageCases: Cases = {
  'what does not verify is not taken': async (store, home) => {
    const damages: [sql: string, said: RegExp][] = [
      [
        `update events set data = replace(data, 'water', 'wafer') where global_seq = 6`,
        /nothing more was cleared out: event evt_\S+ \(seq \d+ of main\) is not as it was written/,
      ],
      [
        `update turns set data = replace(data, 'a test', 'a jest')`,
        /nothing more was cleared out: turns turn_\S+ is not the fold of its events/,
      ],
    ]
    for (const [i, [sql, said]] of damages.entries()) {
      const folder = `${home}/${i}`
      const ledger = await store.open(folder)
      const { lane } = await inhabited(ledger)
      await ledger.close()
      await store.damage(folder, sql)
      lane.ledger = await store.open(folder)
      const before = await rowsOf(lane.ledger)
      await assert.rejects(lane.ledger.retain({ before: always, dry_run: false }), {
        name: 'LedgerFault',
        code: 'corrupt',
        retry: 'later',
        message: said,
      })
      assert.deepEqual(await rowsOf(lane.ledger), before)
      await lane.emit(messageAdmitted())
      await lane.ledger.close()
    }
  },

  'verify finds a changed baseline, a changed floor and a row without either': async (
    store,
    home,
  ) => {
    const damages: [sql: string, found: RegExp][] = [
      [
        `update baselines set data = replace(data, 'water', 'wafer')
          where subject_table = 'work_items'`,
        /^work_items work_\S+: differs .* objective \(stored "water .*, folded "wafer /m,
      ],
      [
        `update floors set hash = replace(hash, substr(hash, 1, 1), 'x') where agent_id = 'main'`,
        /^events evt_\S+: seq \d+ of main was changed/m,
      ],
      [
        `update floors set seq = seq - 1 where agent_id = 'main'`,
        /^events evt_\S+: seq \d+ of main follows seq \d+$/m,
      ],
      [
        `delete from baselines where subject_table = 'triggers'`,
        /^triggers trig_\S+: a row that no event made$/m,
      ],
      [
        `delete from work_items where state = 'open'`,
        /^work_items work_\S+: has events but no row$/m,
      ],
      [
        `update meta set pruned_global_seq = pruned_global_seq - 1`,
        /^events: global_seq \d+ follows \d+, so something is missing$/m,
      ],
    ]
    for (const [i, [sql, found]] of damages.entries()) {
      const folder = `${home}/${i}`
      const ledger = await store.open(folder)
      await inhabited(ledger)
      await ledger.retain({ before: always, dry_run: false })
      await ledger.close()
      await store.damage(folder, sql)
      const reader = await store.openReader(folder)
      assert.match((await reader.verify()).problems.join('\n'), found)
      await reader.close()
    }
  },
}
