/**
 * Looks at the working trees that commands run in, for a home that this process owns; what does
 * them is loaded with the first command.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Redactor } from '../../domain/secrets/redact.ts'
import type { Trees } from '../../exec/ports.ts'
import { clock, env } from '../machine/machine.ts'

export function treesOf(home: string, redactor: Redactor): Trees {
  const folder = join(home, 'trees')
  let opened: Promise<Trees> | null = null
  const real = () =>
    (opened ??= Promise.all([
      import('../../exec/git/git.ts'),
      import('../../exec/git/trees.ts'),
      import('../../runtime/redact-notices.ts'),
    ]).then(([{ createGit }, { createTrees }, { secretsIn }]) =>
      createTrees({
        git: createGit({ parent_env: env }),
        folder,
        isSecret: secretsIn(redactor),
        now: () => clock.now(),
      }),
    ))
  return {
    before: async (...of) => (await real()).before(...of),
    changes: async (...of) => (await real()).changes(...of),
    forget: async (id) => (await real()).forget(id),
    // A home in which no command ever ran in a repository has no such folder.
    pending: async () => (existsSync(folder) ? (await real()).pending() : []),
  }
}
