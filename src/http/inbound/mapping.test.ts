// Mapping of webhook deliveries: the presets over bodies as GitHub sends them, templates as a table
// of what is made or missing, and hostile JSON.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { webhookConfig, parseTemplate, type WebhookMapping } from '../../protocol/webhook.ts'
import { mapDelivery } from './mapping.ts'

const none = new Headers()
const github: WebhookMapping = { name: 'github', scheme: 'github' }
const standard: WebhookMapping = { name: 'billing', scheme: 'standard' }
const of = (event: string): Headers => new Headers({ 'X-GitHub-Event': event })

const repository = { full_name: 'ada/engine' }
const sha = '3f9c2e1d4b5a69788796a5b4c3d2e1f001122334'

describe('GitHub without a template', () => {
  const table: [string, object, { resource: string | null; summary: string | null }][] = [
    [
      'pull_request',
      { action: 'opened', repository, pull_request: { number: 12, title: 'Add a gear' } },
      { resource: 'ada/engine#12', summary: 'pull request opened: Add a gear' },
    ],
    [
      'pull_request_review',
      {
        action: 'submitted',
        repository,
        review: { state: 'approved', user: { login: 'bob' } },
        pull_request: { number: 12, title: 'Add a gear' },
      },
      { resource: 'ada/engine#12', summary: 'review approved by bob: Add a gear' },
    ],
    [
      'issue_comment',
      {
        action: 'created',
        repository,
        issue: { number: 7, title: 'It squeaks' },
        comment: { user: { login: 'bob' } },
      },
      { resource: 'ada/engine#7', summary: 'comment created by bob: It squeaks' },
    ],
    [
      'check_suite',
      {
        action: 'completed',
        repository,
        check_suite: { head_sha: sha, head_branch: 'main', conclusion: 'success' },
      },
      { resource: `ada/engine@${sha}`, summary: 'check suite success: main' },
    ],
    [
      'check_suite',
      {
        action: 'requested',
        repository,
        check_suite: { head_sha: sha, head_branch: 'main', conclusion: null },
      },
      { resource: `ada/engine@${sha}`, summary: 'check suite requested: main' },
    ],
    [
      'workflow_run',
      {
        action: 'completed',
        repository,
        workflow_run: { head_sha: sha, name: 'CI', conclusion: 'failure' },
      },
      { resource: `ada/engine@${sha}`, summary: 'workflow run failure: CI' },
    ],
    [
      'push',
      {
        ref: 'refs/heads/main',
        after: sha,
        repository,
        head_commit: { message: 'Oil it\n\nMuch.' },
      },
      { resource: `ada/engine@${sha}`, summary: 'push to refs/heads/main: Oil it Much.' },
    ],
    [
      'push',
      { ref: 'refs/heads/old', after: sha, repository, head_commit: null },
      { resource: `ada/engine@${sha}`, summary: 'push to refs/heads/old' },
    ],
    [
      'star',
      { action: 'created', repository },
      { resource: 'ada/engine', summary: 'star created' },
    ],
    ['organization', { action: 'renamed' }, { resource: null, summary: 'organization renamed' }],
    ['__proto__', {}, { resource: null, summary: '__proto__' }],
  ]
  for (const [event, json, expected] of table) {
    test(`${event} is about ${expected.resource}: ${expected.summary}`, () => {
      assert.deepEqual(mapDelivery(github, { json, headers: of(event) }), {
        ok: true,
        source: 'github',
        ...expected,
      })
    })
  }

  test('each event is about its own part of the body, and says the first it has everything for', () => {
    /** No value stands at two places. */
    const body = {
      action: 'done',
      repository,
      pull_request: { number: 1, title: 'Pull' },
      issue: { number: 2, title: 'Issue' },
      check_suite: { head_sha: 'suite-sha', head_branch: 'suite', conclusion: 'suite-end' },
      check_run: { head_sha: 'run-sha', name: 'run', conclusion: 'run-end' },
      workflow_run: { head_sha: 'flow-sha', name: 'flow', conclusion: 'flow-end' },
      workflow_job: { head_sha: 'job-sha', name: 'job', conclusion: 'job-end' },
      review: { state: 'approved', user: { login: 'bob' } },
      comment: { user: { login: 'eve' } },
      deployment: { sha: 'deployed-sha', environment: 'prod' },
      deployment_status: { state: 'live' },
      after: 'after-sha',
      ref: 'refs/heads/main',
      head_commit: { message: 'Turn it' },
      sha: 'status-sha',
      state: 'success',
      context: 'ci/build',
    }
    const unended = Object.fromEntries(
      ['check_suite', 'check_run', 'workflow_run', 'workflow_job'].map((kind) => [
        kind,
        { ...body[kind as 'check_run'], conclusion: null },
      ]),
    )
    const bare = { ...body, ...unended, review: null, comment: null, head_commit: null }
    const told = (event: string, json: object) => {
      const mapped = mapDelivery(github, { json, headers: of(event) })
      return mapped.ok ? [mapped.resource, mapped.summary] : mapped.message
    }
    const table: Record<string, [resource: string, summary: string, less?: string]> = {
      pull_request: ['#1', 'pull request done: Pull'],
      pull_request_review: ['#1', 'review approved by bob: Pull', 'review done: Pull'],
      pull_request_review_comment: ['#1', 'review comment done: Pull'],
      pull_request_review_thread: ['#1', 'pull_request_review_thread done'],
      issues: ['#2', 'issue done: Issue'],
      issue_comment: ['#2', 'comment done by eve: Issue', 'comment done: Issue'],
      check_suite: ['@suite-sha', 'check suite suite-end: suite', 'check suite done: suite'],
      check_run: ['@run-sha', 'check run run-end: run', 'check run done: run'],
      workflow_run: ['@flow-sha', 'workflow run flow-end: flow', 'workflow run done: flow'],
      workflow_job: ['@job-sha', 'workflow job job-end: job', 'workflow job done: job'],
      push: ['@after-sha', 'push to refs/heads/main: Turn it', 'push to refs/heads/main'],
      status: ['@status-sha', 'status success: ci/build'],
      deployment: ['@deployed-sha', 'deployment done'],
      deployment_status: ['@deployed-sha', 'deployment live: prod'],
      star: ['', 'star done'],
    }
    for (const [event, [resource, summary, less = summary]] of Object.entries(table)) {
      const about = `ada/engine${resource}`
      assert.deepEqual(told(event, body), [about, summary], event)
      assert.deepEqual(told(event, bare), [about, less], `${event}, less`)
      // Without its own part it is about the repository, and says its name and its action.
      assert.deepEqual(told(event, { action: 'done', repository }), ['ada/engine', `${event} done`])
      assert.deepEqual(told(event, { repository }), ['ada/engine', event])
      assert.deepEqual(told(event, {}), [null, event])
    }
  })

  test('a ping is answered and not delivered, unless it is asked for', () => {
    const ping = { json: { zen: 'Keep it.', repository }, headers: of('ping') }
    assert.equal(codeOf(github, ping), 'event_ignored')
    assert.equal(codeOf({ ...github, events: ['ping'] }, ping), 'ok')
  })
})

function codeOf(mapping: WebhookMapping, delivery: Parameters<typeof mapDelivery>[1]): string {
  const mapped = mapDelivery(mapping, delivery)
  return mapped.ok ? 'ok' : mapped.code
}

describe('events', () => {
  const events = ['invoice', 'user.created']
  const table: [unknown, string][] = [
    [{ type: 'invoice.paid' }, 'ok'],
    [{ type: 'invoice' }, 'ok'],
    [{ type: 'invoices.paid' }, 'event_ignored'],
    [{ type: 'user.created' }, 'ok'],
    [{ type: 'user.deleted' }, 'event_ignored'],
    [{}, 'event_ignored'],
    [undefined, 'event_ignored'],
  ]
  for (const [json, expected] of table) {
    test(`${JSON.stringify(json)} of a standard webhook: ${expected}`, () => {
      assert.equal(codeOf({ ...standard, events }, { json, headers: none }), expected)
    })
  }

  test('an action of GitHub is named behind its event', () => {
    const mapping = { ...github, events: ['pull_request.closed', 'push'] }
    const seen = [
      ['pull_request', 'closed'],
      ['pull_request', 'opened'],
      ['push', undefined],
    ].map(([event = '', action]) => codeOf(mapping, { json: { action }, headers: of(event) }))
    assert.deepEqual(seen, ['ok', 'event_ignored', 'ok'])
  })
})

describe('templates', () => {
  const json = {
    type: 'invoice.paid',
    id: 42,
    paid: true,
    none: null,
    list: ['a', 'b'],
    'a/b': 'slash',
    'm~n': 'tilde',
    '': 'empty name',
    data: { name: 'Ada\r\n\u001b[31m\u202eLovelace\u200b\0' },
  }
  const headers = new Headers({ 'X-Kind': 'note' })
  const table: [string, string][] = [
    ['{/id}', '42'],
    ['invoice {/id} of {/data/name}', 'invoice 42 of Ada [31mLovelace'],
    ['{/paid}', 'true'],
    ['{/list/1}', 'b'],
    ['{/a~1b} {/m~0n} {/}', 'slash tilde empty name'],
    ['{header:x-kind}', 'note'],
    ['{{{/id}}}', '{42}'],
    ['{/none}', 'The resource cannot be made: /none is null, not a text or a number.'],
    ['{/list}', 'The resource cannot be made: /list is a list, not a text or a number.'],
    ['{/data}', 'The resource cannot be made: /data is an object, not a text or a number.'],
    ['{/list/2}', 'The resource cannot be made: the body has nothing at /list/2.'],
    ['{/list/01}', 'The resource cannot be made: the body has nothing at /list/01.'],
    ['{/list/-}', 'The resource cannot be made: the body has nothing at /list/-.'],
    ['{/list/length}', 'The resource cannot be made: the body has nothing at /list/length.'],
    ['{/type/length}', 'The resource cannot be made: the body has nothing at /type/length.'],
    [
      '{/constructor/name}',
      'The resource cannot be made: the body has nothing at /constructor/name.',
    ],
    ['{/__proto__/x}', 'The resource cannot be made: the body has nothing at /__proto__/x.'],
    ['{header:x-none}', 'The resource cannot be made: the header x-none is missing.'],
  ]
  for (const [resource, expected] of table) {
    test(`${resource} makes: ${expected}`, () => {
      const mapped = mapDelivery({ ...standard, resource }, { json, headers })
      assert.equal(mapped.ok ? mapped.resource : mapped.message, expected)
      if (!mapped.ok) assert.equal(mapped.code, 'mapping_failed')
    })
  }

  test('without a template there is no resource, the type is the summary, the name the source', () => {
    const mapped = mapDelivery(standard, { json, headers })
    const expected = { ok: true, source: 'billing', resource: null, summary: 'invoice.paid' }
    assert.deepEqual(mapped, expected)
    assert.deepEqual(mapDelivery({ ...standard, source: 'the bank' }, { json, headers }), {
      ...expected,
      source: 'the bank',
    })
  })

  test('a resource that is too long or empty is refused, a summary is cut', () => {
    const name = 'x'.repeat(201)
    const map = (mapping: Partial<WebhookMapping>, value: string) =>
      mapDelivery({ ...standard, ...mapping }, { json: { name: value, type: 't' }, headers: none })
    assert.deepEqual(map({ resource: '{/name}' }, name), {
      ok: false,
      code: 'mapping_failed',
      message: 'The resource cannot be made: it has 201 characters, at most 200 are a name.',
    })
    assert.deepEqual(map({ resource: '{/name}' }, ' \n\u200b'), {
      ok: false,
      code: 'mapping_failed',
      message: 'The resource cannot be made: it is empty.',
    })
    const cut = map({ summary: '{/name}' }, `${'x'.repeat(198)}🙂🙂`)
    assert.equal(cut.ok ? cut.summary : '', `${'x'.repeat(198)}…`)
  })

  test('a body that is not JSON fails where the template asks for it, and only there', () => {
    const delivery = { json: undefined, headers }
    const by = (resource: string) => mapDelivery({ ...standard, resource }, delivery)
    const fixed = { ok: true, source: 'billing', resource: 'kind note', summary: null }
    assert.deepEqual(by('kind {header:x-kind}'), fixed)
    assert.deepEqual(by('{/id}'), {
      ok: false,
      code: 'mapping_failed',
      message: 'The resource cannot be made: /id: the body is not JSON.',
    })
  })
})

describe('hostile deliveries', () => {
  test('a key __proto__ is a value like another', () => {
    const json: unknown = JSON.parse('{"__proto__":{"x":"own"},"type":"t"}')
    const mapped = mapDelivery({ ...standard, resource: '{/__proto__/x}' }, { json, headers: none })
    assert.equal(mapped.ok ? mapped.resource : mapped.message, 'own')
  })

  test('a deep body and a huge text cost no more than what is looked at', () => {
    let deep: unknown = 'bottom'
    for (let n = 0; n < 100_000; n++) deep = { a: deep }
    const json = { type: 'x'.repeat(10_000_000), deep }
    const mapped = mapDelivery({ ...standard, resource: 'fixed' }, { json, headers: none })
    assert.equal(mapped.ok && mapped.summary?.length, 200)
  })

  test('whatever the body is, what is made is one short line, or a refusal that is one', () => {
    const mappings: WebhookMapping[] = [
      github,
      standard,
      { ...standard, resource: '{/a}', summary: '{/a/b} {/0}' },
      { ...github, resource: '{/repository/full_name}', summary: '{header:x-github-event}' },
    ]
    const key = fc.constantFrom('a', 'b', '0', 'type', 'action', 'repository', 'full_name', 'push')
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.constant('a\u2028b\u202e'),
    )
    const { json } = fc.letrec((again) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.double(),
        fc.constant(null),
        fc.dictionary(key, again('json'), { noNullPrototype: false }),
        fc.array(again('json'), { maxLength: 3 }),
      ),
    }))
    const event = fc.constantFrom('push', 'pull_request', 'check_suite', 'x'.repeat(9_000))
    fc.assert(
      fc.property(fc.constantFrom(...mappings), json, event, (mapping, body, name) => {
        const mapped = mapDelivery(mapping, { json: body, headers: of(name) })
        const made = mapped.ok ? [mapped.source, mapped.resource, mapped.summary] : [mapped.message]
        for (const line of made) {
          if (line === null) continue
          assert.match(line, /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u)
          assert(line.isWellFormed() && line.length > 0 && line.length <= 300)
        }
      }),
    )
  })
})

describe('the configuration of a webhook', () => {
  const right = { scheme: 'standard', secret_files: ['/keys/billing'] }
  const table: [string, object, string | null][] = [
    ['the least there is', right, null],
    [
      'everything',
      {
        ...right,
        agents: ['main'],
        source: 'bank',
        resource: '{/id}',
        summary: '{header:x-a} {{x}}',
        events: ['invoice'],
      },
      null,
    ],
    [
      'no secret at all',
      { scheme: 'standard', secret_files: [] },
      'a webhook without a secret cannot be enabled: name a 0600 file with its secret',
    ],
    [
      'a relative path',
      { ...right, secret_files: ['key'] },
      'write an absolute path, or one that begins with ~/',
    ],
    [
      'a pointer without slash',
      { ...right, resource: '{id}' },
      '{id} is neither {/json/pointer} nor {header:name}',
    ],
    [
      'a wrong escape',
      { ...right, resource: '{/a~2}' },
      '{/a~2} has a ~ that is neither ~0 nor ~1',
    ],
    ['an open brace', { ...right, summary: 'x {/a' }, 'a single "{" stands alone; write it twice'],
    ['a stray brace', { ...right, summary: 'x }' }, 'a single "}" stands alone; write it twice'],
    [
      'a source of two lines',
      { ...right, source: 'a\nb' },
      'write one line without control characters',
    ],
  ]
  for (const [what, given, expected] of table) {
    test(`${what}: ${expected ?? 'valid'}`, () => {
      const parsed = webhookConfig.safeParse(given)
      assert.equal(parsed.success ? null : parsed.error.issues[0]?.message, expected)
    })
  }

  test('a template is text, pointers and headers, in order', () => {
    assert.deepEqual(parseTemplate('a {/b~1c/0}{header:X-Y} {{}}'), {
      ok: true,
      parts: [
        { kind: 'text', text: 'a ' },
        { kind: 'pointer', pointer: '/b~1c/0', steps: ['b/c', '0'] },
        { kind: 'header', name: 'x-y' },
        { kind: 'text', text: ' ' },
        { kind: 'text', text: '{' },
        { kind: 'text', text: '}' },
      ],
    })
  })
})
