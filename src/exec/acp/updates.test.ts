import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContentBlock, SessionUpdate } from '@agentclientprotocol/sdk'
import { ACP_LIST_LENGTH, ACP_TEXT_CHARS, ACP_WORD_CHARS } from './limits.ts'
import { optionsOf, recordOf, toolCallOf, word } from './updates.ts'

const said = (content: ContentBlock) => recordOf({ sessionUpdate: 'agent_message_chunk', content })

test('what an agent says is kept as text, what cannot be read by its name', () => {
  const long = 'x'.repeat(ACP_TEXT_CHARS)
  for (const [content, text] of [
    [{ type: 'text', text: 'two\n lines' }, 'two\n lines'],
    [{ type: 'text', text: long }, long],
    [{ type: 'text', text: `${long}y` }, `${long}… [cut]`],
    [{ type: 'resource_link', name: 'a\nb', uri: 'file:///a' }, '[a b: file:///a]'],
    [{ type: 'resource', resource: { uri: 'file:///a', text: 'inside' } }, 'inside'],
    [{ type: 'resource', resource: { uri: 'file:///a', text: `${long}y` } }, `${long}… [cut]`],
    [{ type: 'resource', resource: { uri: 'file:///a', blob: 'AA==' } }, '[file:///a]'],
    [{ type: 'image', data: 'AA==', mimeType: 'image/png' }, '[image]'],
    [{ type: 'audio', data: 'AA==', mimeType: 'audio/wav' }, '[audio]'],
  ] as [ContentBlock, string][]) {
    assert.deepEqual(said(content), { type: 'text', text })
  }
  const thought = { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } }
  assert.deepEqual(recordOf(thought as SessionUpdate), { type: 'thought', text: 'hm' })
})

test('a call and a plan are kept by their words and places, as many as a list holds', () => {
  const call = {
    toolCallId: 'c\n1',
    title: ' Read  it ',
    kind: 'read',
    status: 'pending',
    locations: [{ path: '/a\nb' }, { path: '/c', line: 0 }, { path: '/d', line: null }],
  }
  const kept = {
    tool_call_id: 'c 1',
    title: 'Read it',
    kind: 'read',
    status: 'pending',
    locations: ['/a b', '/c:0', '/d'],
  }
  for (const type of ['tool_call', 'tool_call_update'] as const) {
    const update = { sessionUpdate: type, ...call } as unknown as SessionUpdate
    assert.deepEqual(recordOf(update), { type, ...kept })
  }
  const nothing = { title: null, kind: null, status: null, locations: [] }
  assert.deepEqual(toolCallOf({ toolCallId: 'c' }), { tool_call_id: 'c', ...nothing })
  assert.deepEqual(toolCallOf({ toolCallId: 'c', title: '', kind: '', locations: null }), {
    tool_call_id: 'c',
    ...nothing,
  })
  const many = Array.from({ length: ACP_LIST_LENGTH + 1 }, (_, n) => n)
  const locations = many.map((n) => ({ path: `/${n}` }))
  const places = toolCallOf({ toolCallId: 'c', locations }).locations
  assert.deepEqual([places.length, places.at(-1)], [ACP_LIST_LENGTH, `/${ACP_LIST_LENGTH - 1}`])
  const entries = many.map((n) => ({ content: ` step\n${n}`, priority: 'low', status: 'pending' }))
  assert.deepEqual(recordOf({ sessionUpdate: 'plan', entries } as SessionUpdate), {
    type: 'plan',
    entries: many.slice(0, -1).map((n) => ({ content: `step ${n}`, status: 'pending' })),
  })
})

test('an option whose id is too long cannot be chosen, and is not shown', () => {
  const option = (optionId: string) => ({ optionId, name: 'do\nit', kind: 'allow_once' as const })
  const [most, more] = ['x'.repeat(ACP_WORD_CHARS), 'x'.repeat(ACP_WORD_CHARS + 1)]
  assert.deepEqual(optionsOf([option(more), option(most), option('')]), [
    { option_id: most, name: 'do it', kind: 'allow_once' },
    { option_id: '', name: 'do it', kind: 'allow_once' },
  ])
  const many = Array.from({ length: ACP_LIST_LENGTH + 2 }, (_, n) => option(`o${n}`))
  const shown = optionsOf([option(more), ...many])
  assert.deepEqual(
    [shown.length, shown.at(-1)?.option_id],
    [ACP_LIST_LENGTH, `o${ACP_LIST_LENGTH - 1}`],
  )
})

test('a word is one line, and cut where it is longer than its limit', () => {
  const most = 'x'.repeat(ACP_WORD_CHARS)
  assert.deepEqual(
    [word(` a\t\n b `), word(most), word(`${most}y`)],
    ['a b', most, `${most}… [cut]`],
  )
})

test('what says nothing about the work is not kept', () => {
  for (const sessionUpdate of [
    'user_message_chunk',
    'available_commands_update',
    'current_mode_update',
    'config_option_update',
    'session_info_update',
    'usage_update',
    'notice',
    'compaction_update',
    'compaction_summary_chunk',
  ]) {
    const content = { type: 'text', text: 'x' }
    assert.equal(recordOf({ sessionUpdate, content } as unknown as SessionUpdate), null)
  }
})
