import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelsOf } from './models.ts'

test('what the configuration says of a model goes before what is known of it', async () => {
  const config = {
    models: { 'openai/gpt-5.2': { effort: 'low' as const, max_output: 9_000, request_minutes: 5 } },
  }
  const models = await modelsOf(config, () => Promise.reject(new Error('none')))
  const [own, ours] = ['openai/gpt-5.2', 'openai/gpt-5.1'].map((id) => models.facts(id))
  models.close()
  assert.deepEqual(
    [own?.effort, own?.max_output, own?.context_window, own?.request_minutes],
    ['low', 9_000, 272_000, 5],
  )
  assert.deepEqual(
    [ours?.effort, ours?.max_output, ours?.request_minutes],
    ['medium', 128_000, null],
  )
})
