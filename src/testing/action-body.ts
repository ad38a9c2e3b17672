/** A command of the agent `main` as an action, in the workspace `/w`, that does nothing yet. */
import type { ActionBody, ActionCommand } from '../domain/policy/action.ts'

export const actionBody = (more: Partial<ActionBody> = {}): ActionBody => ({
  tool: 'ExecCommand',
  class: 'reattachable',
  agent: 'main',
  item: null,
  origin: 'operator',
  workspace: '/w',
  confined: false,
  commands: [],
  paths: [],
  hosts: [],
  mcp: null,
  git: [],
  ...more,
})

/** A command of a line, of a program that its name finds in `/usr/bin`. */
export const actionCommand = (
  argv: ActionCommand['argv'],
  more: Partial<ActionCommand> = {},
): ActionCommand =>
  ({
    argv,
    program: { kind: 'found', real_path: `/usr/bin/${argv[0]}`, area: 'outside', by: 'search' },
    cwd: { real_path: '/w', area: 'workspace' },
    env_names: [],
    redirects: [],
    wrapped_by: [],
    certain: true,
    ...more,
  }) as ActionCommand
