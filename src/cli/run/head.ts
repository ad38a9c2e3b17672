/** The first line of a run: who works with what, and where. */
import type { Agent } from '../../protocol/records/records.ts'
import { safeLine } from '../../present/text/safe.ts'
import type { Context } from '../command/context.ts'
import { tilde } from '../command/settings.ts'

/** `agent main, model runbook (no key, no cost), home ~/.local/state/holon`. */
export function headLine(context: Context, agents: readonly Agent[]): string {
  const names = agents.map(({ id, model }) => {
    const free = model === 'runbook' ? ' (no key, no cost)' : ''
    return `agent ${id}, model ${model ?? 'none'}${free}`
  })
  const who = names.length === 0 ? 'no agent' : names.join('; ')
  return safeLine(`${who}, home ${tilde(context.ports, context.home.value)}`)
}
