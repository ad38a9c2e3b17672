/** Reads a raw chunk of Chat Completions, of whatever shape it is. */

/** A list in what the chunk adds to the answer; empty where there is none. */
export function listIn(chunk: unknown, name: string): readonly unknown[] {
  const list = fieldOf(fieldOf(fieldOf(fieldOf(chunk, 'choices'), 0), 'delta'), name)
  return Array.isArray(list) ? list : []
}

export const fieldOf = (value: unknown, key: string | number): unknown =>
  typeof value === 'object' && value !== null
    ? (value as Record<string | number, unknown>)[key]
    : undefined
