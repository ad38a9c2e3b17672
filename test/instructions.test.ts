/**
 * What an agent is told about how work is done, end to end: instructions and the catalogue of
 * skills in the request, the body read on demand, bad files as notices, and the account of it all,
 * by the real command on a home at rest.
 */
import assert from 'node:assert/strict'
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { TurnContext } from '../src/protocol/records/context-record.ts'
import { openBox, temporaryHome } from '../src/testing/host/host-fixture.ts'
import { holon } from './support/command-line.ts'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { call } from './support/scripts.ts'

/** A home and a workspace with files that can be used and others that cannot. */
function places(t: TestContext) {
  const { home, workspace } = temporaryHome(t)
  const put = (path: string, content: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    return path
  }
  put(join(home, 'agents/main/AGENTS.md'), 'Answer in verse.\n')
  mkdirSync(join(workspace, 'AGENTS.md'))
  put(join(workspace, 'CLAUDE.md'), 'Count twice.\n@CLAUDE.md\n')
  const skill = put(
    join(workspace, '.agents/skills/counting/SKILL.md'),
    '---\nname: counting\ndescription: How things are counted here.\n---\n\nUse your fingers.\n',
  )
  put(join(workspace, '.agents/skills/empty/SKILL.md'), '')
  truncateSync(put(join(workspace, '.claude/skills/huge/SKILL.md'), ''), 3_000_000_000)
  return { home, workspace, skill }
}

async function lived(t: TestContext) {
  const { home, workspace, skill } = places(t)
  const model = scriptedModel((_, n) =>
    n === 1 ? calls('I look it up.', call('ReadFile', { path: skill })) : says('Three.'),
  )
  const box = await openBox(t, { home, workspace, models: { default: model } })
  await box.makeAgent('test/any')
  await box.host.open()
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Count.' })
  await box.until(
    (notice) =>
      notice.kind === 'committed' && notice.events.some(({ event }) => event.type === 'turn_ended'),
    'the end of the turn',
  )
  const [turn] = await box.ledger.list('turns', { limit: 1 })
  await box.close()
  return { home, workspace, skill, model, turn }
}

const section = (system: string, title: string): string[] =>
  `${(system.split(`\n# ${title}\n\n`)[1] ?? '').split('\n# ')[0]}`.trim().split('\n')

test('instructions and skills reach the model, whatever lies beside them', async (t) => {
  const { home, workspace, skill, model, turn } = await lived(t)
  const [first, second] = model.requests
  assert.ok(first && second)
  assert.equal(turn?.outcome, 'completed')
  assert.equal(second.system, first.system)
  assert.deepEqual(section(first.system, 'Instructions of this agent and workspace').slice(2), [
    `Notice about "${workspace}/CLAUDE.md": one line is a path behind "@": such files are not ` +
      'put in, read them where they matter.',
    `Notice about "${workspace}/AGENTS.md": not shown: it is a folder.`,
    '',
    `<<instructions ${home}/agents/main/AGENTS.md>>`,
    'Answer in verse.',
    '<<instructions end>>',
    '',
    `<<instructions ${workspace}/CLAUDE.md>>`,
    'Count twice.',
    '@CLAUDE.md',
    '<<instructions end>>',
  ])
  assert.deepEqual(section(first.system, 'Skills').slice(2), [
    `Notice about "${workspace}/.agents/skills/empty/SKILL.md": not listed: it does not begin ` +
      'with a line "---" and the keys of a skill below it.',
    `Notice about "${workspace}/.claude/skills/huge/SKILL.md": not listed: 3000000000 bytes, ` +
      'and at most 262144 are read.',
    '',
    '<<catalogue skills>>',
    `- counting: How things are counted here. (${skill})`,
    '<<catalogue end>>',
  ])
  const read = second.messages.flatMap((one) => (one.role === 'tool' ? one.results : []))
  assert.match(read[0]?.text ?? '', /6\tUse your fingers\./)
})

test('what was loaded is shown by context show and by agents show', async (t) => {
  const { home, workspace, skill } = await lived(t)
  const turn = JSON.parse(await holon(home, 'context', 'show', '--json')) as TurnContext
  const files = (turn.requests.at(-1)?.sections ?? []).flatMap((one) => one.files ?? [])
  const account = files.map(({ path, bytes, form }) => [path, bytes, form])
  assert.deepEqual(account, [
    [join(home, 'agents/main/AGENTS.md'), 17, 'full'],
    [join(workspace, 'CLAUDE.md'), 24, 'full'],
    [join(workspace, 'AGENTS.md'), null, 'omitted'],
    [skill, 84, 'full'],
    [join(workspace, '.agents/skills/empty/SKILL.md'), 0, 'omitted'],
    [join(workspace, '.claude/skills/huge/SKILL.md'), 3_000_000_000, 'omitted'],
  ])
  const table = await holon(home, 'context', 'show')
  assert.ok(table.includes(`${skill}\t84\tfull\tskill counting\n`), table)
  assert.match(table, /^skills\t\d+\tfull\t1 skill; 2 files unusable$/m)
  const shown = await holon(home, 'agents', 'show', 'main')
  assert.ok(shown.includes(`instructions  ${home}/agents/main/AGENTS.md, 17 bytes\n`), shown)
  assert.ok(shown.includes(`${workspace}/AGENTS.md, not shown: it is a folder\n`), shown)
  assert.ok(shown.includes(`skills        counting: ${skill}, 84 bytes\n`), shown)
})
