/** The readers of foreign text that the fuzz tries, each with what must hold of its answer. */
import { CliFailure } from '../../src/cli/command/failure.ts'
import { parseConfig } from '../../src/cli/command/config-file.ts'
import { Api } from '../../src/client/api.ts'
import { follow, type StreamItem } from '../../src/client/stream.ts'
import { parseRef } from '../../src/domain/memory/reference.ts'
import { timetable } from '../../src/exec/cron.ts'
import { parseRunnerState } from '../../src/exec/commands/runner-state.ts'
import { isShallow } from '../../src/domain/transfer/json-depth.ts'
import { parseJson } from '../../src/http/request/body.ts'
import { httpLimits } from '../../src/http/request/limits.ts'
import { mapDelivery } from '../../src/http/inbound/mapping.ts'
import { durationMs } from '../../src/models/runbook/duration.ts'
import { frontOf } from '../../src/models/runbook/front.ts'
import { parseRunbook } from '../../src/models/runbook/parse.ts'
import { longestName, longestSummary, parseTemplate } from '../../src/protocol/webhook.ts'
import { applyDiff, parseDiff } from '../../src/tools/files/patch.ts'
import type { Reader } from './parser-fuzz.ts'

const same = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

const runbook: Reader = {
  name: 'runbook',
  pieces: [
    '# Ship it\n\nWords.\n\n## Build\n\n```sh\nnpm test\n```\n\n## Wait\n\nwait 1h30m\n',
    '# List\n\n- [ ] first\n- second\n  more\n\n  ```bash\n  true\n  ```\n',
    '---\ncheck tests: npm test\n---\n',
    '# ',
    '## Step (optional)\n',
    '```wait\n2s\n```\n',
    '```ask\nIs it?\n```\n',
    '```callback\nci\n```\n',
    '```\n',
    '~~~~sh\n',
    '- item\n',
    '1. one\n',
    '\r\n',
    '\0',
    '> quoted\n',
  ],
  read(text) {
    const read = parseRunbook(text)
    if (!same(read, parseRunbook(text))) return 'it reads the same text in two ways'
    const lines = text.split(/\r\n|\r|\n/).length
    if (read.ok) {
      const { objective, steps } = read.program
      if (objective === '' || steps.length === 0) return 'a program without objective or steps'
      return steps.some(({ line }) => line < 1 || line > lines) ? 'a step stands nowhere' : null
    }
    if (read.errors.length === 0) return 'it is refused without an error'
    return read.errors.some(({ line }) => line < 1 || line > lines) ? 'an error is nowhere' : null
  },
}

const front: Reader = {
  name: 'head of a runbook',
  pieces: ['---\n', 'check a: true\n', 'check b:\n', 'title: x\n', '# Then\n', '\r\n', '--- \n'],
  read(text) {
    const { body, checks, errors } = frontOf(text)
    if (checks.length > 0 && frontOf(body).checks.length > 0) return 'checks are left in the body'
    const lines = (all: string) => all.split(/\r\n|\r|\n/).length
    if (checks.length + errors.length > 0 && lines(body) !== lines(text)) return 'lines moved'
    return null
  },
}

const duration: Reader = {
  name: 'duration',
  pieces: ['1d', '2h', '30m', '5s', '500ms', ' ', '0', '999999999', 'h', '-1s', '1.5h'],
  read(text) {
    const read = durationMs(text)
    if ('wrong' in read) return read.wrong === '' ? 'it is refused without a word' : null
    const again = durationMs(`${read.ms}ms`)
    const fits = `${read.ms}`.length <= 9
    return !fits || same(read, again) ? null : `${read.ms} ms are read as ${JSON.stringify(again)}`
  },
}

const template: Reader = {
  name: 'webhook template',
  pieces: [
    '{/data/id}',
    '{header:x-github-event}',
    '{{',
    '}}',
    '{',
    '}',
    'pull ',
    '{/a~1b/~0}',
    '~',
  ],
  read(text) {
    const read = parseTemplate(text)
    if (!read.ok) return read.why === '' ? 'it is refused without a word' : null
    const braces = (part: string) => part.replaceAll('{', '{{').replaceAll('}', '}}')
    const written = read.parts.map((part) => {
      switch (part.kind) {
        case 'text':
          return braces(part.text)
        case 'pointer':
          return `{${part.pointer}}`
        case 'header':
          return `{header:${part.name}}`
      }
    })
    const again = parseTemplate(written.join(''))
    return same(read, again) ? null : 'what is written back is read as something else'
  },
}

/** The first line is the template, the rest the body. */
const mapping: Reader = {
  name: 'webhook mapping',
  pieces: [
    '{/action}\n{"action":"opened","number":7,"repository":{"full_name":"a/b"}}',
    '{/a/0/b} of {header:x-event}\n{"a":[{"b":true}]}',
    '{/__proto__/polluted}\n{"__proto__":{"polluted":1},"constructor":null}',
    '{"type":"invoice.paid","data":{"id":"in_7"}}',
    '\n',
    '{/length}',
    '"text"',
    '[1,2]',
  ],
  read(text) {
    const [head = '', ...rest] = text.split('\n')
    const read = parseJson(new TextEncoder().encode(rest.join('\n')))
    const json = read.ok ? read.value : undefined
    const resource = parseTemplate(head).ok && head !== '' ? head : undefined
    for (const scheme of ['standard', 'github'] as const) {
      const mapped = mapDelivery(
        { name: 'hook', scheme, resource, summary: resource },
        { json, headers: { get: (name) => (name.startsWith('x-') ? 'push' : null) } },
      )
      if (!mapped.ok) {
        if (mapped.message === '') return 'it is refused without a word'
        continue
      }
      if (mapped.resource === '' || (mapped.resource?.length ?? 0) > longestName) {
        return `the resource has ${mapped.resource?.length} letters`
      }
      if ((mapped.summary?.length ?? 0) > longestSummary) return 'the summary is too long'
    }
    return null
  },
}

const cron: Reader = {
  name: 'cron',
  pieces: [
    '*',
    '*/5',
    ' ',
    '0 9 * * 1-5',
    '0 0 31 2 *',
    '0 0 29 2 *',
    '@daily',
    '1,2',
    '-',
    'L',
    '#',
  ].concat(['30 2 * * *', 'MON', '0-59/7', '60', '?', 'W']),
  read(text) {
    for (const time_zone of ['UTC', 'Europe/Zurich']) {
      const spec = { kind: 'cron', expression: text, time_zone } as const
      if (timetable.problem(spec) !== null) continue
      const after = '2026-03-28T23:59:30.000Z'
      const all = timetable.occurrences(spec, after, 5)
      const isRising = all.every((at, n) => at > (all[n - 1] ?? after))
      if (!isRising) return `it is due at ${all.join(', ')}`
      if (all.some((at) => !at.endsWith(':00.000Z'))) return `it is due within a minute: ${all[0]}`
      const past = timetable.occurred(spec, after, 3)
      if (past.some((at) => at >= after)) return `it was due in the future: ${past.join(', ')}`
    }
    return null
  },
}

const diff: Reader = {
  name: 'patch',
  pieces: [
    '--- a/one.txt\n+++ b/one.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n',
    '--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+line\n',
    '--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-line\n',
    'diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n',
    'old mode 100644\nnew mode 100755\n',
    'Binary files a/x and b/x differ\n',
    'GIT binary patch\n',
    '\\ No newline at end of file\n',
    '@@ -1,99999999 +1 @@\n',
    '@@ -0,0 +0,0 @@\n',
    '--- ../../etc/passwd\n',
    '"a/\\303\\251"',
    '+',
    '-',
    ' ',
    '\r\n',
  ],
  read(text) {
    const read = parseDiff(text)
    if (!read.ok) return read.rejection.message === '' ? 'it is refused without a word' : null
    for (const content of ['one\ntwo\n', null, 'line\n']) {
      const contents = new Map(read.patch.paths.map((path) => [path, content]))
      const applied = applyDiff(read.patch, contents)
      if (!applied.ok) {
        if (applied.rejection.hint === '') return 'it is refused without advice'
        continue
      }
      const odd = applied.changes.find(({ path }) => !read.patch.paths.includes(path))
      if (odd) return `it changes ${odd.path}, which it does not name`
    }
    return null
  },
}

const config: Reader = {
  name: 'configuration',
  pieces: [
    '{"webhooks":{"ci":{"scheme":"github","secret_files":["/srv/secret"]}}}',
    '{"providers":{"own":{"kind":"openai-compatible","base_url":"http://127.0.0.1:1/v1"}}}',
    '{"defaults":{"model":"own/x"}}',
    '{"no_such_key":1}',
    '{',
    '}',
    '"__proto__":',
    '"a":[1,2,{"b":null}]',
    ',',
    ':',
    '"\\u0000"',
    '1e999',
    'nul',
    '[[[[[[',
  ],
  async read(text) {
    const nearest = (_: string, known: readonly string[]) => known[0] ?? null
    const once = (given: string) => parseConfig({ nearest }, '/h/config.json', given)
    try {
      const read = await once(text)
      return same(await once(JSON.stringify(read)), read) ? null : 'written back it is another'
    } catch (error) {
      if (!(error instanceof CliFailure)) return `it throws ${String(error)}`
      const { detail } = error.problem
      return detail.includes('/h/config.json') ? null : `no file is named: ${detail}`
    }
  },
}

const body: Reader = {
  name: 'body of a request',
  pieces: ['{"a":1}', '[', ']', '{', '}', '"\\', '\\"', '"', '\\u12', 'null', '1e5', '[[[['],
  read(text) {
    const bytes = new TextEncoder().encode(text)
    const read = parseJson(bytes)
    if (!isShallow(bytes, httpLimits.json_depth.value))
      return read.ok ? 'what is deep is read' : null
    let value: unknown
    try {
      value = JSON.parse(new TextDecoder().decode(bytes))
    } catch {
      return read.ok ? 'what is no JSON is read' : null
    }
    return read.ok && same(read.value, value) ? null : 'what is JSON is read as something else'
  },
}

const runner: Reader = {
  name: 'state of a runner',
  pieces: [
    'holon-runner 1 proc boot-1 12 (sh) S 1 12 12 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 777 0\n',
    'holon-runner 1 ps boot-1 12 Mon Jan 5 09:00:00 2026\n',
    'command 13 (cat) S 12 13 13 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 778 0\n',
    'exit 0\n',
    'exit 143\n',
    'timeout\n',
    'no_room\n',
    'could_not_start no such folder\n',
    'mark m\n',
    'exit 1',
  ],
  read(text) {
    const whole = parseRunnerState(text)
    // What is appended later never makes an end of another kind, once there is one.
    if (whole.claim !== 'whole' || whole.end === null) return null
    const more = parseRunnerState(`${text}\nexit 7\n`)
    return more.claim === 'whole' && same(more.end, whole.end) ? null : 'an end was changed'
  },
}

const reference: Reader = {
  name: 'reference',
  pieces: ['work_0a1b', '/plan', 'file:', 'memory/x.md', '@main/', '..', '/', 'turn_ab/3', '\0'],
  read(text) {
    const ref = parseRef(text)
    if (ref?.table !== 'files') return null
    return ref.path.split('/').includes('..') ? `it leads out: ${ref.path}` : null
  },
}

/** The same stream in one piece, letter by letter, and in pieces of seven bytes. */
const stream: Reader = {
  name: 'event stream',
  pieces: [
    'id: 1\nevent: message_admitted\ndata: {"global_seq":1}\n\n',
    'id: 2\ndata: {"a":\ndata: 1}\n\n',
    'event: live\ndata: {"kind":"heartbeat"}\n\n',
    ': comment\n\n',
    'data: no JSON\n\n',
    'id: 3\ndata: {"cut',
    'retry: 10\n',
    '\r\n',
    '\n\n',
    'id:\n',
    'event: other\ndata: x\n\n',
    '\ufeff',
  ],
  async read(text) {
    const bytes = new TextEncoder().encode(text).slice(0, 4_000)
    const [whole, ...others] = await Promise.all([bytes.length, 1, 7].map((n) => items(bytes, n)))
    return others.every((one) => same(one, whole)) ? null : 'how it is cut changes what it says'
  },
}

async function items(bytes: Uint8Array, size: number): Promise<StreamItem[]> {
  const pieces = Array.from({ length: Math.ceil(bytes.length / Math.max(1, size)) }, (_, n) =>
    bytes.slice(n * size, (n + 1) * size),
  )
  const fetch = async () => new Response(ReadableStream.from(pieces), { status: 200 })
  const clock = { after: () => () => {} }
  const ports = { fetch, clock, mint_key: () => 'k', token: async () => 't' }
  const api = new Api(ports, { base_url: 'http://127.0.0.1' })
  const { signal } = new AbortController()
  const options = { path: '/events', after: 0, signal, tries: 1 }
  const all: StreamItem[] = []
  for await (const item of follow(api, ports, options)) all.push(item)
  return all
}

export const readers: readonly Reader[] = [
  runbook,
  front,
  duration,
  template,
  mapping,
  cron,
  diff,
  config,
  body,
  runner,
  reference,
  stream,
]
