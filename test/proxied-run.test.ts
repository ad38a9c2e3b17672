/**
 * The real command where the provider is reached through a proxy alone: the variables that other
 * programs read are enough, and what is said of a proxy never has its password.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { startModelServer, TEST_KEY } from '../src/testing/model-server/server.ts'
import { providerCertificate, startProxy } from '../src/testing/http/proxy.ts'
import { ServedHome } from './support/served-home.ts'

async function scene(t: TestContext) {
  const server = await startModelServer(() => ({ text: 'There are two beds.' }))
  const proxy = await startProxy({ to: server.port, credential: 'me:right-password' })
  t.after(async () => {
    await proxy.close()
    await server.close()
  })
  const at = new ServedHome(t)
  at.env['OPENAI_COMPATIBLE_BASE_URL'] = 'https://api.provider.test/v1'
  at.env['OPENAI_COMPATIBLE_API_KEY'] = TEST_KEY
  at.env['NODE_EXTRA_CA_CERTS'] = join(at.folder, at.write('provider.pem', providerCertificate))
  const run = (password: string) => {
    at.env['HTTPS_PROXY'] = `http://me:${password}@127.0.0.1:${proxy.port}`
    const model = 'openai-compatible/far'
    return at.holon('run', '--no-input', '--model', model, 'How many beds are there?')
  }
  return { server, proxy, run }
}

const patience = { timeout: 90_000 }

test('a run asks its model through the proxy that the environment names', patience, async (t) => {
  const { server, proxy, run } = await scene(t)
  const { exit, out, err } = await run('right-password')
  assert.equal(exit, 0, `${out}\n${err}`)
  assert.match(out, /There are two beds\./)
  assert.deepEqual(proxy.asked, ['CONNECT api.provider.test:443'])
  assert.equal(server.requests.length, 1)
})

test(
  'a run whose proxy refuses the password is held, and says which proxy',
  patience,
  async (t) => {
    const { server, proxy, run } = await scene(t)
    const { exit, out, err } = await run('wrong-password')
    const told = `${out}\n${err}`
    assert.equal(exit, 1, told)
    assert.match(told, /the agent is held/)
    const named = `the proxy http://127.0.0.1:${proxy.port} (HTTPS_PROXY) refuses its user`
    assert.ok(told.replace(/\s+/g, ' ').includes(named), told)
    assert.doesNotMatch(told, /wrong-password/)
    assert.equal(server.requests.length, 0)
  },
)
