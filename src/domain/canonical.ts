/** JSON with sorted keys: equal values of plain data have equal text, whatever the order. */
export function canonical(value: unknown): string {
  if (value === undefined) return 'nothing'
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
