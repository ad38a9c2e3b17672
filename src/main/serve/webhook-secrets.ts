/**
 * The configured webhooks with their secrets, which are read at every delivery: a rotated one holds
 * at once, and a file that others can read enables nothing (docs/spec/http.md#webhooks).
 */
import type { Config } from '../../protocol/config.ts'
import type { WebhookConfig } from '../../protocol/webhook.ts'
import type { WebhookPorts } from '../../http/inbound/webhooks.ts'
import { secretProblem } from '../../http/inbound/signature.ts'
import { readSecretFile } from '../../exec/files/private-files.ts'
import { clock, expanded } from '../machine/machine.ts'
import { SecretRefusal } from '../homes/secrets.ts'
import type { Telemetry } from '../homes/telemetry.ts'

type Problem = { message: string; hint: string }
type Secrets = { usable: string[]; problems: Problem[] }

/** Those that can be used, and what ails the others. */
export async function secretsIn({ scheme, secret_files }: WebhookConfig): Promise<Secrets> {
  const found: Secrets = { usable: [], problems: [] }
  for (const path of secret_files.map(expanded)) {
    const read = await readSecretFile(path)
    if (!read.ok) {
      found.problems.push(read)
      continue
    }
    const problem = secretProblem(scheme, read.text)
    if (problem === null) found.usable.push(read.text)
    else {
      const hint = 'put the secret the service gave you into that file, and nothing else'
      found.problems.push({ message: `${path}: ${problem}`, hint })
    }
  }
  return found
}

/** Throws `SecretRefusal` for the first webhook that nothing could be verified for. */
export async function refuseUnsignedWebhooks({ webhooks = {} }: Config): Promise<void> {
  for (const [name, config] of Object.entries(webhooks)) {
    const { usable, problems } = await secretsIn(config)
    const [first] = problems
    if (usable.length > 0 || first === undefined) continue
    const message = `The webhook ${name} cannot be enabled without a secret: ${first.message}`
    throw new SecretRefusal('webhook_without_secret', { message, hint: first.hint })
  }
}

type Told = Pick<Telemetry, 'log' | 'delivery'>

export function webhookPorts(config: Config, { log, delivery }: Told): WebhookPorts {
  const webhooks = new Map(Object.entries(config.webhooks ?? {}))
  /** Who can sign for one webhook can sign for each that has a secret of it. */
  const sharing = async (name: string, secrets: readonly string[]): Promise<string[]> => {
    const sources: string[] = []
    for (const [other, given] of webhooks) {
      if (other === name) continue
      const { usable } = await secretsIn(given)
      if (usable.some((secret) => secrets.includes(secret))) sources.push(given.source ?? other)
    }
    return sources
  }
  return {
    async find(name) {
      const found = webhooks.get(name)
      if (found === undefined) return null
      const { usable, problems } = await secretsIn(found)
      for (const { message } of problems) {
        log.warn('a secret of a webhook cannot be used', { name, reason: message })
      }
      if (usable.length === 0) return null
      return { config: found, secrets: usable, also_from: await sharing(name, usable) }
    },
    now_ms: () => clock.now(),
    on_refused(webhook, agent_id, code, reason) {
      log.warn('a delivery was refused', { webhook, agent_id, code, reason })
      delivery({ via: 'webhook', result: 'refused' })
    },
  }
}
