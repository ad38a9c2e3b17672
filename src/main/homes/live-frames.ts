/** Notices of the host as live frames of the event stream; null: clients do not get this one. */
import type { AgentFrame } from '../../protocol/live-frame.ts'
import type { HostNotice } from '../../runtime/ports.ts'
import { clock } from '../machine/machine.ts'

export function frameOf(notice: HostNotice): AgentFrame | null {
  switch (notice.kind) {
    case 'live':
      return liveFrame(notice)
    case 'retry': {
      const { agent_id, turn_id, message, delay_ms, attempt } = notice
      return { kind: 'retry', agent_id, turn_id, message, delay_ms, attempt }
    }
    case 'committed':
    case 'resting':
    case 'fault':
    case 'degraded_entered':
    case 'degraded_left':
      return null
  }
}

function liveFrame(notice: HostNotice & { kind: 'live' }): AgentFrame | null {
  const { agent_id, turn_id, round, event } = notice
  const request = { agent_id, turn_id, round }
  switch (event.type) {
    case 'text_delta':
      return null // Each stream reads it where it stands.
    case 'reasoning_delta':
      return { kind: event.type, ...request, text: event.text }
    case 'tool_call_started':
      return { kind: event.type, ...request, tool_name: event.tool_name }
    case 'alive':
      return { kind: event.type, ...request, at: new Date(clock.now()).toISOString() }
  }
}
