/**
 * The lines between `---` and `---` at the head of a runbook file. Of them only checks mean
 * something here, `check tests: npm test`: they are the operator's, so `holon run` takes them off
 * the file and sets them itself. Other lines are left to other programs. Pure.
 */
import type { CheckGiven } from '../../domain/checks/spec.ts'
import { linesOf } from './markdown.ts'
import type { ParseError } from './parse-error.ts'

export type Front = {
  /** The text with these lines empty, so that every other line keeps its number. */
  body: string
  checks: readonly CheckGiven[]
  errors: readonly ParseError[]
}

const aCheck = /^check[ \t]+([^ \t:]+)[ \t]*:[ \t]*(.*)$/

export function frontOf(text: string): Front {
  const lines = linesOf(text)
  const end = lines[0]?.trimEnd() === '---' ? lines.findIndex(isEnd) : -1
  if (end === -1) return { body: text, checks: [], errors: [] }
  const checks: CheckGiven[] = []
  const errors: ParseError[] = []
  lines.slice(1, end).forEach((line, at) => {
    if (!/^check\b/.test(line)) return
    const [, name, cmd = ''] = aCheck.exec(line) ?? []
    if (name !== undefined && cmd.trim() !== '') {
      checks.push({ kind: 'command', name, cmd: cmd.trim() })
      return
    }
    const message = 'A check is written `check <name>: <command>`, like `check tests: npm test`.'
    errors.push({ code: 'bad_check', line: at + 2, message })
  })
  const body = lines.map((line, at) => (at <= end ? '' : line)).join('\n')
  return { body, checks, errors }
}

const isEnd = (line: string, at: number): boolean => at > 0 && line.trimEnd() === '---'
