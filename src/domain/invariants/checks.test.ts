/** 43, of checks: what the rows of an item show, and what only its history does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, itemRow, World } from '../../testing/world/agent-world.ts'
import type { Check } from '../state/check.ts'
import type { Event, StoredEvent } from '../state/event.ts'
import { checkHistory, checkRows } from './checks.ts'

const check = (name: string, run: object | null, kind = 'command') =>
  ({ name, kind, cmd: 'x', run }) as unknown as Check
const owed = { state: 'owed', n: 1 }
const running = (task_id: string) => ({ state: 'running', n: 1, task_id })
const finished = { state: 'finished', n: 1, outcome: 'passed' }

test('43: the rows show runs that no completion owes, and commands that are not alone', () => {
  const both = '"a" of work_0001 is owed, and the item is open'
  const rows: [expect: string[], done: boolean, checks: Check[], other?: Check[]][] = [
    [[], false, [check('a', null), check('b', null)]],
    [[], true, [check('a', owed), check('b', finished), check('c', running('task_1'))]],
    [['work_0001 has two checks of one name'], false, [check('a', null), check('a', null)]],
    [[both], false, [check('a', owed)]],
    [['"a" of work_0001 is not owed, and the item is completed'], true, [check('a', null)]],
    [['"a" of work_0001 is a file that runs'], true, [check('a', running('task_1'), 'file')]],
    [[], true, [check('a', owed, 'person'), check('b', finished, 'file')]],
    [
      ['task_1 runs two checks'],
      true,
      [check('a', running('task_1')), check('b', running('task_1'))],
    ],
    [
      ['task_1 and task_2 run checks at the same time'],
      true,
      [check('a', running('task_1'))],
      [check('a', running('task_2'))],
    ],
    [
      ['task_1 runs two checks'],
      true,
      [check('a', running('task_1'))],
      [check('b', running('task_1'))],
    ],
  ]
  for (const [expect, done, checks, other] of rows) {
    const w = new World()
    const ends = done ? ({ state: 'completed', completed_at: w.now } as const) : {}
    for (const given of [checks, ...(other ? [other] : [])]) {
      const id = item(w)
      w.facts.include('work_items', { ...itemRow(w, id), ...ends, checks: given })
    }
    assert.deepEqual([...(checkRows['43']?.(w.facts) ?? [])], expect)
  }
})

const e = (type: Event['type'], fields: object) => ({ type, id: 'work_a', ...fields }) as Event
const set = (by: string, ...checks: Check[]) => e('work_item_created', { by, checks })
const changes = (by: string, changed: object) => e('work_item_updated', { by, changed })
const starts = (name: string, n = 1) => e('check_started', { name, n })
const ends = (name: string, by: string, outcome = 'passed') =>
  e('check_finished', { name, by, outcome })

test('43: the history shows who set checks, what began twice, and who ended what', () => {
  const [machine, person] = [check('m', null), check('p', null, 'person')]
  const both = set('operator', machine, person)
  const rows: [expect: string[], ...Event[]][] = [
    [[], both, starts('m'), ends('m', 'runtime'), ends('p', 'operator')],
    [['43: agent set the checks of work_a'], set('agent', machine)],
    [['43: runtime set the checks of work_a'], changes('runtime', { checks: [machine] })],
    [[], changes('operator', { checks: [machine] })],
    [[], changes('agent', { objective: 'x' }), e('work_item_created', { by: 'agent' })],
    [['43: the command of work_a m 1 began twice'], both, starts('m'), starts('m')],
    [[], both, starts('m'), starts('m', 2), starts('x')],
    [['43: "m" of work_a was ended by the operator'], both, ends('m', 'operator')],
    [['43: "p" of work_a was ended by the runtime'], both, ends('p', 'runtime')],
    [[], both, ends('p', 'runtime', 'unknown')],
    [['43: "m" of work_a was ended by the operator'], both, ends('m', 'operator', 'unknown')],
    [[], ends('m', 'operator'), ends('p', 'runtime')],
    [
      ['43: "m" of work_a was ended by the runtime'],
      both,
      changes('operator', { checks: [check('m', null, 'person')] }),
      ends('m', 'runtime'),
    ],
  ]
  for (const [expect, ...events] of rows) {
    const stored = events.map((event) => ({ event }) as StoredEvent)
    assert.deepEqual(checkHistory(stored), expect)
  }
})
