/**
 * A long turn in a small window: it is told before results go, and what goes are results. What the
 * agent said, its plan, what it ran and what constrains it are in the request after.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { answerTokens, messageTokens } from '../../src/context/opening/fits.ts'
import { charTokens } from '../../src/context/estimate.ts'
import type { ModelRequest } from '../../src/models/model.ts'
import { toolTokens } from '../../src/runtime/turn/tool-specs.ts'
import { calls, scriptedModel } from '../../src/testing/scripted-model.ts'
import { requestSnapshot } from '../support/request-text.ts'
import { call, completes, picks, runs } from '../support/scripts.ts'
import { openStage, textOf } from '../support/stage.ts'

const window = 30_000
const minutes = (n: number) => 7 * n + 3
const note = (n: number) =>
  `Incident ${n}: ${minutes(n)} minutes (2026-08-0${(n % 9) + 1}, csv): the cache was sized in entries, ` +
  `not in bytes.\nDecision: count it from the first alert, as the operator wants.`
const plan = `# Plan\n\n${'Read each report, note the minutes, sum them up at the end.\n'.repeat(16)}`

const tokensOf = ({ system, messages }: ModelRequest): number =>
  toolTokens() +
  charTokens(system) +
  messages.reduce((sum, message) => sum + messageTokens(message, charTokens), 0)

const warning = /Runtime note: About [\d,]+ tokens are left before the older rounds of this turn/

test('after recaps of a long turn every finding, the plan and the commands are there', async (t) => {
  let item = ''
  const model = scriptedModel((request, n) => {
    if (n === 1) return calls(call('CreateWorkItem', { objective: 'Sum up 18 incidents', plan }))
    if (n === 2) {
      item = /work_[0-9a-f-]{4,36}/.exec(JSON.stringify(request.messages.slice(1)))?.[0] ?? ''
      return picks(item)
    }
    const at = n - 3
    if (at > 18) return completes(item, 'It is 654 minutes in all. I summed them up twice.')
    if (at === 9) return calls(note(at), runs('echo nine && cat nine.txt'))
    return calls(...(at === 0 ? [] : [note(at)]), call('ReadFile', { path: `${at + 1}.txt` }))
  })
  const s = await openStage(t, { model, context_window: window })
  const text = 'a line of a report, forty characters....\n'.repeat(170)
  for (let n = 1; n <= 19; n++) writeFileSync(join(s.box.workspace, `${n}.txt`), text)
  writeFileSync(join(s.box.workspace, 'nine.txt'), text)
  await s.say('Sum up the incidents. Count from the first alert.')
  const { requests } = model
  const rounds = await s.rows('rounds')
  const recapped = rounds.flatMap((round, i) => (round.recapped === undefined ? [] : [i]))
  assert.ok(recapped.length >= 2, `${recapped.length} recaps`)
  for (const [i, request] of requests.entries()) {
    assert.ok(tokensOf(request) <= window - answerTokens(window))
    const said = textOf(request)
    for (let n = 1; n <= i - 3; n++) assert.ok(said.includes(note(n)), `request ${i}, note ${n}`)
    if (i >= 2) assert.ok(said.includes('note the minutes, sum them up'), `request ${i}: the plan`)
  }
  for (const i of recapped) {
    const request = requests[i]
    assert.ok(request && tokensOf(request) <= window * 0.6, `request ${i} after its recap`)
    assert.match(textOf(request), /This turn goes on; it began because the operator wrote/)
    assert.match(textOf(request), /^Sum up the incidents\. Count from the first alert\.$/m)
    assert.doesNotMatch(textOf(request), warning, `the warning outlived the recap of request ${i}`)
    const before = requests.slice(0, i).map(textOf)
    assert.ok(
      before.some((one) => warning.test(one)),
      `nothing warned before request ${i}`,
    )
  }
  const last = requests.at(-1)
  assert.match(
    textOf(last),
    /ExecCommand "echo nine && cat nine\.txt": [^\n]* \[task_[0-9a-f-]{4,36}\]/,
  )
  const opening = last && { ...last, messages: last.messages.slice(0, 1) }
  requestSnapshot(t, opening, s.box.home, s.box.workspace)
  await s.sound()
})
