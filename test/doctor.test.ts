/** `holon doctor` on real homes: what is well is said, and what is not names its remedy. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { ServedHome } from './support/served-home.ts'

type Checks = { checks: { level: string; name: string; says: string; do: string | null }[] }

async function doctor(at: ServedHome, ...args: string[]) {
  const { exit, out } = await at.holon('doctor', '--json', ...args)
  const { checks } = JSON.parse(out) as Checks
  return { exit, of: (name: string) => checks.find((check) => check.name === name) }
}

function configured(t: TestContext): ServedHome {
  const at = new ServedHome(t)
  mkdirSync(at.home, { mode: 0o700 })
  const key = (name: string) => join(at.folder, name)
  const kind = 'openai-compatible'
  const base_url = 'http://127.0.0.1:9/v1'
  const providers = {
    there: { kind, base_url, api_key_file: key('there') },
    gone: { kind, base_url, api_key_file: key('gone') },
    open: { kind, base_url, api_key_file: key('open') },
    unset: { kind, base_url, api_key_env: 'NO_SUCH_KEY' },
    set: { kind, base_url, api_key_env: 'A_KEY' },
    blank: { kind, base_url, api_key_env: 'A_BLANK_KEY' },
    none: { kind, base_url },
  }
  Object.assign(at.env, { A_KEY: 'k-2345678901', A_BLANK_KEY: ' ' })
  writeFileSync(key('there'), 'k-1234567890', { mode: 0o600 })
  writeFileSync(key('open'), 'k-0987654321')
  chmodSync(key('open'), 0o644)
  writeFileSync(join(at.home, 'config.json'), JSON.stringify({ providers }), { mode: 0o600 })
  return at
}

test('each key is named with what ails it, and never shown', async (t) => {
  const at = configured(t)
  const { exit, of } = await doctor(at)
  assert.equal(exit, 1)
  assert.deepEqual(of('key there'), { level: 'ok', name: 'key there', says: '~/there', do: null })
  assert.deepEqual(of('key gone'), {
    level: 'fail',
    name: 'key gone',
    says: '~/gone: it is not there',
    do: 'put the key into that file, mode 0600, or run holon init',
  })
  assert.deepEqual(of('key set'), { level: 'ok', name: 'key set', says: 'in A_KEY', do: null })
  for (const [id, variable] of [
    ['unset', 'NO_SUCH_KEY'],
    ['blank', 'A_BLANK_KEY'],
  ]) {
    assert.deepEqual(of(`key ${id}`), {
      level: 'warn',
      name: `key ${id}`,
      says: `${variable} is not set here`,
      do: `set ${variable} where the daemon is started`,
    })
  }
  assert.equal(of('key none'), undefined)
  assert.match(of('secret')?.do ?? '', /^chmod 600 .*open$/)
  const text = await at.holon('doctor')
  assert.ok(!/k-\d/.test(text.out))
  // Where the machine can, and where it cannot.
  assert.match(text.out, /(ok {4}sandbox .* are confined, with|warn {2}sandbox .*cannot be here)/)
  assert.match(text.out, /ok {4}policy .*\(preset w(ork|atch)\)/)
})

test('a window too small for long turns is told, by doctor and at the head of a run', async (t) => {
  const at = new ServedHome(t)
  const model = 'runbook'
  const set = async (context_window: number) => {
    mkdirSync(at.home, { recursive: true, mode: 0o700 })
    const config = { model, models: { [model]: { context_window } } }
    writeFileSync(join(at.home, 'config.json'), JSON.stringify(config), { mode: 0o600 })
    return (await doctor(at)).of('model')
  }
  at.write('job.md', '# Job\n\n## Step\n\n```sh\ntrue\n```\n')
  const small = /runbook has a window of 8,000 tokens: below 16,000 a long turn keeps little/
  const told = await set(8_000)
  assert.equal(told?.level, 'warn')
  assert.match(told.says, small)
  assert.match((await at.holon('run', 'job.md')).err, small)
  assert.equal((await set(16_000))?.level, 'ok')
})

test('the invariants of the live rows are asked, and one that is broken is a failure', async (t) => {
  const at = new ServedHome(t)
  at.write('job.md', '# Job\n\n## Step\n\n```sh\ntrue\n```\n')
  assert.equal((await at.holon('run', 'job.md')).exit, 0)
  const well = await doctor(at)
  assert.deepEqual([well.exit, well.of('invariants')?.says], [0, 'hold for every agent'])
  const history = await doctor(at, '--verify')
  assert.equal(history.of('invariants')?.says, 'hold for every agent, in its history too')

  const { work_items } = await at.json<{ work_items: { id: string }[] }>('work', 'list', '--all')
  const database = new DatabaseSync(join(at.home, 'ledger', 'ledger.sqlite'))
  database
    .prepare(`update agents set data = json_set(data, '$.current_work_item_id', ?)`)
    .run(work_items[0]?.id ?? '')
  database.close()
  const ill = await doctor(at)
  assert.equal(ill.exit, 1)
  const found = ill.of('invariants')
  assert.deepEqual(
    [found?.level, found?.do],
    ['fail', 'this is a bug of holon: keep the home and report it'],
  )
  assert.match(found?.says ?? '', /^runbooks: invariant 7: work_\S+ is completed and in focus/)
})
