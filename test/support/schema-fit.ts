/**
 * Whether a value fits a JSON Schema, said by something that shares no code with what made the
 * schema. As much of the language as the API's own document uses; a keyword it does not know is an
 * error, so that no schema counts as held when part of it was passed over.
 */
import { isDeepStrictEqual } from 'node:util'

export type Schema = {
  type?: string | readonly string[]
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  allOf?: readonly Schema[]
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  additionalProperties?: boolean | Schema
  propertyNames?: Schema
  items?: Schema
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  $ref?: string
  [about: string]: unknown
}
export type Components = Readonly<Record<string, Schema>>

/** Keywords that say nothing about which values fit. */
const prose = ['description', 'example', 'examples', 'title', 'default', 'deprecated', 'id']
const known: ReadonlySet<string> = new Set([
  ...prose,
  ...['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref', 'discriminator'],
  ...['properties', 'required', 'additionalProperties', 'propertyNames'],
  ...['items', 'minItems', 'maxItems', 'minLength', 'maxLength', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
])

/** The schema a reference leads to; itself when it is none. */
export function resolved(schema: Schema, components: Components): Schema {
  const odd = Object.keys(schema).find((keyword) => !known.has(keyword))
  if (odd !== undefined) throw new Error(`the keyword ${odd} is not known`)
  if (schema.$ref === undefined) return schema
  const found = components[schema.$ref.split('/').at(-1) ?? '']
  if (found === undefined) throw new Error(`${schema.$ref} leads nowhere`)
  return resolved(found, components)
}

/** What does not fit, as `place: what is wrong`; empty when everything does. */
export function misfits(given: Schema, value: unknown, components: Components, at = '$'): string[] {
  const schema = resolved(given, components)
  const into = (one: Schema, part: unknown, place: string) => misfits(one, part, components, place)
  const fits = (one: Schema) => into(one, value, at).length === 0
  const found: string[] = []
  const wrong = (what: string) => void found.push(`${at}: ${what}`)
  if (schema.const !== undefined && !isDeepStrictEqual(value, schema.const)) wrong('another value')
  if (schema.enum && !schema.enum.some((one) => isDeepStrictEqual(value, one))) {
    wrong(`${brief(value)} is not one of ${schema.enum.join(', ')}`)
  }
  const { anyOf, oneOf } = schema
  if (anyOf && !anyOf.some(fits)) wrong(`none of the branches${nearest(anyOf, value, into, at)}`)
  if (oneOf) {
    const count = oneOf.filter(fits).length
    const near = count === 0 ? nearest(oneOf, value, into, at) : ''
    if (count !== 1) wrong(`${count} of the branches instead of one${near}`)
  }
  for (const one of schema.allOf ?? []) found.push(...into(one, value, at))
  const types = typesOf(schema)
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) {
    wrong(`${brief(value)} is no ${types.join(' or ')}`)
    return found
  }
  if (typeof value === 'string') found.push(...textMisfits(schema, value, at))
  if (typeof value === 'number') found.push(...numberMisfits(schema, value, at))
  if (Array.isArray(value)) found.push(...listMisfits(schema, value, at, into))
  else if (typeof value === 'object' && value !== null) {
    found.push(...objectMisfits(schema, value as Record<string, unknown>, at, into))
  }
  return found
}

/** What the branch that fits best finds wrong. */
function nearest(branches: readonly Schema[], value: unknown, into: Into, at: string): string {
  const [best = []] = branches
    .map((one) => into(one, value, at))
    .toSorted((a, b) => a.length - b.length)
  return ` (${best.join('; ')})`
}

type Into = (schema: Schema, value: unknown, at: string) => string[]

export const typesOf = ({ type }: Schema): readonly string[] =>
  type === undefined ? [] : typeof type === 'string' ? [type] : type

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'array':
      return Array.isArray(value)
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value)
    case 'number':
    case 'string':
    case 'boolean':
      return typeof value === type
    default:
      throw new Error(`the type ${type} is not known`)
  }
}

const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => dateTime.test(text) && Number.isFinite(Date.parse(text)),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text),
}

function textMisfits(schema: Schema, value: string, at: string): string[] {
  const { length } = Array.from(value)
  const found: string[] = []
  if (length < (schema.minLength ?? 0)) found.push(`${at}: shorter than ${schema.minLength}`)
  if (length > (schema.maxLength ?? Infinity)) found.push(`${at}: longer than ${schema.maxLength}`)
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value)) {
    found.push(`${at}: ${brief(value)} does not match ${schema.pattern}`)
  }
  if (schema.format !== undefined) {
    const is = formats[schema.format]
    if (is === undefined) throw new Error(`the format ${schema.format} is not known`)
    if (!is(value)) found.push(`${at}: ${brief(value)} is no ${schema.format}`)
  }
  return found
}

function numberMisfits(schema: Schema, value: number, at: string): string[] {
  const ok =
    value >= (schema.minimum ?? -Infinity) &&
    value <= (schema.maximum ?? Infinity) &&
    value > (schema.exclusiveMinimum ?? -Infinity) &&
    value < (schema.exclusiveMaximum ?? Infinity)
  return ok ? [] : [`${at}: ${value} is out of range`]
}

function listMisfits(schema: Schema, value: readonly unknown[], at: string, into: Into): string[] {
  const { items, minItems = 0, maxItems = Infinity } = schema
  const short = value.length < minItems || value.length > maxItems
  return [
    ...(short ? [`${at}: ${value.length} entries`] : []),
    ...(items === undefined ? [] : value.flatMap((one, n) => into(items, one, `${at}[${n}]`))),
  ]
}

function objectMisfits(
  schema: Schema,
  value: Readonly<Record<string, unknown>>,
  at: string,
  into: Into,
): string[] {
  const { properties = {}, required = [], additionalProperties: more = true } = schema
  // What JSON cannot say is not there.
  const given = Object.entries(value).filter(([, one]) => one !== undefined)
  const names = new Set(given.map(([name]) => name))
  return [
    ...required.filter((name) => !names.has(name)).map((name) => `${at}.${name}: is missing`),
    ...given.flatMap(([name, one]) => {
      const place = `${at}.${name}`
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined
      const named = schema.propertyNames ? into(schema.propertyNames, name, place) : []
      if (own !== undefined) return [...named, ...into(own, one, place)]
      if (more === false) return [...named, `${place}: is unknown`]
      return more === true ? named : [...named, ...into(more, one, place)]
    }),
  ]
}

/** Of a JSON value, enough to know it again. */
const brief = (value: unknown): string => JSON.stringify(value).slice(0, 60)
