/** The tools as a model is shown them: generated texts and schemas, in the registry's order. */
import { charTokens } from '../context/estimate.ts'
import type { JsonObject, ToolSpec } from '../models/model.ts'
import { toolTexts } from '../tools/generated.ts'
import { tools } from '../tools/registry.ts'
import { sha256 } from '../tools/sha256.ts'

let specs: readonly ToolSpec[] | null = null
let tokens: number | null = null
let hash: string | null = null

export function toolSpecs(): readonly ToolSpec[] {
  specs ??= tools.map(({ name }) => {
    const text = toolTexts[name]
    if (!text) throw new Error(`no generated text for ${name}: run npm run generate`)
    return {
      name,
      description: text.description,
      input_schema: text.input_schema as JsonObject,
    }
  })
  return specs
}

/** Changes when what a model is told of the tools does. */
export function toolHash(): string {
  hash ??= sha256(JSON.stringify(toolSpecs())).slice(0, 16)
  return hash
}

/** What the tools take of every request, in estimated tokens. */
export function toolTokens(): number {
  tokens ??= charTokens(JSON.stringify(toolSpecs()))
  return tokens
}
