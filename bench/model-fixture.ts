/**
 * The benchmarks' end of the model process: starts it, names its conversations, and reads when
 * their requests arrived.
 */
import { fork } from 'node:child_process'
import { join } from 'node:path'

/** `n` counts the requests of one model name from 1; `at_us` is on the shared monotonic clock. */
export type Arrival = { model: string; n: number; at_us: number; bytes: number }

export type ToModel = { kind: 'take' }
export type FromModel =
  | { kind: 'ready'; base_url: string }
  | { kind: 'answered'; model: string; n: number }
  | { kind: 'taken'; arrivals: Arrival[]; violations: readonly string[] }

/** `text`: answers at once. `rounds`: that many commands. `hang`: the last command takes long. */
export type Plan = { kind: 'text' | 'rounds' | 'hang'; rounds: number }

/** Requests of a conversation before the first that answers a command's result. */
export const requestsBefore = 2

let names = 0
/** A name nobody had yet, so that its requests are counted from 1. */
export const nameFor = ({ kind, rounds }: Plan): string => `${kind}-${rounds}-${++names}`

export function planOf(model: string): Plan {
  const [kind = '', rounds = ''] = model.split('-')
  return {
    kind: kind === 'rounds' || kind === 'hang' ? kind : 'text',
    rounds: Number(rounds),
  }
}

export type ModelFixture = {
  base_url: string
  /** Everything since the last call. */
  take(): Promise<{ arrivals: Arrival[]; violations: readonly string[] }>
  /** Resolves when request `n` of `model` has its answer, from now on. */
  answered(model: string, n: number): Promise<void>
  close(): void
}

export async function startModel(how: 'plain' | 'judge' = 'plain'): Promise<ModelFixture> {
  const child = fork(join(import.meta.dirname, 'model-process.ts'), [how], { stdio: 'inherit' })
  const listeners = new Set<(message: FromModel) => void>()
  child.on('message', (message: FromModel) => {
    for (const listener of listeners) listener(message)
  })
  const next = <T>(pick: (message: FromModel) => T | undefined): Promise<T> => {
    const { promise, resolve } = Promise.withResolvers<T>()
    const listener = (message: FromModel) => {
      const found = pick(message)
      if (found === undefined) return
      listeners.delete(listener)
      resolve(found)
    }
    listeners.add(listener)
    return promise
  }
  const base_url = await next((m) => (m.kind === 'ready' ? m.base_url : undefined))
  return {
    base_url,
    async take() {
      const taken = next((m) => (m.kind === 'taken' ? m : undefined))
      child.send({ kind: 'take' } satisfies ToModel)
      return taken
    },
    async answered(model, n) {
      await next((m) => (m.kind === 'answered' && m.model === model && m.n === n) || undefined)
    },
    close: () => child.disconnect(),
  }
}
