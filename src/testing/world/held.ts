/** Held commands: an action as a policy judged it, and a command that waits for a person's yes. */
import { holdCommand, type Asked, type JudgedAgain } from '../../domain/approvals/held-command.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import type { ActionBody, ActionCommand, PolicyAction } from '../../domain/policy/action.ts'
import type { PolicyDecision } from '../../domain/policy/decision.ts'
import type { PolicyPort } from '../../runtime/ports.ts'
import { isHeld, type HeldTask } from '../../domain/state/task.ts'
import { actionBody, actionCommand } from '../action-body.ts'
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
  lifts: null,
})

/** `git push origin <word>` in the workspace, with git as it was at a time. */
export const aPush = (word: string, era: string | number = 0): ActionCommand =>
  actionCommand(['git', 'push', 'origin', word], {
    program: { kind: 'found', real_path: `/usr/bin/git-${era}`, area: 'outside', by: 'search' },
  })

/** As a policy judges a call whose text is that: a push of it. */
export function judgedPush(
  text: string,
  decide: PolicyDecision['decide'],
  { era, why, ...more }: Partial<ActionBody> & { era: string | number; why: string },
): { action: PolicyAction; decision: PolicyDecision } {
  const command = aPush(`of-${text.replaceAll(/\W+/g, '-')}`, era)
  const part = { kind: 'run', command } as const
  const action = anAction(`${era} ${text}`, { ...more, commands: [command] })
  const lifts = decide === 'ask' ? [part] : null
  return {
    action,
    decision: { decide, because: { by: 'no_part' }, part, why, revision: 'r', lifts },
  }
}

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
      return judgedPush(text, decide, { era: this.hash, why, item, origin, agent })
    },
  }
}
