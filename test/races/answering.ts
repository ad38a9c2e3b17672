/** What the operator says to an agent that asks: bound to the question, if one is open. */
import type { OperatorAct } from '../../src/domain/operator/act.ts'
import type { World } from '../sim/world.ts'

export function becauseAnswered(world: World): OperatorAct {
  const said = { do: 'send', agent_id: 'main', text: 'yes, go on' } as const
  const waits = world.host?.facts('main')?.rows('waits') ?? []
  for (const { id, wake, status } of waits) {
    if (wake === 'operator_input' && status === 'active') return { ...said, wait_id: id }
  }
  return said
}
