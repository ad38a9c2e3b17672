/**
 * Outside events that a sender signed (docs/spec/wait.md#deliveries): what was signed once is taken
 * once, whichever agent's address it is sent to. An event is an act like any other.
 */
import { repeated } from '../../domain/operator/inbox-acts.ts'
import type { OperatorAct } from '../../domain/operator/act.ts'
import { limits } from '../../domain/limits.ts'
import type { Done } from '../../domain/state/reply.ts'
import { plus } from '../../domain/time.ts'
import type { Store } from '../store.ts'

type Delivery = Extract<OperatorAct, { do: 'deliver' | 'dead_letter' }>

/** Whether a sender signed for it and for the name it gave it; an address is never signed. */
export const isSigned = (act: OperatorAct): act is Delivery & { sender_id: string } =>
  (act.do === 'deliver' || act.do === 'dead_letter') &&
  act.via.kind === 'webhook' &&
  act.sender_id !== undefined

/**
 * What a sender signed, one after the other where it has one name: of two that come at once to two
 * agents, the second finds the first.
 */
export const takeSigned = <R>(
  store: Store,
  act: Delivery & { sender_id: string },
  decided: () => Promise<R>,
): Promise<R | Done> =>
  store.inTurn(act.sender_id, async () => (await elsewhere(store, act)) ?? decided())

/** The answer of a delivery that came to another agent, or by another webhook of its sender. */
async function elsewhere(
  store: Store,
  act: Delivery & { sender_id: string },
): Promise<Done | null> {
  const { agent_id, sender_id, source = null, also_from = [] } = act
  const since = plus(store.now(), -limits.dedupe.value)
  for (const from of [source, ...also_from]) {
    const found = await store.ledger.deliveryBySender(null, from, sender_id, since)
    // Its own is looked up with the decision: a dead one is mended by its repetition.
    if (found === null || (found.agent_id === agent_id && found.source === source)) continue
    return repeated(found.message_id, found.id)
  }
  return null
}
