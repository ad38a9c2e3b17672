/** What a test of real clients needs beside a served home: webhooks, a typed client, a model. */
import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Webhook as Sender } from 'standardwebhooks'
import { Api } from '../../../src/client/api.ts'
import { Holon } from '../../../src/client/holon.ts'
import type { RouteAnswer, RouteInput, Route } from '../../../src/client/routes.ts'
import { systemClock } from '../../../src/exec/clock.ts'
import { keptAliveFetch } from '../../../src/models/transport/fetch.ts'
import type { ServedHome } from '../served-home.ts'

export const clock = systemClock()

const secrets = {
  billing: `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`,
  hub: 'It is a secret to everybody',
}

/** Two webhooks, `billing` by Standard Webhooks and `hub` by GitHub, before the home is served. */
export function configureWebhooks(at: ServedHome): void {
  const file = (name: keyof typeof secrets): string => {
    const path = join(at.folder, `${name}.secret`)
    writeFileSync(path, secrets[name], { mode: 0o600 })
    return path
  }
  mkdirSync(at.home, { mode: 0o700, recursive: true })
  const webhooks = {
    billing: {
      scheme: 'standard',
      secret_files: [file('billing')],
      resource: '{/data/id}',
      summary: 'Invoice {/data/id} is {/data/state}',
    },
    hub: { scheme: 'github', secret_files: [file('hub')] },
  }
  writeFileSync(join(at.home, 'config.json'), JSON.stringify({ webhooks }), { mode: 0o600 })
}

/** As a sender with the published library signs. */
export function standardHeaders(id: string, body: string, at = new Date(clock.now())) {
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Sender(secrets.billing).sign(id, at, body),
  }
}

/** As GitHub signs. */
export function githubHeaders(event: string, body: string) {
  const signature = createHmac('sha256', secrets.hub).update(body).digest('hex')
  return {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': `sha256=${signature}`,
  }
}

export type Posted = { status: number; body: Record<string, unknown> }

/** A POST of exactly these bytes, without any token. */
export async function post(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<Posted> {
  const response = await fetch(url, { method: 'POST', body, headers })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** The typed client, and the ports its stream wants. */
export function typedClient(t: TestContext, at: ServedHome, url: string) {
  const kept = keptAliveFetch()
  t.after(() => kept.close())
  const ports = {
    fetch: (...of: Parameters<typeof kept.fetch>) => kept.fetch(...of),
    clock,
    mint_key: () => randomUUID(),
    token: () => Promise.resolve(at.token),
  }
  const api = new Api(ports, { base_url: url })
  const holon = new Holon(api)
  /** The value of an answer that must be one. */
  const ask = async <R extends Route>(route: R, given: RouteInput<R>): Promise<RouteAnswer<R>> => {
    const answer = await holon.ask(route, given)
    assert.ok(answer.ok, answer.ok ? '' : JSON.stringify(answer.failure))
    return answer.value
  }
  return { api, ports, ask }
}
