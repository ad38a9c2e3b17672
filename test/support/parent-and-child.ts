/**
 * A parent and its children with scripted models on a box: each model is a list of rounds, and one
 * that has no more to say ends its turns. What the test asks of the ledger comes back whole.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Json } from '../../src/ports/json.ts'
import type { ModelRequest } from '../../src/models/model.ts'
import { openBox, type HostFixture, type BoxOptions } from '../../src/testing/host/host-fixture.ts'
import {
  calls,
  says,
  scriptedModel,
  type Scripted,
  type ScriptedModel,
} from '../../src/testing/scripted-model.ts'
import { textOf } from '../../src/testing/scenarios/three-children.ts'

/** The nth round of a model, given its request as one text. */
export type Step = (text: string, request: ModelRequest) => Scripted | Promise<Scripted>

export const call = (name: string, input: Json) => ({ name, input })

/** Says these rounds in order, and then nothing but that it is over. */
export const steps = (...rounds: readonly Step[]): ScriptedModel =>
  scriptedModel(
    (request, n) => rounds[n - 1]?.(textOf(request), request) ?? says('There is no more.'),
  )

/** Ids of `prefix` in a text, oldest first, each once. */
export const idsIn = (text: string, prefix: string): string[] => [
  ...new Set(text.match(new RegExp(`${prefix}_[0-9a-f-]{4,36}`, 'g')) ?? []),
]

export const lastId = (text: string, prefix: string): string => idsIn(text, prefix).at(-1) ?? ''

export const create =
  (objective: string): Step =>
  () =>
    calls(call('CreateWorkItem', { objective }))
export const pick: Step = (text) =>
  calls(call('PickWorkItem', { work_item_id: /Created (work_\S+?)\./.exec(text)?.[1] ?? '' }))

type Family = HostFixture & { parent: ScriptedModel; child: ScriptedModel; agent: string }

/** An agent whose model is `parent`; children are to be spawned with the model `a/child`. */
export async function openFamily(
  t: TestContext,
  {
    parent,
    child,
    agent = 'main',
    ...more
  }: { parent: ScriptedModel; child: ScriptedModel; agent?: string } & Partial<BoxOptions>,
): Promise<Family> {
  const models = { 'a/parent': parent, 'a/child': child, ...more.models }
  const box = await openBox(t, { ...more, models })
  await box.host.open()
  const workspace = { mode: 'explicit_root', root: box.workspace } as const
  const made = await box.host.ensureAgent({ id: agent, model: 'a/parent', workspace })
  assert.equal(made.ok, true)
  return { ...box, parent, child, agent }
}

export const spawn = (initial_message: string, more: Record<string, Json> = {}) =>
  call('SpawnAgent', { initial_message, model: 'a/child', ...more })

export async function tell(box: HostFixture, text: string, agent_id = 'main'): Promise<void> {
  const sent = await box.host.act({ do: 'send', agent_id, text })
  assert.equal(sent.ok, true, JSON.stringify(sent))
}

/** Resolves with the first event of this kind about the agent that `is` accepts. */
export async function happens(
  box: HostFixture,
  agent_id: string,
  type: string,
  is: (event: Record<string, unknown>) => boolean = () => true,
): Promise<void> {
  await box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.agent_id === agent_id &&
      notice.events.some(({ event }) => event.type === type && is({ ...event })),
    `${type} of ${agent_id}`,
  )
}

/** What the calls of an agent were told, oldest first: of an error, code and sentence. */
export async function told(box: HostFixture, agent_id: string): Promise<string[]> {
  const rows = await box.ledger.page('calls', { order: 'oldest', limit: 200, agent_id })
  return rows.entries.map(({ row: { tool_name, result } }) => {
    if (result === null) return `${tool_name}: nothing`
    if (result.status === 'success') return `${tool_name}: ${result.summary}`
    return `${tool_name}: ${result.error.code}: ${result.error.message}`
  })
}
