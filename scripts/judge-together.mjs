// Group testing of many small changes: all that were not found yet are put into one copy of the
// checkout together, every test file is run on them, and where one is red the changes are halved
// until a single one makes it red. That one counts as found when it makes the test red alone,
// twice, and the test is green without it. So all tests judge every change at little more than the
// price of one run of the tests and a few runs of single files for each change that is found.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Whether two changes touch the same characters, so that they cannot stand in one text. */
export const overlaps = (a, b) =>
  a.file === b.file &&
  a.edits.some((one) => b.edits.some((other) => one.from <= other.to && other.from <= one.to))

/**
 * A copy of the checkout: `red(path, some)` puts these changes into it and no others, runs the test
 * file and says by what it is red, or null. What does not end within `limit` seconds is red.
 */
export function copyWith({ copyOfCheckout, edited, finding, run }, limit) {
  const root = copyOfCheckout()
  /** The text of each file that holds a change, as it was. */
  const before = new Map()
  const textOf = (file) => {
    if (!before.has(file)) before.set(file, readFileSync(join(root, file), 'utf8'))
    return before.get(file)
  }
  return async function red(path, some) {
    const byFile = Map.groupBy(some, ({ file }) => file)
    for (const file of new Set([...before.keys(), ...byFile.keys()])) {
      const edits = (byFile.get(file) ?? []).flatMap((one) => one.edits)
      writeFileSync(join(root, file), edited(textOf(file), edits))
    }
    const ran = await run(root, ['scripts/test.mjs', '--first', path], limit)
    if (ran.green) return null
    return ran.late ? `${path}: does not end` : finding(ran.said)
  }
}

/**
 * Judges `changes`, no two of which overlap, by `tests`, in turn in each of `copies`; `besideOf` is
 * the test that stands beside the file of a change, which judges it before; `nearest(path, some)`
 * are those that a test can notice at all, the likeliest first. `found(change, by)` is called as
 * soon as one is found, `passed(path)` when all that are left leave a test green, and
 * `unjudged(path, why)` for a test that says nothing.
 */
export async function judgeTogether(
  changes,
  { tests, copies, besideOf, nearest },
  { found, passed, unjudged },
) {
  const left = new Set(changes)
  const isGreenWithout = async (red, path) =>
    (await red(path, [])) === null || (await red(path, [])) === null

  /** Halves what is red together; what is left is right when it is red alone. */
  async function narrowed(red, path, some) {
    let now = some
    while (now.length > 1) {
      const half = now.slice(0, Math.ceil(now.length / 2))
      now = (await red(path, half)) === null ? now.slice(half.length) : half
    }
    return now[0]
  }

  /** Whether a change alone makes a test red, twice, that is green without it: then it is found. */
  async function isFoundAlone(red, path, change) {
    const by = await red(path, [change])
    if (by === null || (await red(path, [change])) === null) return false
    if (!(await isGreenWithout(red, path))) return false
    if (left.delete(change)) found(change, by)
    return true
  }

  /** What is red only together, or by turns: each is asked alone. */
  async function isAnyFoundAlone(red, path, some) {
    let any = false
    for (const one of some) {
      if (left.has(one) && (await isFoundAlone(red, path, one))) any = true
    }
    return any
  }

  async function judgeBy(red, path) {
    const leftNow = () => nearest(path, [...left])
    for (let some = leftNow(); some.length > 0; some = leftNow()) {
      if ((await red(path, some)) === null) break
      if (await isFoundAlone(red, path, await narrowed(red, path, some))) continue
      if (!(await isGreenWithout(red, path))) return unjudged(path, 'it is red without any change')
      if ((await red(path, some)) === null) break
      if (await isAnyFoundAlone(red, path, some)) continue
      return unjudged(path, 'it is red with several changes and with none of them alone')
    }
    passed(path)
  }

  const inTurn = async (queue, work) => {
    const worker = async (red) => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        await work(red, next)
      }
    }
    await Promise.all(copies.map(worker))
  }
  const withBeside = changes.filter((change) => tests.includes(besideOf(change)))
  await inTurn(withBeside, (red, change) => isFoundAlone(red, besideOf(change), change))
  await inTurn([...tests], judgeBy)
}
