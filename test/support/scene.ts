/**
 * A scene: a stage whose model follows a script that may ask the stage for ids, and the questions
 * that several whole-host tests put to its rows.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Json } from '../../src/ports/json.ts'
import { calls, scriptedModel } from '../../src/testing/scripted-model.ts'
import { completes, creates, inOrder, picks, waitsFor, type Answer } from './scripts.ts'
import { openStage, type Stage } from './stage.ts'

export const report = (what: string) => `${what} is done. I checked it twice.`

export type Scene = Stage & { model: ReturnType<typeof scriptedModel> }

/** A stage whose model makes the item `A`, takes it up, and then says `then`, answer by answer. */
export async function onA(
  t: TestContext,
  ...then: readonly ((s: Stage) => Answer)[]
): Promise<Scene> {
  return scene(
    t,
    () => creates('A'),
    (s) => picks(s.id('A')),
    ...then,
  )
}

export async function scene(
  t: TestContext,
  ...script: readonly ((s: Stage) => Answer)[]
): Promise<Scene> {
  const box: { stage: Stage | null } = { stage: null }
  const model = scriptedModel(
    inOrder(
      ...script.map((answer) => (request: Parameters<Extract<Answer, Function>>[0]) => {
        assert.ok(box.stage)
        const given = answer(box.stage)
        return typeof given === 'function' ? given(request) : given
      }),
    ),
  )
  const stage = (box.stage = await openStage(t, { model }))
  return Object.assign(stage, { model })
}

export const done = (objective: string) => (s: Stage) =>
  completes(s.id(objective), report(objective))
/** The same although something of it still runs. */
export const doneAnyway = (objective: string) => (s: Stage) =>
  calls(report(objective), {
    name: 'CompleteWorkItem',
    input: { work_item_id: s.id(objective), leave_running: true },
  })
export const waiting =
  (wake: string, more: Readonly<Record<string, Json>> = {}) =>
  () =>
    calls(waitsFor(wake, more))

export const causes = async (s: Stage) => (await s.rows('turns')).map(({ cause }) => cause.kind)
export const stateOf = async (s: Stage, objective: string) =>
  (await s.rows('work_items')).find((item) => item.objective === objective)?.state
export const switches = async (s: Stage) =>
  (await s.eventsOf('work_item_picked')).map(({ switch_kind }) => switch_kind)
export const errors = async (s: Stage) =>
  (await s.rows('calls')).map(({ tool_name, result }) => [
    tool_name,
    result?.status === 'error' ? result.error.kind : result?.status,
  ])
export const statuses = async (s: Stage) => (await s.rows('messages')).map(({ status }) => status)

export const todo = (text: string): Json => [{ text, state: 'pending' }]
