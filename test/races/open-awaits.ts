/**
 * Which awaits are open at a moment: every source that is loaded from `watchAwaits` on says when it
 * begins to wait and, just before it goes on, when that is over. What is waited for is handed
 * through as it is, so nothing comes earlier or later than without it.
 */
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { Await } from './awaits.ts'

/** One wait, from its beginning to its end: `n` is the place of its await in the table. */
export type Open = { readonly n: number }

const open = new Set<Open>()
/** Awaits that were begun at all. */
const begun = new Set<number>()

function begin(n: number): Open {
  const one = { n }
  begun.add(n)
  open.add(one)
  return one
}

const watch = {
  of<T>(n: number, waited: T): T | Promise<Awaited<T>> {
    const one = begin(n)
    const isPromise = waited instanceof Promise
    const promise = isPromise ? waited : Promise.resolve(waited)
    const over = () => void open.delete(one)
    promise.then(over, over)
    return isPromise ? waited : promise
  },
  async *each<T>(n: number, all: AsyncIterable<T>): AsyncGenerator<T> {
    const from = all[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await watch.of(n, from.next())
        if (next.done) return
        yield next.value
      }
    } finally {
      await from.return?.()
    }
  },
  yielding: <T>(n: number, value: T): T => {
    const one = begin(n)
    yields.set(n, [...(yields.get(n) ?? []), one])
    return value
  },
  yielded: (n: number): void => {
    const one = yields.get(n)?.shift()
    if (one) open.delete(one)
  },
}
const yields = new Map<number, Open[]>()

export const openNow = (): readonly Open[] => [...open]
export const isOpen = (one: Open): boolean => open.has(one)
export const begunSoFar = (): ReadonlySet<number> => begun
/** What belongs to a world that is gone waits for ever. */
export const forgetOpen = (): void => open.clear()

/** The text with every await of it watched; no line moves. */
export function watched(text: string, awaits: readonly (Await & { n: number })[]): string {
  const parts = awaits.flatMap(({ n, kind, start, from, to }) => {
    const end = { at: to, order: 0, text: ')' }
    if (kind === 'for await') return [{ at: from, order: -to, text: `holonWaits.each(${n}, ` }, end]
    if (kind === 'yield') {
      return [
        { at: start, order: -to, text: `holonWaits.yielded(${n}, ` },
        { at: from, order: -to, text: `holonWaits.yielding(${n}, ` },
        { ...end, text: '))' },
      ]
    }
    return [{ at: from, order: -to, text: `holonWaits.of(${n}, ` }, end]
  })
  let [made, last] = ['', 0]
  // Of two that begin at one place the longer is outside; what ends there ends before.
  const isEnd = (part: { order: number }) => (part.order === 0 ? 0 : 1)
  parts.sort((a, b) => a.at - b.at || isEnd(a) - isEnd(b) || a.order - b.order)
  for (const { at, text: put } of parts) {
    made += text.slice(last, at) + put
    last = at
  }
  return made + text.slice(last)
}

/** From now on, what is loaded of `root` tells of its awaits. */
export function watchAwaits(root: string, awaits: readonly Await[]): void {
  const byUrl = Map.groupBy(
    awaits.map((one, n) => ({ ...one, n })),
    ({ file }) => pathToFileURL(`${root}/${file}`).href,
  )
  Object.assign(globalThis, { holonWaits: watch })
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context)
      const own = byUrl.get(url)
      if (own === undefined || loaded.source === undefined) return loaded
      const source = loaded.source ?? ''
      const text = typeof source === 'string' ? source : new TextDecoder().decode(source)
      // Offsets are those of the text as it stands in the file.
      return { ...loaded, source: watched(text, own) }
    },
  })
}
