import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { z } from 'zod'
import { toolTexts } from './generated.ts'
import { tools, validateCall } from './registry.ts'

/** The file beside the code that a model reads: CreateWorkItem → work/create-work-item.md. */
const fileOf = (name: string) => name.replaceAll(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase()
const textOf = (name: string) => {
  const [path = ''] = globSync(`**/${fileOf(name)}.md`, { cwd: import.meta.dirname })
  return readFileSync(join(import.meta.dirname, path), 'utf8').trim()
}

test('what the model is shown of each tool', (t) => {
  for (const { name } of tools) t.assert.snapshot({ name, ...toolTexts[name] })
})

test('every tool has a text, and bounds of its arguments are told when one is out of them', () => {
  for (const { name, input } of tools) {
    assert.equal(toolTexts[name]?.description, textOf(name))
    const shown = toolTexts[name]?.input_schema as { properties: object; required?: string[] }
    const schema = z.toJSONSchema(input(), { io: 'input', target: 'draft-7' })
    const fields = [Object.keys(schema.properties ?? {}), schema.required]
    assert.deepEqual([Object.keys(shown.properties), shown.required], fields, name)
  }
})

test('every schema is a strict object at its root, in snake_case', () => {
  for (const { name, input } of tools) {
    const schema = z.toJSONSchema(input(), { io: 'input' })
    assert.deepEqual([schema.type, schema.additionalProperties], ['object', false], name)
    for (const field of Object.keys(schema.properties ?? {})) assert.match(field, /^[a-z_]+$/)
  }
})

test('a valid call is its tool and its input', () => {
  const call = validateCall('EditFile', '{"path":"a","new_text":""}')
  assert(call.ok)
  assert.deepEqual([call.tool.name, call.input], ['EditFile', { path: 'a', new_text: '' }])
})

test('arguments that lie deeper than any tool has them are refused, whatever is known of them', () => {
  for (const depth of [65, 100_000]) {
    const input = `{"odd":${'['.repeat(depth)}${']'.repeat(depth)}}`
    const call = validateCall('ListTasks', input)
    assert(!call.ok && call.result.status === 'error')
    assert.equal(call.result.error.code, 'arguments_too_deep')
  }
  assert.equal(validateCall('ListTasks', `{"odd":${'['.repeat(60)}${']'.repeat(60)}}`).ok, true)
})

test('a call without arguments may come as empty text', () => {
  const call = validateCall('ListTasks', ' ')
  assert.deepEqual(call.ok && call.input, {})
})

const wrong: [string, string, string, string, RegExp, RegExp][] = [
  [
    'an unknown tool with a near name',
    'ReadFiles',
    '{}',
    'unknown_tool',
    /There is no tool ReadFiles\./,
    /^Did you mean ReadFile.*\? The tools are: CreateWorkItem, /,
  ],
  ['snake_case for a tool', 'exec_command', '{}', 'unknown_tool', /no tool/, /mean ExecCommand/],
  ['a tool like no other', 'Browse', '{}', 'unknown_tool', /no tool/, /^The tools are/],
  [
    'broken JSON',
    'ReadFile',
    '{"path": "a" "limit": 3}',
    'invalid_json',
    /at character 13 of 24/,
    /It breaks here: \{"path": "a" "limit": 3\}/,
  ],
  [
    'JSON that breaks off',
    'EditFile',
    '{"path": "a", "new_text": "abc',
    'truncated_json',
    /at character 30 of 30/,
    /Send the whole call again/,
  ],
  ['no object', 'ReadFile', '["a"]', 'invalid_field', /expected object/, /It takes: path, offset/],
  [
    'a missing field',
    'ReadFile',
    '{}',
    'missing_field',
    /^path: Invalid input: expected string, received undefined\.$/,
    /It takes: path, offset, limit\./,
  ],
  [
    'a field of the wrong type',
    'ReadFile',
    '{"path":"a","offset":"3"}',
    'invalid_field',
    /^offset: Invalid input: expected number, received string\.$/,
    /correct the call/,
  ],
  [
    'a value outside its range',
    'ExecCommand',
    '{"cmd":"true","yield_ms":9999999}',
    'invalid_field',
    /^yield_ms: Too big: expected number to be <=600000\.$/,
    /correct the call/,
  ],
  [
    'unknown fields of a call that cannot be taken back',
    'TaskInput',
    '{"task_id":"task_1","text":"y","ends":true,"shell":"zsh"}',
    'unknown_field',
    /^ends: there is no such field; shell: there is no such field\.$/,
    /^ends may be meant as end\. TaskInput: correct the call/,
  ],
  [
    'an unknown field in place of one that is needed',
    'ExecCommand',
    '{"cmds":"true"}',
    'missing_field',
    /^cmd: .* received undefined; cmds: there is no such field\.$/,
    /cmds may be meant as cmd\./,
  ],
  [
    'a name of other programs',
    'Grep',
    '{}',
    'unknown_tool',
    /no tool/,
    /^Here that is FindInFiles; for patterns ExecCommand/,
  ],
  [
    'a word that is not one of the choices',
    'UpdateWorkItem',
    '{"work_item_id":"work_1","plan_status":"done"}',
    'invalid_field',
    /^plan_status: Invalid option: expected one of "draft"\|"ready"\|"needs_input"\.$/,
    /correct the call/,
  ],
]

for (const [name, tool, json, code, message, hint] of wrong) {
  test(`invalid input: ${name}`, () => {
    const call = validateCall(tool, json)
    if (call.ok || call.result.status !== 'error') return assert.fail('it was accepted')
    const { error } = call.result
    assert.deepEqual([call.result.tool_name, error.kind, error.code], [tool, 'invalid_input', code])
    assert.match(error.message, message)
    assert.match(error.hint ?? '', hint)
  })
}

const dropped: [string, string, unknown, RegExp][] = [
  [
    'ExecCommand',
    '{"cmd":"true","workdir":"x","work_dir":"y","shell":"zsh"}',
    { cmd: 'true', workdir: 'x' },
    /^ExecCommand has no field work_dir \(perhaps meant as workdir\), shell: left out\. It takes/,
  ],
  [
    'ReadFile',
    '{"path":"x","ofset":3}',
    { path: 'x' },
    /^ReadFile has no field ofset \(perhaps meant as offset\): left out\./,
  ],
  [
    'CreateWorkItem',
    '{"objective":"x","todo_list":[{"text":"a","state":"pending","stat":1}]}',
    { objective: 'x', todo_list: [{ text: 'a', state: 'pending' }] },
    /no field todo_list\[0\]\.stat \(perhaps meant as state\)/,
  ],
  [
    'CompleteWorkItem',
    '{"work_item_id":"work_1","result_summary":"x"}',
    { work_item_id: 'work_1' },
    /./,
  ],
]

for (const [tool, json, input, message] of dropped) {
  test(`fields that ${tool} does not know are left out, and said so`, () => {
    const call = validateCall(tool, json)
    assert(call.ok)
    assert.deepEqual(call.input, input)
    assert.deepEqual(
      call.warnings.map(({ kind }) => kind),
      ['unknown_fields'],
    )
    assert.match(call.warnings[0]?.message ?? '', message)
  })
}

test('a misspelt field refuses a call that would change something without it', () => {
  const calls: [string, string][] = [
    ['ExecCommand', '{"cmd":"rm -r out","wrokdir":"build"}'],
    ['ExecCommand', '{"cmd":"true","timeout":60}'],
    ['EditFile', '{"path":"x","new_text":"a","old_txt":"b"}'],
    ['SpawnAgent', '{"initial_message":"x","workspace_mod":"worktree"}'],
    ['CreateWorkItem', '{"objective":"x","plan_statu":"ready"}'],
  ]
  for (const [tool, json] of calls) {
    const call = validateCall(tool, json)
    if (call.ok || call.result.status !== 'error') assert.fail(`${tool} ${json} was accepted`)
    const { code, hint } = call.result.error
    assert.equal(code, 'unknown_field')
    assert.match(hint ?? '', /may be meant as/)
  }
})

test('what cannot be taken back is called with known fields alone', () => {
  const calls: Record<string, string> = {
    TaskInput: '{"task_id":"task_1","text":"yes","colour":"red"}',
  }
  const named = tools.filter(({ effect_class }) => effect_class === 'non_repeatable')
  assert.deepEqual(
    named.map(({ name }) => name),
    Object.keys(calls),
  )
  for (const [tool, json] of Object.entries(calls)) {
    const call = validateCall(tool, json)
    if (call.ok || call.result.status !== 'error') assert.fail(`${tool} ${json} was accepted`)
    assert.equal(call.result.error.code, 'unknown_field')
  }
})

test('a command is taken as cmd and as command; cmd wins where both are given', () => {
  const call = validateCall('ExecCommand', '{"command":"ls"}')
  assert.deepEqual([call.ok && call.input, call.ok && call.warnings], [{ cmd: 'ls' }, []])
  const both = validateCall('ExecCommand', '{"command":"ls","cmd":"pwd"}')
  assert.deepEqual(both.ok && both.input, { cmd: 'pwd' })
})
