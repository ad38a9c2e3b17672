/**
 * Values drawn from the schemas of the wire by a seed: every field that may be absent or null is so
 * at times, texts are empty, short, long and of several lines, counts are none, one, two and many,
 * lists have none, one, two and several. The same seed gives the same value.
 */
import type { z } from 'zod'

/** A whole number from 0 up to, and without, `below`. */
type Draw = (below: number) => number

export function drawing(seed: number): Draw {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const now = Date.parse('2026-03-02T09:00:00.000Z')
/** Milliseconds from now: before, far before, after. */
const distances = [-5_000, -59_000, -180_000, -7_200_000, -300_000_000, 240_000, 200_000_000]
const texts = [
  '',
  'x',
  'Two words',
  'A sentence that is longer than what a narrow terminal can show of it in one line, and some more',
  'one\ntwo\n\nfour',
  'Grüße, 漢字 and 🙂',
]
const counts = [0, 1, 2, 9, 60, 999, 1_000, 65_432, 1_234_567]
const prices = [0, 0.004, 0.5, 1.25, 300]
const agents = ['main', 'docs', 'night']

type Def = {
  type: string
  shape?: Record<string, z.ZodType>
  element?: z.ZodType
  innerType?: z.ZodType
  options?: readonly z.ZodType[]
  items?: readonly z.ZodType[]
  keyType?: z.ZodType
  valueType?: z.ZodType
  in?: z.ZodType
  getter?: () => z.ZodType
  entries?: Record<string, string>
  values?: readonly unknown[]
  format?: string
  checks?: readonly { _zod: { def: { pattern?: RegExp; format?: string } } }[]
}
const defOf = (schema: z.ZodType): Def => schema.def as unknown as Def

/** Elements by their ids: no list has two of one. */
const distinct = (all: readonly unknown[]): unknown[] => {
  const ids = all.map((one) => (one as { id?: unknown } | null)?.id ?? one)
  return all.filter((_, n) => typeof ids[n] !== 'string' || ids.indexOf(ids[n]) === n)
}

class Drawer {
  readonly #draw: Draw

  constructor(draw: Draw) {
    this.#draw = draw
  }

  #of<T>(all: readonly T[]): T {
    const one = all[this.#draw(all.length)]
    if (one === undefined) throw new Error('nothing can be drawn of nothing')
    return one
  }

  /** `name` is that of the field, `of` that of the list it is in. */
  value(schema: z.ZodType, name: string, of: string): unknown {
    const def = defOf(schema)
    const inner = (one: z.ZodType | undefined) => {
      if (one === undefined) throw new Error(`${name} has no inner schema`)
      return this.value(one, name, of)
    }
    switch (def.type) {
      case 'object':
        return this.#object(def.shape ?? {}, of)
      case 'array':
        return distinct(
          Array.from({ length: this.#of([0, 1, 2, 2, 5]) }, () =>
            this.value(def.element as z.ZodType, '', name),
          ),
        )
      case 'tuple':
        return (def.items ?? []).map((one) => inner(one))
      case 'record': {
        const entries = Array.from({ length: this.#draw(3) }, () => [
          String(inner(def.keyType)),
          inner(def.valueType),
        ])
        return Object.fromEntries(entries) as unknown
      }
      case 'nullable':
        return this.#draw(3) === 0 ? null : inner(def.innerType)
      case 'optional':
        return this.#draw(3) === 0 ? undefined : inner(def.innerType)
      case 'union':
        return inner(this.#of(def.options ?? []))
      case 'lazy':
        return inner(def.getter?.())
      case 'pipe':
        return inner(def.in)
      case 'default':
      case 'readonly':
        return inner(def.innerType)
      default:
        return this.#leaf(def, name, of)
    }
  }

  #object(shape: Record<string, z.ZodType>, of: string): Record<string, unknown> {
    const fields = Object.entries(shape).map(([key, one]) => [key, this.value(one, key, of)])
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as Record<
      string,
      unknown
    >
  }

  #leaf({ type, entries, values, format, checks = [] }: Def, name: string, of: string): unknown {
    switch (type) {
      case 'null':
        return null
      case 'boolean':
        return this.#draw(2) === 0
      case 'literal':
        return this.#of(values ?? [])
      case 'enum':
        return this.#of(Object.values(entries ?? {}))
      case 'number':
        return this.#of(/usd|price/.test(name) ? prices : counts)
      case 'string': {
        const formats = [format, ...checks.map(({ _zod }) => _zod.def.format)]
        const pattern = checks.find(({ _zod }) => _zod.def.pattern)?._zod.def.pattern?.source ?? ''
        return this.#text(name, of, formats.includes('datetime') ? 'datetime' : pattern)
      }
      case 'unknown':
      case 'any':
        return this.#of(texts)
      default:
        throw new Error(`${name}: nothing is drawn of ${type}`)
    }
  }

  #text(name: string, of: string, form: string): string {
    if (form === 'datetime') return new Date(now + this.#of(distances)).toISOString()
    if (form.includes('[0-9a-f]{64}')) return `${this.#draw(3)}`.repeat(64)
    const [, prefix] = /^\^([a-z]+)_/.exec(form) ?? []
    if (name.endsWith('agent_id') || (name === 'id' && of === 'agents')) return this.#of(agents)
    const [, named = 'wait'] = /^(?:.*_)?(work|wait|task|turn|call)(?:_item)?_id$/.exec(name) ?? []
    const isId = prefix !== undefined || /(?:^|_)(?:id|ref)$/.test(name)
    if (isId) return `${prefix ?? named}_000${1 + this.#draw(4)}`
    return this.#of(texts)
  }
}

/** A value that the schema takes, as far as its own pieces say what it takes. */
export const drawn = <T>(schema: z.ZodType<T>, draw: Draw): T =>
  new Drawer(draw).value(schema, '', '') as T
