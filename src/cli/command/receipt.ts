/**
 * What became of a message that was to be heard at once: in which turn and request the agent got
 * it, or that it waits for the next request. It is looked up for a moment; the message is safe
 * either way.
 */
import { Holon } from '../../client/holon.ts'
import { safeLine } from '../../present/text/safe.ts'
import { printLines, type Context } from './context.ts'
import { asking } from './records.ts'

/** Milliseconds in which a running turn usually reaches its next safe point. */
const patience = 3_000
const lookEvery = 100

/** Prints what its receipt says once a request showed it, or when waiting makes no more sense. */
export async function printReceipt(
  context: Context,
  agent_id: string,
  message_id: string,
): Promise<void> {
  const { clock } = context.ports
  const giveUpAt = clock.monotonic() + patience
  const receipt = await asking(context, async (api) => {
    const holon = new Holon(api)
    const message = { agent: agent_id, message: message_id }
    for (;;) {
      const answer = await holon.ask('GET /agents/{agent}/messages/{message}', message)
      // The message was taken, and that has been said: its receipt can be asked for later.
      if (!answer.ok) return null
      const { receipt } = answer.value
      if (receipt.request_id !== null || clock.monotonic() >= giveUpAt) return receipt
      const paused = Promise.withResolvers<void>()
      clock.after(lookEvery, paused.resolve)
      await paused.promise
    }
  })
  if (receipt !== null) printLines(context, [safeLine(context.ids.within(receipt.said))])
}
