/**
 * The tools as a model is shown them: generated texts and schemas, in the registry's order. A
 * private child is not offered what it may not use: making agents, and waiting for the outside.
 */
import { charTokens } from '../../context/estimate.ts'
import type { Agent } from '../../domain/state/agent.ts'
import type { JsonObject } from '../../ports/json.ts'
import type { ToolSpec } from '../../models/model.ts'
import { toolTexts } from '../../tools/generated.ts'
import { tools } from '../../tools/registry.ts'
import { sha256 } from '../../tools/tool/sha256.ts'

type Visibility = Agent['visibility']

/** `hash` changes when what a model is told does; `tokens` are estimated, of every request. */
type Offered = { specs: readonly ToolSpec[]; tokens: number; hash: string }

const offered = new Map<Visibility, Offered>()

function offeredTo(visibility: Visibility): Offered {
  const known = offered.get(visibility)
  if (known) return known
  const specs = specsFor(visibility)
  const text = JSON.stringify(specs)
  const made = { specs, tokens: charTokens(text), hash: sha256(text).slice(0, 16) }
  offered.set(visibility, made)
  return made
}

export const toolSpecs = (to: Visibility = 'public'): readonly ToolSpec[] => offeredTo(to).specs
export const toolHash = (to: Visibility = 'public'): string => offeredTo(to).hash
export const toolTokens = (to: Visibility = 'public'): number => offeredTo(to).tokens

function specsFor(visibility: Visibility): readonly ToolSpec[] {
  const all = tools.map(({ name }): ToolSpec => {
    const text = toolTexts[name]
    if (!text) throw new Error(`no generated text for ${name}: run npm run generate`)
    return {
      name,
      description: text.description,
      input_schema: text.input_schema as JsonObject,
    }
  })
  switch (visibility) {
    case 'public':
      return all
    case 'private':
      return all
        .filter(({ name }) => name !== 'SpawnAgent')
        .map((spec) => (spec.name === 'WaitFor' ? withoutOutside(spec) : spec))
  }
}

/** Arguments of WaitFor that only a wait for an outside event has. */
const outside = ['source', 'delivery_mode']

function withoutOutside(spec: ToolSpec): ToolSpec {
  const properties = { ...(spec.input_schema['properties'] as JsonObject) }
  for (const name of outside) delete (properties as Record<string, unknown>)[name]
  const { enum: wakes, ...wake } = properties['wake'] as { readonly enum: readonly string[] }
  const lines = spec.description.split('\n').filter((line) => !line.startsWith('- `external`'))
  const inside = { ...wake, enum: wakes.filter((one) => one !== 'external') }
  return {
    ...spec,
    description: lines.join('\n'),
    input_schema: { ...spec.input_schema, properties: { ...properties, wake: inside } },
  }
}
