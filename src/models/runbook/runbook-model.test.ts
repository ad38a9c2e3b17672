import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelEvent } from '../model.ts'
import {
  callsOf,
  exit,
  handle,
  kept,
  message,
  ok,
  plan,
  request,
  roundOf,
  row,
  situation,
  textOf,
  view,
  wait,
} from '../../testing/runbook-situations.ts'
import { runbookModel } from './runbook-model.ts'
import type { RunbookRound } from './situation.ts'

/** A run of `plan` from its message to its report, every turn but the first in `earlier`. */
async function wholeRun(): Promise<{ report: string; again: string }> {
  const rounds: RunbookRound[] = []
  const play = async (marks: string, more: Parameters<typeof situation>[0], results: unknown[]) => {
    const s = situation({ item: view(row(marks)), earlier: [...rounds], ...more })
    const round = await roundOf(s)
    rounds.push(kept(round, ...results.map((result) => result as ReturnType<typeof ok>)))
    return { s, round }
  }
  const step = (number: number, wake: 'timer' | 'operator_input' | 'external') =>
    wait({ wake, condition: `runbook step ${number}`, id: `wait_${number}` })

  await play('.....', {}, [ok(), handle])
  await play('>....', {}, [ok()])
  const output = { task_id: 'task_1', status: 'completed', exit_status: 0 }
  await play('>....', {}, [ok({ ...output, stdout: 'front door\nall 4 doors locked\n' })])
  await play('>....', {}, [ok(), exit(7, '', 'no such lamp\n')])
  await play('x>...', {}, [ok(), ok()])
  await play('x.>..', { item: view(row('x.>..'), [step(3, 'timer')]) }, [ok(), ok()])
  const answer = message('yes, sleep well', { wait_id: 'wait_4', work_item_id: 'work_1' })
  const asked = view(row('x.x>.'), [step(4, 'operator_input')])
  await play('x.x>.', { item: asked, messages: [answer] }, [ok(), ok()])
  const came = { ...step(5, 'external'), status: 'active' as const, trigger_count: 1 }
  const { s, round } = await play('x.xx>', { item: view(row('x.xx>'), [came]) }, [ok(), ok()])
  assert.deepEqual(
    callsOf(round).map(([name]) => name),
    ['UpdateWorkItem', 'CompleteWorkItem'],
  )
  const item = view(row('x.xxx', { state: 'completed' }))
  const after = situation({ ...s, item, rounds: rounds.slice(-1), messages: [] })
  return { report: textOf(round), again: textOf(await roundOf(after, 'none')) }
}

test('the report tells what became of every step', async (t) => {
  const { report } = await wholeRun()
  t.assert.snapshot(report, { serializers: [(text: unknown) => String(text)] })
})

test('asked for the report after the completion, it says the same again', async () => {
  const { report, again } = await wholeRun()
  assert.equal(again, report)
})

test('a long turn keeps the results of all its steps among its last twenty rounds', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `s${index + 1}`)
  const steps = names.map((name) => `## ${name}\n~~~sh\n${name}\n~~~\n`)
  const plan_text = `# Long\n${steps.join('')}`
  const rounds: RunbookRound[] = []
  let text = ''
  for (let done = 0; done <= 60; done += 1) {
    const todo_list = names.map((name, index) => ({
      text: name,
      state: index < done - 1 ? ('completed' as const) : ('pending' as const),
    }))
    if (done > 0) todo_list[done - 1] = { text: `s${done}`, state: 'in_progress' as never }
    const item = view(row('', { todo_list, objective: 'Long' }))
    // As if the turn had ended at its middle: the later half sees only what `earlier` holds.
    const split = done >= 35 ? 35 : 0
    const s = situation({
      item,
      plan_text,
      earlier: rounds.slice(0, split).slice(-20),
      rounds: rounds.slice(split),
    })
    const round = await roundOf(s)
    rounds.push(kept(round, ok(), exit(0, `did s${done + 1}\n`)))
    text = textOf(round)
  }
  const expected = names.map((name, index) => `${index + 1}. ${name}: did ${name} (exit 0)`)
  assert.equal(text, ['Long: all 60 steps done.', '', ...expected].join('\n'))
})

test('the same situation gives the same round', async () => {
  const s = situation({ item: view(row('.....')) })
  assert.deepEqual(await roundOf(s), await roundOf(structuredClone(s)))
})

test('the round streams its text and calls, and costs no tokens', async () => {
  const events: ModelEvent[] = []
  const { signal } = new AbortController()
  const s = situation({ item: view(row('.....')) })
  const outcome = await runbookModel().request(request(s), {
    signal,
    on_event: (event) => events.push(event),
  })
  assert.deepEqual(events, [
    { type: 'text_delta', text: 'Step 1 of 5: Lock' },
    { type: 'tool_call_started', tool_name: 'UpdateWorkItem' },
    { type: 'tool_call_started', tool_name: 'ExecCommand' },
  ])
  assert.ok(outcome.ok)
  const { parts: _, ...round } = outcome.round
  assert.deepEqual(round, {
    finish: 'tool_calls',
    usage: {
      input_tokens: 0,
      output_tokens: 0,
      reasoning_tokens: 0,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
    },
    model: 'runbook',
    response_id: null,
  })
})

test('an aborted request is answered with the abort', async () => {
  const aborting = new AbortController()
  aborting.abort()
  const s = situation({ messages: [message(plan)] })
  const outcome = await runbookModel().request(request(s), { signal: aborting.signal })
  assert.deepEqual(outcome.ok ? null : outcome.fault.kind, 'aborted')
})

test('a request without a situation is a bug of the caller', async () => {
  const { signal } = new AbortController()
  await assert.rejects(runbookModel().request(request(null), { signal }), /needs the situation/)
  const partial = { ...situation(), rounds: undefined }
  await assert.rejects(runbookModel().request(request(partial), { signal }), /lacks rounds/)
})
