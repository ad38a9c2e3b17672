/** What is judged of a call is what its tool does: both find a path in the same place. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ToolBench } from '../testing/world/tool-context.ts'
import { applyPatch } from './files/apply-patch.ts'
import { editFile } from './files/edit-file.ts'
import { reachOf } from './reach.ts'

const bench = new ToolBench()
after(() => bench.close())

const own = join(bench.home, 'agents/main')

/** A path as a model writes it, and where it leads. */
const paths: readonly [string, string][] = [
  ['a.md', join(bench.workspace, 'a.md')],
  ['./memory/b.md', join(bench.workspace, 'memory/b.md')],
  ['sub/memory/c.md', join(bench.workspace, 'sub/memory/c.md')],
  ['memory.md', join(bench.workspace, 'memory.md')],
  ['memory/d.md', join(own, 'memory/d.md')],
  ['memory/deep/e.md', join(own, 'memory/deep/e.md')],
  ['memory/../notes/f.md', join(own, 'notes/f.md')],
  [join(own, 'work-items/work_1/plan.md'), join(own, 'work-items/work_1/plan.md')],
]

const patchOf = (path: string) => `--- /dev/null\n+++ ${path}\n@@ -0,0 +1 @@\n+here\n`

test('a file is judged where its tool writes it, by every spelling of its path', async () => {
  mkdirSync(own, { recursive: true })
  const of = { workdir: bench.workspace, agent_home: own }
  for (const [path, real] of paths) {
    const input = { path, new_text: 'here\n' }
    assert.deepEqual(reachOf('EditFile', input, of).writes, [real])
    assert.deepEqual(reachOf('ApplyPatch', { patch: patchOf(path) }, of).writes, [real])
    const call = await bench.begin(editFile, input)
    if ('refused' in call) assert.fail(call.refused.summary)
    assert.equal(call.intent.files[0]?.path, real)
    const patch = await bench.begin(applyPatch, { patch: patchOf(path) })
    if ('refused' in patch) assert.fail(patch.refused.summary)
    assert.equal(patch.intent.files[0]?.path, real)
    assert.equal(existsSync(real), false)
  }
})

test('a command runs in the folder that its tool gives it', () => {
  const of = { workdir: '/work', agent_home: '/holon/agents/main' }
  const reached = reachOf('ExecCommand', { cmd: 'ls', workdir: 'memory' }, of)
  assert.deepEqual(reached.lines, [{ text: 'ls', folder: '/work/memory' }])
})
