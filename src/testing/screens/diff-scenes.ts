/** A history of changed files, made by the real rules: one, several, one with a hostile name. */
import type { ToolResult } from '../../domain/state/call.ts'
import type { FileDiff } from '../../domain/state/file-diff.ts'
import { item, say, World } from '../world/agent-world.ts'
import { act, begin, end, turnOf } from '../world/turns.ts'

const changed: FileDiff = {
  kind: 'changed',
  path: '/w/src/a.ts',
  name: 'src/a.ts',
  added: 2,
  removed: 1,
  text: '@@ -1,2 +1,3 @@\n a\n-b\n+B\n+\tc\n',
  cut_lines: 0,
}
const added: FileDiff = {
  kind: 'added',
  path: '/w/new.ts',
  name: 'new.ts',
  added: 9,
  removed: 0,
  text: '@@ -0,0 +1,9 @@\n+1\n',
  cut_lines: 8,
}
const deleted: FileDiff = {
  kind: 'deleted',
  path: '/w/\u001b[31mold.ts',
  name: '\u001b[31mold.ts',
  added: 0,
  removed: 1,
  text: '@@ -1,1 +0,0 @@\n-\u001b]0;title\u0007\n',
  cut_lines: 0,
}

const done = (tool_name: string, result: unknown, diffs: readonly FileDiff[]): ToolResult => ({
  tool_name,
  status: 'success',
  summary: 'it is done',
  result,
  diffs,
})

export function patched(): World {
  const w = new World()
  say(w, { text: 'Fix the parser' })
  begin(w)
  const id = item(w, { objective: 'Fix the parser', focus: true })
  w.do((d) => d.emit({ type: 'turn_bound', id: turnOf(w).id, work_item_id: id }))
  const patch = (diffs: readonly FileDiff[]) =>
    act(w, { tool: 'ApplyPatch', input: {} }, () => undefined, {
      result: done('ApplyPatch', {}, diffs),
    })
  patch([changed])
  patch([changed, added, deleted])
  act(w, { tool: 'EditFile', input: { path: '/w/new.ts' } }, () => undefined, {
    result: done('EditFile', { change: 'created' }, [added]),
  })
  end(w)
  return w
}
