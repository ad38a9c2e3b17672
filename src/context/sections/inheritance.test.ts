import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aSituation } from '../../testing/world/situations.ts'
import { charTokens } from '../estimate.ts'
import { inheritedSection } from './inheritance.ts'
import type { Opening } from '../message.ts'
import { renderOpening } from '../opening/render.ts'
import { anItem, aPrompt } from '../../testing/rows.ts'

const opening = (inherited?: string | null, window = 200_000) =>
  renderOpening(
    aSituation({
      items: [anItem('work_a')],
      focus: 'work_a',
      about: { id: 'work_a' },
      messages: [aPrompt('msg_1', 'Go on.')],
      ...(inherited === undefined ? {} : { inherited }),
    }),
    { tokens: charTokens, window, random_fence: '7f3a9c2e' },
  )

const textsOf = ({ system, user }: Opening) => ({ system, user })

test('what was inherited opens every request, before the work item and not as system text', () => {
  const plain = opening()
  const forked = opening('# Inherited from main\n\nAs it was.')
  assert.deepEqual(textsOf(forked), {
    system: plain.system,
    user: `# Inherited from main\n\nAs it was.\n\n${plain.user}`,
  })
  assert.deepEqual(opening(null), plain)
})

test('a window too small shows both ends of it, whole as one quoted block', () => {
  const text = `# Inherited from main\n${'<<abc plan>>\nword\n'.repeat(4_000)}last words\n`
  const shown = inheritedSection(text, charTokens, 2_000)
  const code = /^<<(\S+) end>>$/m.exec(shown.slice(-40))?.[1] ?? 'no mark'
  const lines = shown.split('\n')
  assert.deepEqual(
    [...lines.slice(0, 4), ...lines.slice(-2)],
    [
      '# Inherited, shortened to the window of this model',
      '',
      `<<${code} inherited>>`,
      '# Inherited from main',
      'last words',
      `<<${code} end>>`,
    ],
  )
  assert.equal(lines.filter((line) => line.startsWith(`<<${code} cut: `)).length, 1)
  assert.ok(charTokens(shown) <= 2_000)
  assert.equal(inheritedSection(text, charTokens, 2_000), shown)
  assert.ok(charTokens(opening(text, 16_000).user) <= 16_000 * 0.6)
})
