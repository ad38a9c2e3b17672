/**
 * Values of labels stay few: each becomes a series that is kept for ever. A name that comes from
 * outside (a model, a configuration, a route) is used while it is among the known or the first few,
 * and is `other` after that.
 */
import { LABEL_VALUES } from './limits.ts'

/** A label that takes the known values, and `other` for the rest. */
export function knownLabel(known: Iterable<string>): (value: string) => string {
  const values = new Set(known)
  return (value) => (values.has(value) ? value : 'other')
}

/** A label that takes the first `most` values it meets, and `other` for the rest. */
export function firstLabels(most = LABEL_VALUES): (value: string) => string {
  const values = new Set<string>()
  return (value) => {
    if (values.has(value)) return value
    if (values.size >= most) return 'other'
    values.add(value)
    return value
  }
}

/** The provider of a `provider/model`. */
export const providerOf = (model: string): string => {
  const slash = model.indexOf('/')
  return slash < 0 ? model : model.slice(0, slash)
}

/** 200 → `2xx`. */
export const statusClass = (status: number): string =>
  status >= 100 && status < 600 ? `${Math.floor(status / 100)}xx` : 'other'
