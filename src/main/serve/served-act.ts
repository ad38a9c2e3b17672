/**
 * An act that reaches the daemon: checked for what only this process knows, carried out by the
 * host, and counted where it leaves no event to be counted by.
 */
import type { HomePort } from '../../http/request/ports.ts'
import type { ModelRejectionCode } from '../../models/catalogue/open-model.ts'
import type { OperatorCommand, OperatorReply } from '../../protocol/acts/operator.ts'
import type { TakenHome } from '../homes/own-home.ts'
import type { Telemetry } from '../homes/telemetry.ts'

type Ports = {
  host: Pick<TakenHome['host'], 'act'>
  models: Pick<TakenHome['models'], 'open'>
  /** Of every agent that is made without one: as `holon run` finds it. */
  usual_model: string | null
}

export function servedAct(
  { host, models, usual_model }: Ports,
  telemetry: Pick<Telemetry, 'delivery'>,
): HomePort['act'] {
  return async (given) => {
    const command =
      usual_model !== null && namesNone(given) ? { ...given, model: usual_model } : given
    const refusal = await modelRefusal(models, command)
    if (refusal !== null) return refusal
    const reply = await host.act(command)
    if (cameAgain(command, reply)) {
      telemetry.delivery({ via: command.via.kind, result: 'duplicate' })
    }
    return reply
  }
}

/** A template may have a model of its own. */
const namesNone = (command: OperatorCommand): command is OperatorCommand & { do: 'create_agent' } =>
  command.do === 'create_agent' &&
  (command.model ?? null) === null &&
  command.template === undefined

/** What names no model is asked for wrongly; what cannot be opened as it is has its own code. */
const misnamed: ReadonlySet<string> = new Set([
  'bad_model_name',
  'unknown_model',
  'unknown_provider',
] satisfies ModelRejectionCode[])

/** A model that cannot be asked is refused before it is stored, as `holon run` does. */
async function modelRefusal(
  models: Ports['models'],
  command: OperatorCommand,
): Promise<OperatorReply | null> {
  if (command.do !== 'create_agent' && command.do !== 'configure_agent') return null
  for (const id of [command.model, command.fallback_model]) {
    if (id === undefined || id === null) continue
    const found = await models.open(id)
    if (found.ok) continue
    const { code, message } = found
    const said = misnamed.has(code) ? 'model_unknown' : code
    return { ok: false, code: said, message, hint: hintOf(code) }
  }
  return null
}

/** Whoever sets a key in a shell of their own has not set it here: nothing says so but this. */
const hintOf = (code: string): string =>
  code === 'no_key' || code === 'no_base_url'
    ? 'The daemon has the environment it was started in: `holon stop && holon start` where it ' +
      'is set, or `holon init`, which keeps it.'
    : '`holon config show` lists the providers of this home.'

type Delivery = Extract<OperatorCommand, { do: 'deliver' | 'dead_letter' }>

/** The rules answer what came before with the first, and store nothing. */
const cameAgain = (command: OperatorCommand, reply: OperatorReply): command is Delivery =>
  (command.do === 'deliver' || command.do === 'dead_letter') &&
  reply.ok &&
  reply.warnings.some(({ kind }) => kind === 'duplicate')
