/** What an agent is told about how work is done, as lines of `holon agents show`. */
import type { AgentInstructions } from '../../protocol/records/instruction-record.ts'
import type { Context } from '../command/context.ts'
import { asking, failureOf } from '../command/records.ts'

type Line = readonly [head: string, text: string]

/** Asks for the files as they are now; in a home without a ledger there is nobody to ask about. */
export async function instructionLines(context: Context, agent: string): Promise<Line[]> {
  const found = await asking(context, async (api) => {
    const path = `/agents/${encodeURIComponent(agent)}/instructions`
    const answer = await api.get<AgentInstructions>(path)
    if (!answer.ok) throw failureOf(answer.failure)
    return answer.value
  })
  if (found === null) return []
  const { instructions, skills, not_looked_at } = found
  const more = not_looked_at === 0 ? [] : [`${not_looked_at} more folders were not looked at`]
  return [
    ...headed('instructions', instructions.map(instructionText)),
    ...headed('skills', [...skills.map(skillText), ...more]),
  ]
}

const headed = (head: string, texts: readonly string[]): Line[] =>
  texts.map((text, at) => [at === 0 ? head : '', text] as const)

function instructionText(file: AgentInstructions['instructions'][number]): string {
  switch (file.state) {
    case 'loaded': {
      const about = file.notice === null ? '' : `; ${file.notice}`
      return `${file.path}, ${size(file.bytes)}${about}`
    }
    case 'same':
      return `${file.path}, not shown: the same text as ${file.as}`
    case 'unusable':
      return `${file.path}, not shown: ${file.notice}`
  }
}

function skillText(skill: AgentInstructions['skills'][number]): string {
  switch (skill.state) {
    case 'offered':
      return `${skill.name}: ${skill.path}, ${size(skill.bytes)}`
    case 'hidden':
      return `${skill.name}: ${skill.path}, hidden by ${skill.by}`
    case 'unusable':
      return `${skill.path}, not listed: ${skill.notice}`
  }
}

const size = (bytes: number): string =>
  `${String(bytes).replace(/\B(?=(?:\d{3})+$)/g, ',')} ${bytes === 1 ? 'byte' : 'bytes'}`
