/**
 * Waiting for a command: until it ends, its window is over, the operator aborts, Holon closes,
 * or an interjected message waits, whichever is first. A short command is not cut by words: they
 * come with the next request, and that is soon. Nothing is left behind: every loser is cancelled.
 */
import type { TaskId } from '../../domain/ids.ts'
import type { TaskProcess } from '../../exec/ports.ts'
import type { ProcessFault } from '../../exec/commands/process-fault.ts'
import { limits } from '../../domain/limits.ts'
import { isProcessFault } from '../tool/faults.ts'
import { beginTask } from './task-stopping.ts'
import type { ToolContext } from '../tool/tool.ts'

export type WatchOutcome =
  | { how: 'ended'; process: TaskProcess }
  | { how: 'window_over' | 'interjected' | 'closing' | 'aborted' }
  /** The machine cannot follow it any more; the command itself goes on. */
  | { how: 'unwatchable'; fault: ProcessFault }

/** Made once: an abort without a reason makes an exception with a stack, at every command. */
const decided = new Error('the wait for the command is over')

export async function watch(
  ctx: ToolContext,
  id: TaskId,
  window_ms: number,
  /** A waiting message ends the wait from this moment on, of `monotonic`. */
  pushed_from = 0,
): Promise<WatchOutcome> {
  const over = new AbortController()
  const words = async (): Promise<WatchOutcome> => {
    await aborted(ctx.interjected, over.signal)
    const left = pushed_from - ctx.monotonic()
    if (left > 0) await ctx.sleep(left, over.signal)
    return { how: 'interjected' }
  }
  try {
    return await Promise.race<WatchOutcome>([
      ctx.processes.ended(id, over.signal).then((process) => ({ how: 'ended', process })),
      aborted(ctx.signal, over.signal).then(() => ({ how: 'aborted' })),
      aborted(ctx.closing, over.signal).then(() => ({ how: 'closing' })),
      words(),
      ctx.sleep(window_ms, over.signal).then(() => ({ how: 'window_over' })),
    ])
  } catch (error) {
    if (isProcessFault(error)) return { how: 'unwatchable', fault: error }
    throw error
  } finally {
    over.abort(decided)
  }
}

/**
 * A short command's start is committed with its end. Of one that takes longer the row is to say
 * meanwhile that it runs, for whoever looks.
 */
export async function watchNoted(
  ctx: ToolContext,
  id: TaskId,
  window_ms: number,
): Promise<WatchOutcome> {
  const unnoted = Math.min(window_ms, limits.start_unnoted.value)
  const pushed_from = ctx.monotonic() + limits.interject_grace.value
  const seen = await watch(ctx, id, unnoted, pushed_from)
  if (seen.how !== 'window_over' || unnoted === window_ms) return seen
  await noteStart(ctx, id)
  return watch(ctx, id, window_ms - unnoted, pushed_from)
}

async function noteStart(ctx: ToolContext, id: TaskId): Promise<void> {
  try {
    const process = await ctx.processes.observe(id)
    if (process.state === 'running') await ctx.commit((d) => beginTask(d, id, process))
  } catch (error) {
    // What cannot be looked at now is noted with its end.
    if (!isProcessFault(error)) throw error
  }
}

/** Resolves when `signal` aborts; never, once `over` did. */
function aborted(signal: AbortSignal, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true, signal: over })
  })
}
