// WebFetch on pages that the test gives: what the model reads of each, and what is refused.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import type { ConfinementState, Web, WebFault, WebPage } from '../../exec/ports.ts'
import { ToolBench } from '../../testing/world/tool-context.ts'
import { webFetch } from './web-fetch.ts'

const url = 'http://page.example/'
const page = (text: string): WebPage => ({
  ok: true,
  url,
  status: 200,
  title: 'T',
  text,
  cut: false,
})

function benchOf(
  t: TestContext,
  answer: WebPage | WebFault,
  sandbox: ConfinementState = { state: 'off' },
) {
  const asked: string[] = []
  const web: Web = {
    read: async (from) => {
      asked.push(from)
      return answer
    },
  }
  const processes: NonNullable<ConstructorParameters<typeof ToolBench>[0]>['processes'] = (
    real,
  ) => ({
    ...real,
    confinement: async () => sandbox,
  })
  const bench = new ToolBench({ web, processes })
  t.after(() => bench.close())
  return { bench, asked }
}

test('a page is its address, and one text of its title and its words', async (t) => {
  const { bench } = benchOf(t, page('# Hello'))
  const { result } = await bench.call(webFetch, { url })
  assert.deepEqual(result, {
    tool_name: 'WebFetch',
    status: 'success',
    summary: 'http://page.example/, 7 characters',
    result: { url, page: 'T\n# Hello' },
  })
})

test('of a long page the beginning is shown, and the whole is kept', async (t) => {
  const text = 'ä'.repeat(12_000)
  const { bench } = benchOf(t, page(text))
  const { result } = await bench.call(webFetch, { url })
  assert.ok(result.status === 'success')
  const shown = (result.result as { page: string }).page
  const [, path = ''] = /^T\nä{11999}\n\[… 1 characters more in (\/\S+) …\]$/.exec(shown) ?? []
  assert.equal(readFileSync(path, 'utf8'), `T\n${text}`)
  const fits = benchOf(t, page('ä'.repeat(11_999)))
  const { result: whole } = await fits.bench.call(webFetch, { url })
  assert.deepEqual(whole.status === 'success' && whole.result, {
    url,
    page: `T\n${'ä'.repeat(11_999)}`,
  })
})

test('a page that is longer than is read says so', async (t) => {
  const { bench } = benchOf(t, { ...page('a'), cut: true })
  const { result } = await bench.call(webFetch, { url })
  assert.deepEqual(result.status === 'success' && result.warnings, [
    { kind: 'incomplete', message: 'The page is longer than is read; its end is missing.' },
  ])
})

test('a refusal of the server is its status', async (t) => {
  for (const [status, code] of [
    [399, 'success'],
    [400, 'http_400'],
    [404, 'http_404'],
    [503, 'http_503'],
  ] as const) {
    const { bench } = benchOf(t, { ...page('no'), status })
    const { result } = await bench.call(webFetch, { url })
    assert.equal(result.status === 'error' ? result.error.code : result.status, code)
  }
})

/** What each fault is to a model. */
const kinds: Record<WebFault['code'], string> = {
  bad_url: 'rejected',
  not_listed: 'rejected',
  private_address: 'rejected',
  not_text: 'rejected',
  aborted: 'aborted',
  unknown_name: 'fault',
  no_connection: 'fault',
  redirects: 'fault',
  too_slow: 'fault',
  no_reader: 'fault',
}

test('every fault is told with its own words and what to do', async (t) => {
  for (const [code, kind] of Object.entries(kinds)) {
    const fault = { ok: false, code: code as WebFault['code'], message: `It is ${code}.` } as const
    const { bench } = benchOf(t, fault)
    const { result } = await bench.call(webFetch, { url })
    assert.ok(result.status === 'error')
    const { error } = result
    assert.deepEqual([error.kind, error.code, error.message], [kind, code, `It is ${code}.`])
    assert.equal(Boolean(error.hint), kind !== 'aborted')
  }
})

test('where commands have no network, nothing is asked for', async (t) => {
  const states: [ConfinementState, number][] = [
    [{ state: 'off' }, 1],
    [{ state: 'on', network: 'open', whom: 'everyone' }, 1],
    [{ state: 'on', network: { allow: ['page.example'] }, whom: 'everyone' }, 1],
    [{ state: 'on', network: 'none', whom: 'everyone' }, 0],
    [{ state: 'unavailable', why: 'no bwrap' }, 0],
  ]
  for (const [state, times] of states) {
    const { bench, asked } = benchOf(t, page('a'), state)
    const { result } = await bench.call(webFetch, { url })
    assert.equal(asked.length, times)
    if (times === 0) assert.equal(result.status === 'error' && result.error.code, 'no_network')
  }
})

test('after a crash it is read again', async (t) => {
  const { bench, asked } = benchOf(t, page('a'))
  const begun = await bench.begin(webFetch, { url })
  assert.ok('intent' in begun)
  await bench.recover(webFetch, { url }, begun)
  assert.deepEqual(asked, [url])
})
