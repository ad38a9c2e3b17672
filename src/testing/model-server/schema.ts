/**
 * What the providers' published types say of a request's fields: an unknown one, a missing one or
 * one of another type is refused, as the providers do. The schemas are written from the types by
 * `npm run wire-schemas`.
 */
import { Ajv } from 'ajv'
import type { ErrorObject, ValidateFunction } from 'ajv'
import type { JsonObject } from '../../ports/json.ts'
import type { Endpoint } from './wire.ts'
import published from './wire-schemas.json' with { type: 'json' }

const compiled = new Map<Endpoint, ValidateFunction>()

/** Where a body leaves the published types, in words; empty where it does not. */
export function schemaViolations(endpoint: Endpoint, body: JsonObject): string[] {
  const validate = compiled.get(endpoint) ?? validator(endpoint)
  if (validate(body)) return []
  const errors = validate.errors ?? []
  // A union names every member that does not fit: what lies deepest is what is meant.
  const depth = ({ instancePath }: ErrorObject) => instancePath.split('/').length
  const deepest = Math.max(...errors.map(depth))
  const told = errors.filter((error) => depth(error) === deepest && error.keyword !== 'anyOf')
  return [...new Set((told.length > 0 ? told : errors).map(words))].slice(0, 3)
}

function validator(endpoint: Endpoint): ValidateFunction {
  const made = new Ajv({ strict: false, allErrors: false }).compile(published.schemas[endpoint])
  compiled.set(endpoint, made)
  return made
}

function words({ instancePath, message, params }: ErrorObject): string {
  const field = 'additionalProperty' in params ? ` (${String(params['additionalProperty'])})` : ''
  return `${instancePath || 'the body'} ${message ?? 'is not valid'}${field}`
}
