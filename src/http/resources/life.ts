/** Signs of life of an open request or a running task, as the owner's process has heard them. */
import { noLife, type SignsOfLife } from '../../protocol/records/turn-record.ts'
import type { HomePort } from '../request/ports.ts'

/** By the turn of the request, or the task. */
export function lifeOf(home: HomePort, agent_id: string, id: string): SignsOfLife {
  const sign = home.liveSigns(agent_id).find((one) => one.id === id)
  if (sign === undefined) return noLife
  const { last_sign_of_life_at, gives_up_at } = sign
  return { last_sign_of_life_at, gives_up_at }
}
