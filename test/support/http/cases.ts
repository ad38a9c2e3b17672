/**
 * One request to an operation of the API, as its document declares it: with everything right, or
 * with one thing wrong, which it names.
 */
import type { Place } from './live.ts'
import type { Operation, Parameter } from './operations.ts'
import type { Seen } from './known.ts'
import type { Cases, Wrong } from '../schema-cases.ts'

export type Request = {
  operation: Operation
  /** The one thing that is wrong; null: nothing. */
  wrong: string | null
  /** It is no request of the document at all. */
  isStray: boolean
  method: string
  /** With its query. */
  path: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array<ArrayBuffer> | null
}

type Values = {
  path: Map<string, string>
  query: Map<string, string>
  headers: Map<string, string>
  type: string | null
  body: string | Uint8Array<ArrayBuffer> | null
}

/** `place`: what it is to be about, where a certain thing is wanted. */
export function validRequest(
  cases: Cases,
  seen: Seen,
  operation: Operation,
  place: Place | null = null,
): Request {
  const values = valuesOf(cases, seen, operation)
  for (const [name, value] of Object.entries(place?.path ?? {})) values.path.set(name, value)
  if (place?.body !== undefined) {
    values.type = 'application/json'
    values.body = JSON.stringify(place.body)
  }
  return request(operation, values, null)
}

/** Null: nothing that this operation takes can be wrong by its document. */
export function wrongRequest(cases: Cases, seen: Seen, operation: Operation): Request | null {
  const values = valuesOf(cases, seen, operation)
  const places: (() => string | null)[] = [
    ...operation.parameters.map((one) => () => spoilParameter(cases, values, one)),
    ...(operation.body === null
      ? []
      : [0, 1, 2].map(() => () => spoilBody(cases, operation, values))),
  ]
  // What takes no parameter at all passes over those of a monitor or a browser.
  if (!operation.isOpen && !['/metrics', '/openapi.json'].includes(operation.path)) {
    places.push(() => {
      values.query.set('no_such_parameter', '1')
      return 'there is no such parameter'
    })
  }
  for (let tries = 0; tries < 10 && places.length > 0; tries += 1) {
    const wrong = cases.pick(places)()
    if (wrong !== null) return request(operation, values, wrong)
  }
  return null
}

function valuesOf(cases: Cases, seen: Seen, operation: Operation): Values {
  const values: Values = {
    path: new Map(),
    query: new Map(),
    headers: new Map(),
    type: null,
    body: null,
  }
  for (const one of operation.parameters) {
    if (!one.required && cases.chance(one.name === 'Idempotency-Key' ? 0.8 : 0.6)) continue
    // A page ends at a cursor or before an entry.
    if (one.name === 'before' && values.query.has('cursor')) continue
    if (one.name === 'cursor' && seen.all(`cursor of ${operation.path}`).length === 0) continue
    const value = cases.valid(one.schema, one.name.toLowerCase())
    mapOf(values, one).set(one.name, String(value))
  }
  if (operation.body !== null && (operation.body.required || cases.chance(0.7))) {
    const [type, { schema }] = cases.pick(Object.entries(operation.body.content))
    const value = cases.valid(schema, 'body')
    values.type = type
    values.body = type === 'text/plain' ? String(value) : JSON.stringify(bound(seen, values, value))
  }
  if (cases.chance(0.9)) ofItsOwner(seen, values)
  return values
}

/** What is asked for is mostly asked for at the agent that has it. */
function ofItsOwner(seen: Seen, { path, body }: Values): void {
  const run = typeof body === 'string' ? /"run_id":"([^"]+)"/.exec(body)?.[1] : undefined
  for (const id of [...path.values(), ...(run === undefined ? [] : [run])]) {
    const owner = seen.ownerOf(id)
    if (owner !== undefined && path.has('agent')) path.set('agent', owner)
  }
}

/** Who answers a question sends the hash of that very question. */
function bound(seen: Seen, { path }: Values, value: unknown): unknown {
  const hash = seen.hashOf(path.get('wait') ?? '')
  const isAnswer = typeof value === 'object' && value !== null && 'bound_hash' in value
  return isAnswer && hash !== undefined ? { ...value, bound_hash: hash } : value
}

function mapOf(values: Values, parameter: Parameter): Map<string, string> {
  switch (parameter.in) {
    case 'path':
      return values.path
    case 'query':
      return values.query
    case 'header':
      return values.headers
  }
}

function spoilParameter(cases: Cases, values: Values, one: Parameter): string | null {
  if (one.name === 'last-event-id') {
    values.headers.set(one.name, cases.pick(['seven', '-1', '1.5', '01', '9'.repeat(30)]))
    return 'the last event is no seq'
  }
  if (one.name === 'cursor' && cases.chance(0.7)) {
    const other = Buffer.from('["nothing","work_0000"]').toString('base64url')
    values.query.set(one.name, cases.pick([other, 'bm9uZQ', '%%%', '0', 'null', 'é', '../..']))
    return 'the cursor is of no such list'
  }
  const name = one.name.toLowerCase()
  const found = cases.invalid(one.schema, name)
  // In a path and a query everything is text: only a text can be wrong.
  const text = found === null ? null : textOf(found.value)
  if (found === null || text === null || (one.in === 'path' && text === '')) return null
  if (one.schema.type === 'string' && typeof found.value !== 'string') return null
  // A header cannot hold every letter.
  if (one.in === 'header' && !/^[\x20-\x7e]+$/.test(text)) return null
  mapOf(values, one).set(one.name, text)
  return found.wrong
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : null

/** Bodies that are wrong before anything asks what they say. */
const unread: readonly (readonly [wrong: string, body: string | Uint8Array<ArrayBuffer>])[] = [
  ['the body is cut off', '{"text":"a'],
  ['the body is two values', '{} {}'],
  ['the body is a word', 'text=a&b=c'],
  ['the body is too deep', `${'['.repeat(80)}${']'.repeat(80)}`],
  ['the body is no UTF-8', Uint8Array.of(0x22, 0xff, 0xfe, 0x22)],
]

/** A webhook keeps what is signed and no JSON as a dead letter: only these are refused. */
const unkept = ['the body is too deep', 'the body is no UTF-8']
export const anotherSignature = 'the signature is of another body'

function spoilBody(cases: Cases, operation: Operation, values: Values): string | null {
  const { body, isOpen, path } = operation
  const schema = body?.content['application/json']?.schema
  if (body === null || schema === undefined) return null
  const isSigned = path.startsWith('/webhooks/')
  if (isSigned && cases.chance(0.3)) return anotherSignature
  const set = (type: string, text: Values['body'], wrong: string) => {
    values.type = type
    values.body = text
    return wrong
  }
  if (cases.chance(0.15)) {
    const [wrong, text] = cases.pick(unread.filter(([what]) => !isSigned || unkept.includes(what)))
    return set('application/json', text, wrong)
  }
  if (cases.chance(0.1)) {
    const type = cases.pick([
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ])
    return set(type, '{}', `the body is ${type}`)
  }
  if (cases.chance(0.05)) {
    const most = isOpen ? 256 * 1_024 : 1_024 * 1_024
    return set('application/json', `"${'x'.repeat(most)}"`, 'the body is too large')
  }
  if (body.required && cases.chance(0.05)) return set('application/json', null, 'no body')
  const found: Wrong | null = cases.invalid(schema, 'body')
  return found && set('application/json', JSON.stringify(found.value), found.wrong)
}

function request(operation: Operation, values: Values, wrong: string | null): Request {
  const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(wellFormed(values.path.get(name) ?? '')),
  )
  const query = new URLSearchParams([...values.query]).toString()
  return {
    operation,
    wrong,
    isStray: false,
    method: operation.method,
    path: query === '' ? path : `${path}?${query}`,
    headers: {
      ...Object.fromEntries(values.headers),
      ...(values.body === null || values.type === null ? {} : { 'content-type': values.type }),
    },
    body: values.body,
  }
}

/** No address can hold half a pair of surrogates. */
const wellFormed = (text: string): string => text.toWellFormed()

/** Requests to no operation of the document: other methods, and addresses in odd forms. */
export function strayRequest(cases: Cases, operation: Operation): Request {
  const plain = operation.path.replaceAll(/\{[^}]+\}/g, () =>
    cases.pick([
      'main',
      '%00',
      '%ff',
      '%E0%A4%A',
      '%2e%2e%2f',
      ' ',
      'é',
      '*',
      ':',
      '{x}',
      'a/b',
      '',
    ]),
  )
  const method = cases.pick(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE_X'])
  const path = `${plain}${cases.pick(['', '/', '?', '?%ff=%00', '?limit=1&limit=2', '//', '/..'])}`
  return { operation, wrong: null, isStray: true, method, path, headers: {}, body: null }
}
