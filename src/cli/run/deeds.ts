/**
 * What a run came to, from its events: what was said to the person, what was done, and the last
 * command, if it failed. A run in which nothing was said and nothing was done has failed, whatever
 * the model believed; a script that goes on at exit 0 relies on it.
 */
import type { Emitted } from '../../protocol/records/records.ts'

export type FailedCommand = { cmd: string; exit_status: number }

/**
 * Words by which a text speaks of a failure; of a text in another language it says that none was
 * mentioned, and the command is printed once too often.
 */
const failureWords =
  /fail|error|exit|broke|unable|could ?n[o']t|fehl|scheiter|échou|erreur|fall[óo]|失败|错误|失敗|エラー/i

export class RunDeeds {
  /** Texts delivered to the person, without the runtime's own about failures. */
  words = 0
  /** Calls that were answered, and how many of them with success. */
  calls = 0
  successes = 0
  /** The newest foreground command, if it failed and no later text speaks of a failure. */
  failed_command: FailedCommand | null = null
  readonly #commands = new Map<string, string>()

  take({ event }: Pick<Emitted, 'event'>): void {
    if (event.type === 'brief_delivered') {
      if (event.kind === 'failure' || event.text.trim() === '') return
      this.words += 1
      if (failureWords.test(event.text)) this.failed_command = null
    }
    if (event.type === 'call_recorded' && event.tool_name === 'ExecCommand') {
      // What a model sent that was no JSON is null.
      const { cmd } = (event.input ?? {}) as { cmd?: unknown }
      this.#commands.set(event.id, typeof cmd === 'string' ? cmd : 'a command')
    }
    if (event.type !== 'call_finished') return
    this.calls += 1
    if (event.result.status !== 'success') return
    this.successes += 1
    const cmd = this.#commands.get(event.id)
    if (cmd === undefined) return
    const { exit_status } = (event.result.result ?? {}) as { exit_status?: unknown }
    if (typeof exit_status !== 'number') return
    this.failed_command = exit_status === 0 ? null : { cmd, exit_status }
  }
}

/** How a turn ends that gave up instead of coming to its end, by its reason. */
const givenUp: Readonly<Record<string, string>> = {
  errors: 'the last turn ended because every call failed',
  round_limit: 'the last turn reached its limit of rounds',
  repeats: 'the last turn repeated itself',
  context_limit: 'the last turn grew too long',
}

/** Why a run that ended by itself has failed all the same; null: something was said or done. */
export function nothingCameOf(deeds: RunDeeds, reason: string | null): string | null {
  const gave = reason === null ? undefined : givenUp[reason]
  if (gave !== undefined) return gave
  if (deeds.words > 0 || deeds.successes > 0) return null
  if (deeds.calls > 0) return 'every call failed, and nothing was said'
  return reason === 'empty_answer'
    ? 'the model answered nothing'
    : 'nothing was said and nothing was done'
}
