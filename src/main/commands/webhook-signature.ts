/**
 * Signs a body as the sender of a webhook does: by Standard Webhooks, or as GitHub. For
 * `holon webhook test`; what comes in is verified elsewhere, by code that shares nothing with this.
 */
import { createHmac } from 'node:crypto'
import type { DaemonPorts } from '../../cli/command/daemon-ports.ts'
import { readSecretFile } from '../../exec/files/private-files.ts'
import { clock, expanded, ids } from '../machine/machine.ts'

export const sign: DaemonPorts['sign'] = async ({ scheme, secret_files: [path] }, body, event) => {
  if (path === undefined) return { ok: false, message: 'the webhook names no secret' }
  const read = await readSecretFile(expanded(path))
  if (!read.ok) return { ok: false, message: read.message }
  const id = ids.mint('test')
  switch (scheme) {
    case 'standard': {
      const timestamp = String(Math.floor(clock.now() / 1_000))
      // The secret is base64 behind its prefix.
      const key = Buffer.from(read.text.replace(/^whsec_/, ''), 'base64')
      const signed = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`)
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signed.digest('base64')}`,
      }
      return { ok: true, headers }
    }
    case 'github': {
      const signed = createHmac('sha256', read.text).update(body).digest('hex')
      const headers = {
        'x-github-event': event,
        'x-github-delivery': id,
        'x-hub-signature-256': `sha256=${signed}`,
      }
      return { ok: true, headers }
    }
  }
}
