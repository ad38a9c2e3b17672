/** What every request carries before anything is said: system text and tools. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { charTokens } from '../../context/estimate.ts'
import { promptText } from '../../context/template.ts'
import { toolHash, toolSpecs, toolTokens } from './tool-specs.ts'

/** Tools that came later have an own bound each. */
const later = new Set(['FindInFiles', 'WebFetch', 'ViewImage'])

test('system text and tools take at most 5,000 tokens', (t) => {
  const first = toolSpecs().filter(({ name }) => !later.has(name))
  const tokens = charTokens(JSON.stringify(first))
  const system = charTokens(promptText('system'))
  t.diagnostic(`system text ${system} tokens, ${first.length} tools ${tokens}`)
  assert.ok(system + tokens <= 5_000, `${system} + ${tokens}`)
})

test('a tool that came later takes at most 250 tokens, all tools and the system text 6,000', () => {
  for (const spec of toolSpecs()) {
    const tokens = charTokens(JSON.stringify(spec))
    if (later.has(spec.name)) assert.ok(tokens <= 250, `${spec.name}: ${tokens}`)
  }
  assert.ok(charTokens(promptText('system')) + toolTokens() <= 6_000)
})

test('a private child is offered what it may use', () => {
  const names = (to: 'public' | 'private') => toolSpecs(to).map(({ name }) => name)
  assert.deepEqual(
    names('private'),
    names('public').filter((name) => name !== 'SpawnAgent'),
  )
  const wait = (to: 'public' | 'private') => toolSpecs(to).find(({ name }) => name === 'WaitFor')
  const given = wait('private') ?? assert.fail('it cannot wait')
  const { properties } = given.input_schema as { properties: Record<string, { enum?: string[] }> }
  assert.deepEqual(properties['wake']?.enum, ['operator_input', 'task_result', 'timer'])
  for (const outside of ['source', 'delivery_mode']) assert.equal(outside in properties, false)
  assert.doesNotMatch(given.description, /external|trigger URL/)
  assert.match(wait('public')?.description ?? '', /`external`/)
  assert.notEqual(toolHash('private'), toolHash('public'))
  assert.ok(toolTokens('private') < toolTokens('public'))
})
