/** Held commands: an action as a policy judged it, and a command that waits for a person's yes. */
import { holdCommand, type Asked, type JudgedAgain } from '../../domain/approvals/held-command.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import type { ActionBody, PolicyAction } from '../../domain/policy/action.ts'
import type { PolicyPort } from '../../runtime/ports.ts'
import { isHeld, type HeldTask } from '../../domain/state/task.ts'
import { actionBody } from '../action-body.ts'
import type { World } from './agent-world.ts'

/** `git push` in the workspace, of which only the hash says anything. */
export const anAction = (sha256 = 'a1b2c3', more: Partial<ActionBody> = {}): PolicyAction => ({
  ...actionBody(more),
  sha256,
})

export const askedOf = (action = anAction()): Asked => ({
  action,
  because: 'remote writes ask',
  policy_revision: 'rev-1',
  lapses_at: null,
})

/** The same as it was asked, judged again. */
export const sameAgain = (asked = askedOf()): JudgedAgain => ({ verdict: 'ask', ...asked })

export function hold(
  w: World,
  { item = null, ...asked }: Partial<Asked> & { item?: WorkItemId | null } = {},
): HeldTask {
  const id = w.mint('task')
  w.do((d) =>
    holdCommand(d, {
      ...askedOf(),
      ...asked,
      id,
      call_id: 'call_0001',
      work_item_id: item,
      label: 'git push',
      cmd: 'git push',
      workdir: '/w',
      timeout_ms: null,
      input: 'none',
      output_path: `/holon/tasks/${id}`,
    }),
  )
  const task = w.row('tasks', id)
  if (!isHeld(task)) throw new Error(`${id} is ${task.status}`)
  return task
}

/** A policy that asks about every command with a word, and is told what it judges by. */
export function asksAbout(word: string): PolicyPort & { hash: string; verdict: 'ask' | 'deny' } {
  return {
    hash: 'as-it-was',
    verdict: 'ask',
    async judge({ input, item, origin, agent }) {
      const text = JSON.stringify(input)
      const isAsked = text.includes(word)
      const decide = isAsked ? this.verdict : 'allow'
      const why = isAsked ? `${word} asks` : 'it may run'
      const action = anAction(`${this.hash} ${text}`, { item, origin, agent })
      const because = { by: 'no_part' } as const
      const decision = { decide, because, part: { kind: 'call' }, why, revision: 'r' } as const
      return { action, decision }
    },
  }
}
