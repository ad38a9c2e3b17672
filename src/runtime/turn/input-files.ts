/**
 * Files that a request names: input that is longer than its room, whole, its images, and older
 * events. They are
 * written before the request goes out, and again by whoever finds them missing after a crash.
 */
import { charTokens } from '../../context/estimate.ts'
import { contextLimits } from '../../context/limits.ts'
import { mustTurn } from '../../domain/facts/facts.ts'
import type { Image } from '../../domain/image.ts'
import type { Message } from '../../domain/state/message.ts'
import { messagesOf } from '../../domain/turns/shown.ts'
import type { ModelMessage } from '../../ports/model-message.ts'
import { imagePathIn, outputPath } from '../home.ts'
import type { AgentPorts } from '../agent-ports.ts'

/** `messages` are those of the request that is about to be sent. */
export async function keepInputFiles(
  env: AgentPorts,
  messages: readonly ModelMessage[],
): Promise<void> {
  const turn = mustTurn(env.facts())
  const input = messagesOf(env.facts(), turn)
  const texts = messages.flatMap((one) => (one.role === 'user' ? [one.content] : []))
  const names = (path: string) => texts.some((text) => text.includes(path))
  const older = input.filter(({ to_coalesce }) => to_coalesce)
  const events = outputPath(env.ports.home, turn.id)
  if (older.length > 0 && names(events)) await keep(env, events, older.map(asEvent).join('\n'))
  for (const message of input) {
    for (const [at, image] of (message.images ?? []).entries()) {
      await keepImage(env, imagePathIn(env.ports.home)(message, at + 1, image), image)
    }
    const { id, body } = message
    if (charTokens(body) <= contextLimits.result_min.value) continue
    const path = outputPath(env.ports.home, id)
    if (names(path)) await keep(env, path, body)
  }
}

const asEvent = ({ created_at, source, resource, id, body }: Message): string =>
  `== ${created_at} ${source ?? '-'} ${resource ?? '-'} ${id}\n${body}\n`

/** What the ledger has lost is no file. */
async function keepImage(env: AgentPorts, path: string, { sha256 }: Image): Promise<void> {
  if (await env.ports.files.exists(path)) return
  const bytes = await env.store.ledger.blob(sha256)
  if (bytes !== null) await keep(env, path, bytes)
}

async function keep(
  { ports: { files, home } }: AgentPorts,
  path: string,
  text: string | Uint8Array,
) {
  if (await files.exists(path)) return
  await files.make_folder(`${home}/outputs`, 0o700)
  await files.write_atomic(path, text, 0o600)
}
