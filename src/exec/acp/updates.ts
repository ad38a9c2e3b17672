/**
 * From what an agent reports to what the journal keeps of it: text, thoughts, plans, and of a tool
 * call its title, kind, state and places. Pure. Contents of files, raw inputs and outputs are not
 * kept: they are the agent's own, and large.
 */
import type {
  ContentBlock,
  PermissionOption,
  SessionUpdate,
  ToolCallLocation,
} from '@agentclientprotocol/sdk'
import type { AcpOption, AcpToolCall } from '../../ports/acp.ts'
import type { AcpRecord } from './journal.ts'
import { ACP_LIST_LENGTH, ACP_TEXT_CHARS, ACP_WORD_CHARS } from './limits.ts'

/** Null for an update that says nothing about the work: modes, commands, titles, our own words. */
export function recordOf(update: SessionUpdate): AcpRecord | null {
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
      return { type: 'text', text: textOf(update.content) }
    case 'agent_thought_chunk':
      return { type: 'thought', text: textOf(update.content) }
    case 'tool_call':
    case 'tool_call_update':
      return { type: update.sessionUpdate, ...toolCallOf(update) }
    case 'plan':
      return {
        type: 'plan',
        entries: update.entries
          .slice(0, ACP_LIST_LENGTH)
          .map(({ content, status }) => ({ content: word(content), status })),
      }
    case 'user_message_chunk':
    case 'available_commands_update':
    case 'current_mode_update':
    case 'config_option_update':
    case 'session_info_update':
    case 'usage_update':
    case 'notice':
    case 'compaction_update':
    case 'compaction_summary_chunk':
      return null
  }
}

type ToolCallSaid = {
  toolCallId: string
  title?: string | null
  kind?: string | null
  status?: string | null
  locations?: readonly ToolCallLocation[] | null
}

export function toolCallOf(call: ToolCallSaid): AcpToolCall {
  const said = (text: string | null | undefined) => (text ? word(text) : null)
  return {
    tool_call_id: word(call.toolCallId),
    title: said(call.title),
    kind: said(call.kind),
    status: said(call.status),
    locations: (call.locations ?? []).slice(0, ACP_LIST_LENGTH).map(placeOf),
  }
}

const placeOf = ({ path, line }: ToolCallLocation): string =>
  typeof line === 'number' ? `${word(path)}:${line}` : word(path)

/** The first options only: more than can be shown cannot be chosen from. */
export const optionsOf = (options: readonly PermissionOption[]): AcpOption[] =>
  options
    .filter(({ optionId }) => optionId.length <= ACP_WORD_CHARS)
    .slice(0, ACP_LIST_LENGTH)
    .map(({ optionId, name, kind }) => ({ option_id: optionId, name: word(name), kind }))

/** What of a block can be read as text; pictures and sounds are named only. */
function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return cut(block.text, ACP_TEXT_CHARS)
    case 'resource_link':
      return `[${word(block.name)}: ${word(block.uri)}]`
    case 'resource': {
      const { resource } = block
      return 'text' in resource && typeof resource.text === 'string'
        ? cut(resource.text, ACP_TEXT_CHARS)
        : `[${word(resource.uri)}]`
    }
    case 'image':
    case 'audio':
      return `[${block.type}]`
  }
}

/** One line, so that nothing an agent names can pass for a line of its own. */
export const word = (text: string): string => cut(text.replace(/\s+/g, ' ').trim(), ACP_WORD_CHARS)

const cut = (text: string, chars: number): string =>
  text.length <= chars ? text : `${text.slice(0, chars)}… [cut]`
