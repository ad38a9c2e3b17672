/**
 * Histories of completed items and their checks, made by the real rules: one that ends verified,
 * after a check had failed and was run again, and one that does not.
 */
import type { CheckGiven } from '../../domain/checks/spec.ts'
import type { CheckRunEnd } from '../../domain/state/check.ts'
import { finishRun, startCommand } from '../../domain/checks/checks.ts'
import { completeItem } from '../../domain/work/complete.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import { endTask } from '../../domain/inbox/admit.ts'
import { item, say, World } from '../world/agent-world.ts'
import { act, begin, end, turnOf } from '../world/turns.ts'
import { does } from '../world/operator-inputs.ts'

const tests: CheckGiven = { kind: 'command', name: 'tests', cmd: 'npm test' }
const page: CheckGiven = { kind: 'http', name: 'page', url: 'http://127.0.0.1/', status: 200 }
const look: CheckGiven = { kind: 'person', name: 'look', question: 'Does it look right?' }
const tree = { hash: '5d41402a', problem: null } as const

function completed(w: World, objective: string, checks: readonly CheckGiven[]): WorkItemId {
  say(w, { text: objective })
  begin(w)
  const id = item(w, { objective, focus: true })
  w.do((d) => d.emit({ type: 'turn_bound', id: turnOf(w).id, work_item_id: id }))
  does(w, { do: 'update_item', work_item_id: id, checks: [...checks] })
  act(w, { tool: 'CompleteWorkItem' }, (d) =>
    completeItem(d, { work_item_id: id, by: 'agent', report: 'It is done.', turn: turnOf(w) }),
  )
  end(w)
  return id
}

type Run = { id: WorkItemId; name: string; n: number }
type Outcome = Pick<CheckRunEnd, 'outcome' | 'exit_status' | 'tail'>

function finished(w: World, { id, name, n }: Run, outcome: Outcome): void {
  const started_at = w.now
  w.pass(900)
  const run = { work_item_id: id, name, n }
  const how: CheckRunEnd = {
    reason: null,
    tree: { before: tree, after: tree },
    started_at,
    ...outcome,
  }
  w.do((d) => finishRun(d, run, how, 'runtime'))
}

/** A check that is a command runs as a task, which is told as the check. */
function ran(w: World, run: Run, outcome: Outcome): void {
  const task_id = `task_${run.name}_${run.n}` as const
  const name = { work_item_id: run.id, name: run.name, n: run.n }
  const start_place = { boot: 'boot', tasks: 'tasks' }
  w.do((d) =>
    startCommand(d, name, { task_id, workdir: '/w', start_place, output_path: '/t', tree }),
  )
  const { exit_status } = outcome
  w.do((d) => {
    d.emit({ type: 'task_started', id: task_id, pid: 5, started_at: w.now })
    const how = { status: 'completed', exit_status, reason: null } as const
    return endTask(d, { task_id, ...how, output_bytes: 9, ended_at: w.now, body: '' })
  })
  finished(w, run, outcome)
}

const passed = (exit_status: number | null): Outcome => ({
  outcome: 'passed',
  exit_status,
  tail: '',
})
const failing: Outcome = {
  outcome: 'failed',
  exit_status: 1,
  tail: 'ok 1\nok 2\nnot ok 3\n1 failed\n',
}

export function checkedTwice(): World {
  const w = new World()
  const id = completed(w, 'Port the fixtures', [tests, page, look])
  ran(w, { id, name: 'tests', n: 1 }, failing)
  finished(w, { id, name: 'page', n: 1 }, passed(200))
  w.pass(60_000)
  does(w, { do: 'run_checks', work_item_id: id, names: ['tests'] })
  ran(w, { id, name: 'tests', n: 2 }, passed(0))
  does(w, {
    do: 'answer_check',
    work_item_id: id,
    name: 'look',
    run: 1,
    passed: true,
    words: 'with the new logo',
  })
  return w
}

export function checkFailed(): World {
  const w = new World()
  const id = completed(w, 'Write the guide', [tests, page])
  ran(w, { id, name: 'tests', n: 1 }, failing)
  return w
}
