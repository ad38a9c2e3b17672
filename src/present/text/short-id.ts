/**
 * Short ids: the prefix and the last four characters, more while that is not unique among the ids
 * this object has seen (docs/spec/nouns.md#short-ids). Texts that hold whole ids are shortened in
 * place.
 */
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const id =
  `(?:msg|turn|call|work|wait|task|brief|dec|evt|deleg|trig|dlv|sched)_${uuid}` +
  '|rcpt_[0-9a-f]{64}'
const whole = new RegExp(`\\b(?:${id})\\b`, 'g')
const isId = new RegExp(`^(?:${id})$`)
const fewest = 4

export class ShortIds {
  /** By prefix and tail: the one id that has it, or null when several do. */
  readonly #tails = new Map<string, string | null>()
  readonly #seen = new Set<string>()

  /** Makes the ids known, so that two with the same end are both printed longer. */
  know(ids: Iterable<string>): void {
    for (const id of ids) {
      if (this.#seen.has(id)) continue
      this.#seen.add(id)
      for (let length = fewest; length <= tailOf(id).length; length += 1) {
        const key = shortened(id, length)
        const other = this.#tails.get(key)
        this.#tails.set(key, other === undefined || other === id ? id : null)
      }
    }
  }

  /** What is no id, as the name of an agent, stays whole. */
  short(id: string): string {
    if (!isId.test(id)) return id
    this.know([id])
    const tail = tailOf(id)
    for (let length = fewest; length < tail.length; length += 1) {
      // A tail that began with a dash would read as a mistake.
      if (tail.at(-length) === '-') continue
      if (this.#tails.get(shortened(id, length)) === id) return shortened(id, length)
    }
    return id
  }

  /** The text with every whole id in it made short. */
  within(text: string): string {
    return text.replace(whole, (id) => this.short(id))
  }
}

const tailOf = (id: string): string => id.slice(id.indexOf('_') + 1)

const shortened = (id: string, length: number): string =>
  `${id.slice(0, id.indexOf('_') + 1)}${tailOf(id).slice(-length)}`

/** Whether `text` could be an id of the noun with this prefix, or a beginning or end of one. */
export const looksLikeId = (text: string, prefix: string): boolean =>
  new RegExp(`^(?:${prefix}_)?[0-9a-f-]{${fewest},36}$`).test(text)
