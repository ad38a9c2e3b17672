/**
 * Requests as a test compares them: whole, with ids, times, places and marks by their first
 * appearance, so that only a change of what is said shows.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { ModelMessage } from '../../src/ports/model-message.ts'
import type { ModelRequest } from '../../src/models/model.ts'

/** Text with everything that differs from run to run replaced by its rank. */
function settled(text: string, places: readonly string[]): string {
  const names = new Map<string, string>()
  const rank = (kind: string) => (id: string) => {
    const count = [...names.values()].filter((name) => name.startsWith(`${kind}_`)).length
    if (!names.has(id)) names.set(id, `${kind}_${count + 1}`)
    return names.get(id) ?? id
  }
  const fixed = places.reduce((all, place, i) => all.replaceAll(place, `<place ${i + 1}>`), text)
  return (
    fixed
      // A short form and the whole id behind it end the same.
      .replace(/\b([a-z]+)_([0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{4,12}\b)/g, (id, kind: string) =>
        rank(kind)(`${kind}_${id.slice(-4)}`),
      )
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replace(/<<\S+ (?=[^\n]*>>)/g, '<<~ ')
      .replace(/sha256 [0-9a-f]{12}/g, 'sha256 ~')
      .replace(/in \d+ ms/g, 'in ~ ms')
      .replace(/ahead of (\S+) \([0-9a-f]{7}\)/g, 'ahead of $1 (~)')
  )
}

function shapeOf(message: ModelMessage): string {
  switch (message.role) {
    case 'user':
      return `USER\n${message.content}`
    case 'assistant':
      return `ASSISTANT\n${message.parts
        .map((p) => (p.type === 'tool_call' ? `${p.tool_name} ${p.input_json}` : p.text))
        .join('\n')}`
    case 'tool':
      return `RESULTS\n${message.results.map(({ text }) => text).join('\n')}`
  }
}

/** Without the system text, which has a snapshot of its own. */
export function requestSnapshot(
  t: TestContext,
  request: ModelRequest | undefined,
  ...places: readonly string[]
): void {
  assert.ok(request, 'there is no such request')
  const text = request.messages.map(shapeOf).join('\n\n')
  const value = settled(`tool_choice ${request.tool_choice}\n\n${text}`, places)
  t.assert.snapshot(value, { serializers: [(one: string) => one] })
}
