/**
 * The second question of `holon init`: which provider. What is ready on this machine stands in the
 * same list: keys in the environment beside their provider, servers that answer here behind it.
 */
import type { Config } from '../../protocol/config.ts'
import { thereAre } from '../../present/text/names.ts'
import type { Context } from '../command/context.ts'
import { usage } from '../command/failure.ts'
import type { WireKind } from '../../ports/provider.ts'
import { providerKinds, type FoundHere } from '../command/setup-ports.ts'
import type { Questions } from './init-questions.ts'

type Server = FoundHere['servers'][number]

const names: Readonly<Record<WireKind, string>> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  google: 'Google',
  'openai-compatible': 'OpenAI-compatible address',
}
const none = 'none'

export async function provider(
  context: Context,
  questions: Questions,
  flag: string | undefined,
  config: Config,
): Promise<WireKind | Server | 'kept' | 'none'> {
  if (flag !== undefined) return kindNamed(flag)
  const kept = config.model
  if (kept !== undefined && !questions.may_ask) return 'kept'
  const { servers, first, list } = await choicesOf(context, questions)
  const now = kept === undefined ? '' : `now ${kept} (enter keeps it), or:  `
  const enter = kept === undefined && first !== null ? [`(enter: ${first})`] : []
  if (questions.may_ask) questions.offer(`2 model    ${now}`, [...list, ...enter])
  const otherwise = kept === undefined ? first : 'kept'
  for (;;) {
    const said = await questions.line('         >', '--provider', otherwise)
    if (said === 'kept') return 'kept'
    const at = Number(said) - 1
    if (at === providerKinds.length) return none
    const server = servers[at - providerKinds.length - 1]
    if (server !== undefined) return server
    const chosen = providerKinds[at] ?? [...providerKinds, none].find((kind) => kind === said)
    if (chosen !== undefined) return chosen as WireKind | 'none'
    questions.tell(`         a number from 1 to ${list.length}`)
  }
}

/**
 * What there is to choose from; `first`: the number of the provider that has a key, null: none has.
 * A server that answers on this machine may be anybody's: enter never means it.
 */
async function choicesOf({ ports }: Context, questions: Questions) {
  if (!questions.may_ask) return { servers: [], first: null, list: [] }
  const [{ servers }, ...usual] = await Promise.all([
    ports.setup.found(),
    ...providerKinds.map((kind) => ports.setup.usual(kind)),
  ])
  questions.still()
  const kinds = providerKinds.map((kind, at) => {
    const key = usual[at]?.key_variable ?? null
    return key === null ? names[kind] : `${names[kind]} (${key} is set)`
  })
  const here = servers.map(({ base_url, models: { length } }) => {
    return `${base_url} on this machine (${length} ${length === 1 ? 'model' : 'models'})`
  })
  const list = [...kinds, 'none, runbooks only', ...here].map((name, at) => `${at + 1} ${name}`)
  const keyed = usual.findIndex(({ key_variable }) => key_variable !== null) + 1
  return { servers, first: keyed === 0 ? null : String(keyed), list }
}

function kindNamed(text: string): WireKind | 'none' {
  const known = [...providerKinds, none] as const
  const found = known.find((kind) => kind === text)
  if (found !== undefined) return found
  throw usage('unknown_provider', `--provider ${text} is none`, thereAre(known))
}
