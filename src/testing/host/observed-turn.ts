/**
 * One turn with everything in it that telemetry may see: words of a person, an invented tool, a
 * command in the shell, a request that fails once, and a report. Each text that somebody else wrote
 * holds `canary`: wherever that word shows up, content got out.
 */
import type { TestContext } from 'node:test'
import type { Clock } from '../../exec/ports.ts'
import type { HostNotice } from '../../runtime/ports.ts'
import { openBox, type HostFixture } from './host-fixture.ts'
import { calls, fails, says, scriptedModel, type Scripted } from '../scripted-model.ts'

export const canary = 'canary-5f1d'

export async function observedTurn(
  t: TestContext,
  listener: (notice: HostNotice) => void,
  clock?: Clock,
): Promise<HostFixture> {
  const itemOf = (): string => {
    const items = [...(box.host.facts('main')?.rows('work_items') ?? [])]
    return items[0]?.id ?? 'work_none'
  }
  const answers: readonly (() => Scripted)[] = [
    () => fails({ kind: 'world', code: 'overloaded', retry_after_ms: 1 }),
    () =>
      calls(
        `I will ${canary}.`,
        { name: 'CreateWorkItem', input: { objective: `Do ${canary}` } },
        { name: `Invented-${canary}`, input: { text: canary } },
      ),
    () => calls({ name: 'PickWorkItem', input: { work_item_id: itemOf() } }),
    () => calls({ name: 'ExecCommand', input: { cmd: `echo ${canary}` } }),
    () =>
      calls(`All of ${canary} is done. It was echoed once, and its output was read.`, {
        name: 'CompleteWorkItem',
        input: { work_item_id: itemOf() },
      }),
  ]
  const model = scriptedModel((_, n) => answers[n - 1]?.() ?? says('There is nothing left.'))
  const box = await openBox(t, { models: { default: model }, ...(clock ? { clock } : {}) })
  box.host.subscribe(listener)
  await box.makeAgent('acme/thinker-1')
  const resting = box.rests('main')
  await box.host.open()
  await resting
  const sent = await box.host.act({ do: 'send', agent_id: 'main', text: `Please ${canary}.` })
  if (!sent.ok) throw new Error(sent.message)
  const ended = await box.until(
    (notice) =>
      notice.kind === 'committed' && notice.events.some(({ event }) => event.type === 'turn_ended'),
    'the turn to end',
  )
  await box.until(
    (notice) =>
      notice.kind === 'resting' && box.notices.lastIndexOf(notice) > box.notices.indexOf(ended),
    'the rest after the turn',
  )
  return box
}
