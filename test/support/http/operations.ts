/** What the served OpenAPI document says a client may ask, and what it will be answered. */
import type { Components, Schema } from '../schema-fit.ts'

export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  schema: Schema
}
type Content = Readonly<Record<string, { schema: Schema }>>

export type Operation = {
  /** `POST /agents/{agent}/messages`. */
  name: string
  method: string
  path: string
  parameters: readonly Parameter[]
  body: { required: boolean; content: Content } | null
  /** By status; null where the answer has no body that is described. */
  answers: Readonly<Record<string, Content | null>>
  /** Whether it is asked without the control token. */
  isOpen: boolean
}

export type Api = { operations: readonly Operation[]; components: Components }

type Ref = { $ref: string }
type Raw = {
  parameters?: (Ref | (Omit<Parameter, 'required'> & { required?: boolean }))[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, Ref | { content?: Content }>
  security?: unknown[]
}
export type Document = {
  paths: Record<string, Record<string, Raw>>
  components: Record<'schemas' | 'parameters' | 'responses', Record<string, unknown>>
}

export function apiOf(document: Document): Api {
  const { components } = document
  const at = <T>(one: T | Ref): T => {
    if (!(typeof one === 'object' && one !== null && '$ref' in one)) return one
    const [kind = '', name = ''] = one.$ref.split('/').slice(-2)
    const found = components[kind as keyof typeof components][name]
    if (found === undefined) throw new Error(`${one.$ref} leads nowhere`)
    return found as T
  }
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, raw]): Operation => {
      const answers = Object.entries(raw.responses).map(([status, response]) => {
        const { content } = at<{ content?: Content }>(response)
        return [status, content ?? null] as const
      })
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        parameters: (raw.parameters ?? []).map((one) => {
          const parameter = at<Omit<Parameter, 'required'> & { required?: boolean }>(one)
          return { ...parameter, required: parameter.required ?? false }
        }),
        body: raw.requestBody
          ? { required: raw.requestBody.required ?? false, content: raw.requestBody.content }
          : null,
        answers: Object.fromEntries(answers),
        isOpen: raw.security?.length === 0,
      }
    }),
  )
  return { operations, components: components.schemas as Components }
}
