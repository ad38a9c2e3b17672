/** A check and what came of it in one line, the same in messages, briefs, prompts and lists. */
import type { Check, CheckSpec } from '../state/check.ts'
import { limits } from '../limits.ts'

/** `tests (npm test): failed, exit status 1`, as it stands in lists. */
export function endLine(check: Check): string {
  const { run } = check
  const head = `${check.name} (${asked(check)})`
  if (run === null) return head
  if (run.state !== 'finished') {
    return `${head}: ${check.kind === 'person' ? 'not answered yet' : run.state}`
  }
  const status = check.kind === 'http' ? 'HTTP status' : 'exit status'
  const parts: string[] = [run.outcome]
  if (run.exit_status !== null) parts.push(`${status} ${run.exit_status}`)
  if (run.reason !== null) parts.push(run.reason)
  return `${head}: ${parts.join(', ')}`
}

/** What a check asks, in one line. */
export function asked(check: CheckSpec): string {
  switch (check.kind) {
    case 'command':
      return firstLine(check.cmd)
    case 'http':
      return `GET ${check.url} is ${check.status}`
    case 'person':
      return firstLine(check.question)
    case 'file': {
      const { path, expect } = check
      if ('exists' in expect) return `${path} ${expect.exists ? 'exists' : 'does not exist'}`
      if ('sha256' in expect) return `${path} has SHA-256 ${expect.sha256.slice(0, 12)}…`
      return `${path} contains ${JSON.stringify(firstLine(expect.contains))}`
    }
  }
}

/** The first line of a text, as it stands in lists. */
export function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  const most = limits.label.value
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`
}
