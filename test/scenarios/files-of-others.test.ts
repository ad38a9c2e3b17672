/**
 * What happened to files that the agent works on: a person put one back, a command changed one, and
 * a commit was made. The requests say it, each as it is now.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Inspect } from '../../src/exec/inspect/inspect-port.ts'
import { calls, says, scriptedModel } from '../../src/testing/scripted-model.ts'
import { requestSnapshot } from '../support/request-text.ts'
import { onA } from '../support/scene.ts'
import { call, completes, picks, runs } from '../support/scripts.ts'
import { openStage, textOf, type Stage } from '../support/stage.ts'

const edits = () => calls(call('EditFile', { path: 'money.js', new_text: 'cents\n' }))
const revert = (s: Stage, more: { undo?: boolean } = {}) =>
  s.act({ do: 'revert_files', work_item_id: s.id('A'), ...more })

test('a file that the operator put back is among what was said, also about nothing', async (t) => {
  const s = await onA(
    t,
    edits,
    () => says('It counts cents now.'),
    ...[1, 2, 3].map(() => () => says('')),
    () => says('As you like.'),
  )
  await s.say('Count cents.')
  await revert(s)
  await revert(s, { undo: true })
  await s.say('And now?')
  const request = s.model.requests.find((one) => textOf(one).includes('And now?'))
  const text = textOf(request)
  assert.match(text, /^- the operator, [^,]+, about work_\S+: put back "money\.js"$/m)
  assert.match(text, /^- the operator, [^,]+, about work_\S+: undid its revert of "money/m)
  requestSnapshot(t, request, s.box.home, s.box.workspace)
})

test('a turn under way is told of a file that the operator put back', async (t) => {
  const s = await onA(
    t,
    edits,
    (stage) => async () => {
      await revert(stage)
      return calls('I look.', runs('ls'))
    },
    () => says('I leave it as it was.'),
    ...[1, 2, 3].map(() => () => says('')),
  )
  await s.say('Count cents.')
  const text = textOf(s.model.requests[4])
  assert.match(text, /The operator put back "money\.js": files that work_\S+ changed\. Do not make/)
  await s.sound()
})

test('a recap shows the place as it is then, and what commands changed', async (t) => {
  let item = ''
  const model = scriptedModel((request, n) => {
    if (n === 1) return calls(call('CreateWorkItem', { objective: 'Read' }))
    if (n === 2) {
      item = /work_[0-9a-f-]{4,36}/.exec(JSON.stringify(request.messages.slice(1)))?.[0] ?? ''
      return picks(item)
    }
    if (n === 3) return calls(runs('printf "one\\ntwo\\n" > by-command.txt'))
    if (n > 20) return completes(item, 'All of it is read. It says the same everywhere.')
    return calls(call('ReadFile', { path: `${n}.txt` }))
  })
  let commits = 0
  const repository = async () => ({
    branch: 'main',
    changed: 0,
    last: { commit: `c${(commits += 1)}`, subject: 'A', at: '2026-01-01T00:00:00Z' },
  })
  const inspect = {
    machine: async () => null,
    repository,
    tree: async () => ({ hash: null, problem: 'nobody looks' }),
    get: () => Promise.reject(new Error('nobody asks')),
  } satisfies Inspect
  const s = await openStage(t, { model, context_window: 30_000, inspect })
  execFileSync('git', ['init', '-q'], { cwd: s.box.workspace })
  const text = 'a line of a report, forty characters....\n'.repeat(170)
  for (let n = 1; n <= 20; n++) writeFileSync(join(s.box.workspace, `${n}.txt`), text)
  await s.say('Read them.')
  assert.equal(readFileSync(join(s.box.workspace, 'by-command.txt'), 'utf8'), 'one\ntwo\n')
  const [first, ...more] = model.requests.map((one) => /last commit c(\d+)/.exec(textOf(one))?.[1])
  assert.equal(first, '1')
  assert.ok(Number(more.at(-1)) > 1, 'the recap looked anew')
  assert.match(textOf(model.requests.at(-1)), /by-command\.txt \(ExecCommand \+2 −0 in round 3\)/)
  await s.sound()
})
