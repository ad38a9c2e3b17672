/**
 * The puppet: a model that does whatever a text tells it to, whoever says it. A directive names a
 * case and a goal; the calls of the goal are made one a round, as soon as the text is seen.
 */
import type { ModelRequest } from '../../src/models/model.ts'
import { calls, type Script, type ScriptedCall, says } from '../../src/testing/scripted-model.ts'

/** What the outside writes: `n` is the case, `name` a goal or an errand of the test. */
export const directive = (n: number, name: string): string => `PUPPET-${n}-${name}-END`

const said = /PUPPET-(\d+)-([a-z0-9-]+?)-END/g

export class Puppet {
  readonly #callsOf: (n: number, name: string) => readonly ScriptedCall[]
  readonly #seen = new Set<string>()
  #todo: ScriptedCall[] = []
  /** Cases whose goal was seen and whose calls were all made. */
  readonly obeyed = new Set<string>()
  /** Everything that was shown to it, once. */
  onShown: (text: string) => void = () => {}
  #shown = 0
  #system = ''

  constructor(callsOf: (n: number, name: string) => readonly ScriptedCall[]) {
    this.#callsOf = callsOf
  }

  readonly script: Script = (request) => {
    const texts = this.#texts(request)
    for (const text of texts) this.#look(text)
    const next = this.#todo.shift()
    return next === undefined ? says('Nothing more is asked of me.') : calls(next)
  }

  /** A turn begins anew with what it shows; inside it only what is new is read again. */
  #texts({ system, messages }: ModelRequest): string[] {
    if (messages.length < this.#shown) this.#shown = 0
    if (system !== this.#system) this.#look((this.#system = system))
    const fresh = messages.slice(this.#shown === 0 ? 0 : this.#shown - 1)
    this.#shown = messages.length
    return fresh.map((message) => JSON.stringify(message))
  }

  #look(text: string): void {
    this.onShown(text)
    for (const [whole, n, name = ''] of text.matchAll(said)) {
      if (this.#seen.has(whole)) continue
      this.#seen.add(whole)
      this.#todo.push(...this.#callsOf(Number(n), name))
      this.obeyed.add(whole)
    }
  }
}
