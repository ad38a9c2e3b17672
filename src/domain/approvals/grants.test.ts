// Grants: made by an answer, used by what they cover, over with what they are for.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { item, World } from '../../testing/world/agent-world.ts'
import { anAction, aPush, askedOf, hold, sameAgain } from '../../testing/world/held.ts'
import { does, refusal } from '../../testing/world/operator-inputs.ts'
import { begin, end } from '../../testing/world/turns.ts'
import { queueCommand } from '../agents/tasks.ts'
import { deleteAgent, stopAgent } from '../agents/lifecycle.ts'
import type { WorkItemId } from '../ids.ts'
import { violations } from '../invariants/of-an-agent.ts'
import { limits } from '../limits.ts'
import type { ActionBody } from '../policy/action.ts'
import type { Grant } from '../state/grant.ts'
import { day, plus } from '../time.ts'
import { completeItem } from '../work/complete.ts'
import { coveredBy, grantFor, grantWords, lapseGrants } from './grants.ts'
import { type Asked } from './held-command.ts'
import { heldChoices, heldHash } from './held-text.ts'

const asked = (word: string, item: WorkItemId | null, more: Partial<ActionBody> = {}): Asked => {
  const command = aPush(word)
  const action = anAction(`push ${word} of ${item}`, { commands: [command], item, ...more })
  return { ...askedOf(action), lifts: [{ kind: 'run', command }] }
}

/** An item of which a push of v1 is held. */
function held(agent = 'main') {
  const w = new World(agent)
  const id = item(w, { focus: true })
  begin(w)
  const of = asked('v1', id, { agent })
  const task = hold(w, { ...of, item: id })
  end(w, { text: 'I asked.' })
  const answer = (choice: string) =>
    ({ do: 'answer_held', task_id: task.id, bound_hash: heldHash(task), choice }) as const
  const again = { again: sameAgain(of) }
  return { w, id, of, task, answer, again }
}

function granted(choice: string) {
  const known = held()
  does(known.w, known.answer(choice), known.again)
  const [grant] = known.w.all('grants')
  assert.ok(grant, 'nothing was granted')
  return { ...known, grant }
}

const covers = (w: World, word: string, item: WorkItemId | null): Grant | null =>
  coveredBy(w.facts, asked(word, item), item, w.now)

describe('an answer for longer than once', () => {
  test('is offered from narrow to broad, each with what it would allow and what not', () => {
    const { task } = held()
    assert.deepEqual(heldChoices(task), [
      { key: 'yes', label: 'run it, this once' },
      {
        key: 'same_for_item',
        label: 'exactly this for this item: word for word in this folder, not with a word more',
      },
      {
        key: 'like_for_item',
        label:
          '`git push origin …` for this item: also git push origin another, not git push other',
      },
      {
        key: 'like_for_agent',
        label:
          '`git push origin …` for all that this agent does, for 7 days: also git push origin ' +
          'another, not git push other',
      },
      { key: 'no', label: 'do not run it' },
    ])
  })

  test('without an item there is nothing that ends with one', () => {
    const w = new World()
    const task = hold(w, asked('v1', null))
    const keys = heldChoices(task).map(({ key }) => key)
    assert.deepEqual(keys, ['yes', 'like_for_agent', 'no'])
  })

  test('runs the command, and the grant says who gave it, at what, and until when', () => {
    const { w, id, grant, task } = granted('like_for_agent')
    assert.equal(w.row('tasks', task.id).status, 'queued')
    const { scope, ...rest } = grant
    assert.deepEqual(rest, {
      id: 'grant_0001',
      agent_id: 'main',
      work_item_id: null,
      task_id: task.id,
      surface: 'cli_prompt',
      until: plus(w.now, 7 * day),
      uses: 0,
      last_used_at: null,
      status: 'active',
      because: null,
      created_at: w.now,
      ended_at: null,
    })
    assert.equal(scope.kind, 'like_for_agent')
    assert.equal(grantWords(grant), 'git push origin … in /w')
    assert.equal(granted('same_for_item').grant.work_item_id, id)
    assert.deepEqual(violations(w.whole(), w.events), [])
  })

  test('is named by its number, too; a yes for once and a no grant nothing', () => {
    const { w, answer, again } = held()
    does(w, answer('3'), again)
    assert.equal(w.all('grants')[0]?.scope.kind, 'like_for_item')
    for (const choice of ['1', 'yes', '5', 'no']) {
      const other = held()
      does(other.w, other.answer(choice), other.again)
      assert.deepEqual(other.w.all('grants'), [])
    }
    assert.equal(refusal(held().w, held().answer('6'), again), 'choice_unknown')
  })

  test('is none where a rule asks by now that gives way to nobody: it is asked anew', () => {
    const { w, of, task, answer } = held()
    does(w, answer('like_for_item'), { again: sameAgain({ ...of, lifts: null }) })
    const now = w.row('tasks', task.id)
    assert.deepEqual([now.status, w.all('grants')], ['held', []])
    assert.match(now.held?.changed ?? '', /gives way to nobody/)
    assert.equal(now.held?.grantable, null)
  })

  test('is refused where as many are in force as may', () => {
    const { w, answer, again, grant } = { ...held(), grant: granted('like_for_agent').grant }
    w.do((d) => {
      for (let n = 0; n < limits.grants.value; n += 1) {
        const { agent_id: _, uses: _u, status: _s, ...row } = grant
        const { last_used_at: _l, because: _b, created_at: _c, ended_at: _e, ...given } = row
        d.emit({ type: 'grant_made', ...given, id: d.mint('grant') })
      }
    })
    assert.equal(refusal(w, answer('same_for_item'), again), 'over_limit')
    does(w, answer('yes'), again)
  })
})

describe('a grant', () => {
  test('covers what it says, of its item or of all of its agent', () => {
    const same = granted('same_for_item')
    const [own, another] = [same.id, item(same.w)]
    assert.equal(covers(same.w, 'v1', own)?.id, same.grant.id)
    assert.equal(covers(same.w, 'v2', own), null)
    const like = granted('like_for_item')
    assert.equal(covers(like.w, 'v2', like.id)?.id, like.grant.id)
    assert.equal(covers(like.w, 'v2', another), null)
    assert.equal(covers(like.w, 'v2', null), null)
    const all = granted('like_for_agent')
    for (const one of [all.id, another, null]) {
      assert.equal(covers(all.w, 'v2', one)?.id, all.grant.id)
    }
  })

  test('covers nothing where no part may be lifted', () => {
    const { w, id } = granted('like_for_agent')
    assert.equal(coveredBy(w.facts, { ...asked('v1', id), lifts: null }, id, w.now), null)
  })

  test('counts each command that is queued by it, and none that is refused', () => {
    const { w, id, grant } = granted('like_for_item')
    const task = {
      cmd: 'git push origin v2',
      workdir: '/w',
      work_item_id: id,
      output_path: '/x',
      start_place: { boot: 'boot', tasks: 'tasks' },
      grant_id: grant.id,
    }
    const queues = () => w.try((d) => queueCommand(d, { ...task, id: d.mint('task') }))
    for (let n = 1; n < limits.running_tasks.value; n += 1) {
      w.pass(1_000)
      assert.equal(queues(), null)
      const { uses, last_used_at } = w.row('grants', grant.id)
      assert.deepEqual([uses, last_used_at], [n, w.now])
    }
    assert.equal(queues()?.code, 'over_limit')
    assert.equal(w.row('grants', grant.id).uses, limits.running_tasks.value - 1)
    assert.deepEqual(violations(w.whole(), w.events), [])
  })

  test('taken back it covers nothing more, and a command on its way is refused', () => {
    const { w, id, grant } = granted('like_for_item')
    const revoke = { do: 'revoke_grant', grant_id: grant.id } as const
    assert.equal(
      does(w, revoke).said,
      `${grant.id} is revoked; what it allowed is asked about again.`,
    )
    assert.equal(covers(w, 'v1', id), null)
    assert.equal(
      w.refused((d) => grantFor(d, asked('v1', id), id)),
      'grant_ended',
    )
    assert.match(does(w, revoke).said, /ended before: the operator took it back/)
    assert.equal(refusal(w, { ...revoke, grant_id: 'grant_x' }), 'grant_not_found')
  })

  test('ends with its item, and not with another', () => {
    const { w, id, grant } = granted('same_for_item')
    const other = item(w)
    w.do((d) =>
      completeItem(d, { by: 'operator', work_item_id: other, report: 'Done.', turn: null }),
    )
    assert.equal(w.row('grants', grant.id).status, 'active')
    w.do((d) => completeItem(d, { by: 'operator', work_item_id: id, report: 'Done.', turn: null }))
    assert.equal(w.row('grants', grant.id).because, 'its item is completed')
    assert.equal(covers(w, 'v1', id), null)
    assert.deepEqual(violations(w.whole(), w.events), [])
  })

  test('ends at its date, whoever looks first', () => {
    const { w, id, grant } = granted('like_for_agent')
    w.pass(7 * day - 1)
    assert.equal(covers(w, 'v2', id)?.id, grant.id)
    w.do(lapseGrants)
    assert.equal(w.row('grants', grant.id).status, 'active')
    w.pass(1)
    assert.equal(covers(w, 'v2', id), null)
    assert.equal(
      w.refused((d) => grantFor(d, asked('v2', id), id)),
      'grant_ended',
    )
    w.do(lapseGrants)
    assert.equal(w.row('grants', grant.id).because, 'its date has come')
  })

  test('ends with its agent’s stop, and with its end', () => {
    const { w, grant } = granted('like_for_agent')
    w.do(stopAgent)
    assert.equal(w.row('grants', grant.id).because, 'its agent is stopped')
    const other = held('docs')
    does(other.w, other.answer('no'), other.again)
    const known = held('docs')
    does(known.w, known.answer('like_for_agent'), known.again)
    known.w.do((d) => {
      d.emit({ type: 'task_ended', id: known.task.id, ...ended(known.w) })
    })
    known.w.do(deleteAgent)
    assert.equal(known.w.all('grants')[0]?.because, 'the agent was deleted')
  })
})

const ended = (w: World) =>
  ({
    status: 'completed',
    reason: null,
    exit_status: 0,
    output_bytes: 0,
    ended_at: w.now,
  }) as const
