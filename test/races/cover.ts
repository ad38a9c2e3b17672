/**
 * Which awaits of the table were open while somebody else wrote to the ledger. Each story is told
 * once undisturbed, to see what is open at which call of a port; then again and again, each time
 * disturbed at the call with the most awaits that were not disturbed yet.
 */
import { Telling, type Between } from './meanwhile.ts'
import { openNow } from './open-awaits.ts'
import type { Other } from './others.ts'
import type { Story } from './stories.ts'

export type Cover = {
  /** Places of awaits in the table. */
  interleaved: Set<number>
  tellings: number
  violations: string[]
}

/** How an await is disturbed, first to last: what surely writes, and leaves the others alone. */
const tries: readonly Omit<Between, 'n'>[] = [
  { act: 'send', whose: 'main', held: 'after', until: 'reply' },
  { act: 'deliver', whose: 'main', held: 'before', until: 'reply' },
  { act: 'create_item', whose: 'newest', held: 'before', until: 'reply' },
  { act: 'create_agent', whose: 'main', held: 'after', until: 'reply' },
]

/** `most`: calls of ports at which one await is tried, each in each way. */
export async function cover(stories: readonly Story[], most = 1): Promise<Cover> {
  const made: Cover = { interleaved: new Set(), tellings: 0, violations: [] }
  for (const story of stories) {
    const openAt = new Map<number, ReadonlySet<number>>()
    const tell = async (between: Between | null) => {
      const telling = new Telling(story, between, (at) => {
        if (between === null) openAt.set(at, new Set(openNow().map(({ n }) => n)))
      })
      const [first] = await telling.whole(story)
      made.tellings += 1
      for (const n of telling.interleaved) made.interleaved.add(n)
      if (first !== undefined) made.violations.push(`${first}\n    ${story.name}, ${told(between)}`)
    }
    await tell(null)
    const tried = new Map<number, number>()
    for (const way of tries) {
      tried.clear()
      for (;;) {
        const left = (n: number) => !made.interleaved.has(n) && (tried.get(n) ?? 0) < most
        const [n, wanted] = mostLeft(openAt, left)
        if (wanted.length === 0) break
        for (const one of wanted) tried.set(one, (tried.get(one) ?? 0) + 1)
        const at = openAt.get(n)
        openAt.delete(n)
        await tell({ n, ...way })
        if (at) openAt.set(n, at)
      }
    }
  }
  return made
}

/** The call with the most of what is left, and that. */
function mostLeft(openAt: ReadonlyMap<number, ReadonlySet<number>>, left: (n: number) => boolean) {
  let best: [n: number, wanted: number[]] = [0, []]
  for (const [n, open] of openAt) {
    const wanted = [...open].filter(left)
    if (wanted.length > best[1].length) best = [n, wanted]
  }
  return best
}

const told = (between: (Other & { n: number }) | null): string =>
  between === null ? 'undisturbed' : `${between.act} at ${between.n}`
