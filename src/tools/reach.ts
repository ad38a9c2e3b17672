/**
 * What a call is about to reach on the machine, from its tool and its input alone: the lines it
 * runs, the files it writes, the addresses it asks. A tool that is not here reaches nothing: it
 * looks at files, or writes the agent's own records.
 */
import { resolve } from 'node:path'
import type { Reach } from '../domain/policy/build.ts'
import { judgedTools } from '../domain/policy/judged-tools.ts'
import { inWorkdir } from './files/file-access.ts'
import { parseDiff } from './files/patch.ts'
import type { ToolContext } from './tool/tool.ts'

/** `of`: where relative paths begin. An input that is not the tool's reaches nothing. */
export function reachOf(
  tool_name: string,
  input: unknown,
  of: Pick<ToolContext, 'workdir' | 'agent_home'>,
): Reach {
  const given = (input ?? {}) as Record<string, unknown>
  const text = (name: string): string[] => {
    const value = given[name]
    return typeof value === 'string' ? [value] : []
  }
  const at = (path: string) => inWorkdir(of, path)
  const nothing: Reach = { lines: [], writes: [], urls: [] }
  const judged = judgedTools.find((name) => name === tool_name)
  switch (judged) {
    case 'ExecCommand': {
      const [folder = '.'] = text('workdir')
      return {
        ...nothing,
        lines: text('cmd').map((cmd) => ({ text: cmd, folder: resolve(of.workdir, folder) })),
      }
    }
    case 'EditFile':
      return { ...nothing, writes: text('path').map(at) }
    case 'ApplyPatch':
      return { ...nothing, writes: text('patch').flatMap(filesOf).map(at) }
    case 'WebFetch':
      return { ...nothing, urls: text('url') }
    case undefined:
      return nothing
  }
}

/** A patch that cannot be read is refused by its tool, and writes nothing. */
function filesOf(patch: string): readonly string[] {
  const parsed = parseDiff(patch)
  return parsed.ok ? parsed.patch.paths : []
}
