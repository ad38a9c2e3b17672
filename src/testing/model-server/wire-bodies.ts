/**
 * Requests of tests that ask a scripted model, as each provider would get them: the body that its
 * adapter makes is judged by the provider's rules and published types. Nothing is sent.
 */
import type { JsonObject } from '../../ports/json.ts'
import type { ModelRequest } from '../../models/model.ts'
import type { FetchFunction } from '../../models/transport/fetch.ts'
import { adapters, hear, openAdapter } from './client.ts'
import { imagesIn } from './images.ts'
import { schemaViolations } from './schema.ts'
import { wires } from './server.ts'
import { nothingSaid } from './wire.ts'

/** What a provider would refuse of them, each with the wire and the number of its request. */
export async function refusedBodies(requests: readonly ModelRequest[]): Promise<string[]> {
  const found: string[] = []
  const asked = requests.filter((request) => !hasOwnParts(request))
  for (const adapter of adapters) {
    const { endpoint } = adapter
    const wire = wires.find((one) => one.endpoint === endpoint)
    if (wire === undefined) throw new Error(`no rules for ${endpoint}`)
    const bodies: JsonObject[] = []
    const fetch: FetchFunction = (_, init) => {
      bodies.push(JSON.parse(String(init?.body)) as JsonObject)
      return Promise.resolve(new Response('{}', { status: 400 }))
    }
    const opening = { base_url: 'http://127.0.0.1:9/v1', fetch }
    const { model, id } = await openAdapter(adapter, opening)
    for (const [n, request] of asked.entries()) {
      await hear(model, { ...request, model: id })
      const body = bodies.at(-1)
      if (body === undefined || bodies.length !== n + 1) throw new Error(`${endpoint}: no body`)
      const wrong = [
        ...wire.read(body, nothingSaid).violations,
        ...imagesIn(endpoint, body).violations,
        ...schemaViolations(endpoint, body),
      ]
      found.push(...wrong.map((one) => `${endpoint}, request ${n + 1}: ${one}`))
    }
  }
  return found
}

/** What a provider said of its own parts goes back to it alone, and its own server judged it. */
const hasOwnParts = ({ messages }: ModelRequest): boolean =>
  messages.some(
    (message) =>
      message.role === 'assistant' &&
      message.parts.some((part) => 'provider_metadata' in part && part.provider_metadata),
  )
