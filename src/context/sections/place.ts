/**
 * Where the agent works, in one line of the opening: the machine and what runs on it, and the
 * repository as it is now. It spares the first commands of most turns. Branch and subject are
 * whoever wrote them: in quotes, on one line, and short.
 */
import type { Timestamp } from '../../domain/time.ts'
import { ago, counted, quoted } from '../phrase.ts'
import { full, omitted, type Section } from '../section.ts'

/** As the machine's own look has it; both may be missing: what is late is left out. */
export type EnvironmentInfo = {
  machine: { os: string; shell: string; programs: readonly string[] } | null
  repository: {
    branch: string | null
    changed: number
    last: { commit: string; subject: string; at: string } | null
  } | null
}

/** Characters of a commit's subject, and of a branch: they are named, not read. */
const nameChars = 72

/** Null: nothing was seen in time. */
export function placeLine({ machine, repository }: EnvironmentInfo, now: Timestamp): string | null {
  const parts = [
    ...(machine === null ? [] : [[machine.os, machine.shell, ...machine.programs].join(', ')]),
    ...(repository === null ? [] : [repositoryText(repository, now)]),
  ]
  return parts.length === 0 ? null : `${parts.join('. ')}.`
}

function repositoryText(
  { branch, changed, last }: NonNullable<EnvironmentInfo['repository']>,
  now: Timestamp,
): string {
  const on = branch === null ? 'no branch (detached)' : `branch ${quoted(branch, nameChars)}`
  const files = changed === 0 ? 'all committed' : `${counted(changed, 'path')} not committed`
  const commit =
    last === null
      ? 'no commit yet'
      : `last commit ${last.commit} ${quoted(last.subject, nameChars)}${when(last.at, now)}`
  return `Git: ${on}, ${files}, ${commit}`
}

/** A commit may say any time, and none that is one. */
function when(at: string, now: Timestamp): string {
  const ms = Date.parse(at)
  return Number.isNaN(ms) ? '' : `, ${ago(new Date(ms).toISOString(), now)}`
}

export const placeSection = (place: string | null | undefined): Section =>
  place
    ? full('place', `# Where you work\n\n${place}`, 'as this was written')
    : omitted('place', 'it was not seen in time')
