/** A command of the agent `main` as an action, in the workspace `/w`, that does nothing yet. */
import type { ActionBody } from '../domain/policy/action.ts'

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
