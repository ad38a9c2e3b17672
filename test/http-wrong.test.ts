/**
 * What each operation of the served document answers on a home that holds every noun: a read of
 * what is there by a digest of its body, and every way to ask wrongly, by its status and its words:
 * an agent that is not there, an id that means nothing, or is of another agent, a value of a query
 * that is none, a body that is none. Look that each refusal names what is wrong with the request.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Table } from '../src/domain/state/event.ts'
import { countedIds, earlierHome, homeApart, later } from '../src/testing/host/home-apart.ts'
import { openApi } from '../src/testing/http/api.ts'
import { controlToken, port } from '../src/testing/http/http-home.ts'
import { virtualClock } from '../src/testing/virtual-clock.ts'
import { apiOf, type Document, type Operation } from './support/http/operations.ts'

const demo = earlierHome('demo')
/** The table of what a part of a path names. */
const tables: Readonly<Record<string, Table>> = {
  ...{ item: 'work_items', task: 'tasks', wait: 'waits', message: 'messages', turn: 'turns' },
  ...{ trigger: 'triggers', schedule: 'schedules', delivery: 'deliveries', brief: 'briefs' },
  ...{ worktree: 'worktrees', round: 'rounds' },
}
const rowOf = (name: string): { id: string; agent_id: string } | null => {
  const table = tables[name]
  const [row] = table === undefined ? [] : (demo.tables[table] ?? [])
  return row === undefined
    ? null
    : { id: String(row['id']), agent_id: String(row['agent_id'] ?? 'main') }
}

const namesIn = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, one]) => `${one}`)

/** What each part of the path is where all of it is there. */
function there({ path }: Operation): Record<string, string> {
  const names = namesIn(path)
  const row = names.map(rowOf).find((one) => one !== null)
  const ids = names.map((name) => {
    if (name === 'agent') return [name, row?.agent_id ?? 'main']
    return [name, rowOf(name)?.id ?? (name === 'n' ? '1' : 'tests')]
  })
  return Object.fromEntries(ids) as Record<string, string>
}

const isRead = ({ method }: Operation): boolean => method === 'GET'

type Asked = { said: string; path: string; body?: string }

const filled = (path: string, values: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? 'none')

/** Values of a query, none of which is one; and the least that is one, where it is a number. */
const wrongs = ['', 'x', '0', '1.5', '100000000000', 'none,none']

function* askedOf(operation: Operation): Generator<Asked> {
  const own = there(operation)
  const whole = filled(operation.path, own)
  const reads = isRead(operation)
  const body = reads ? {} : { body: '{}' }
  if (reads) yield { said: 'there', path: whole }
  for (const name of namesIn(operation.path)) {
    const others =
      name === 'agent'
        ? ['nobody', 'night', 'A b']
        : [rowOf('wait')?.id, own[name]?.replace(/.{4}$/, 'ffff'), 'zzz', '0000']
    for (const other of new Set(others)) {
      if (other === undefined || other === own[name]) continue
      yield {
        said: `${name} ${other}`,
        path: filled(operation.path, { ...own, [name]: other }),
        ...body,
      }
    }
  }
  for (const { name, in: place } of operation.parameters) {
    if (place !== 'query' || !reads) continue
    for (const value of wrongs) {
      yield { said: `${name}=${value}`, path: `${whole}?${name}=${encodeURIComponent(value)}` }
    }
  }
  if (reads) yield { said: 'odd=1', path: `${whole}?odd=1` }
  else
    for (const text of ['', '{', '[]', '{"odd":1}']) yield { said: text, path: whole, body: text }
}

const digest = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16)

/** They do not end, are made of the document, tell of the machine, or begin turns. */
const others =
  /^GET (?:\/openapi\.json|.*stream.*|\/metrics|\/healthz|\/docs.*)$|^POST .*\/(?:start|redeliver)$/

test(
  'what operations answer, asked rightly and in every way wrongly',
  { timeout: 120_000 },
  async (t) => {
    const home = await homeApart(t, demo)
    const known = (demo.tables['agents'] ?? []).map(({ id }) => String(id))
    const workspace = join(home, '..')
    const clock = virtualClock(later)
    const api = await openApi(t, { home, workspace, agents: [], known, clock, ids: countedIds() })
    await api.box.host.open()
    const headers = {
      ...{ host: `127.0.0.1:${port}`, authorization: `Bearer ${controlToken}` },
      'content-type': 'application/json',
    }
    const document = (await (
      await api.app.request('/openapi.json', { headers })
    ).json()) as Document
    const said: string[] = []
    // What is read is as the home was: all of it comes before anything is done.
    const { operations } = apiOf(document)
    const inOrder = [...operations.filter(isRead), ...operations.filter((one) => !isRead(one))]
    for (const operation of inOrder) {
      if (others.test(operation.name) || operation.isOpen) continue
      const told: string[] = []
      // It has a mark of the home that wrote it, which is made by chance.
      const isExport = operation.path.endsWith('/export')
      for (const { said: what, path, body } of askedOf(operation)) {
        const init = { method: operation.method, headers, ...(body === undefined ? {} : { body }) }
        const answer = await api.app.request(path, init)
        const text = (await answer.text()).replaceAll(home, '<home>').replaceAll(workspace, '<w>')
        assert.notEqual(answer.status, 500, `${operation.name} ${what}: ${text}`)
        const { code, detail } = (answer.ok ? {} : JSON.parse(text)) as Record<string, string>
        const read = isExport ? `${text.length}` : text
        const done = isRead(operation) ? digest(read) : 'done'
        const words = answer.ok ? done : `${code}: ${detail}`
        told.push(`  ${what}: ${answer.status} ${words}`)
      }
      said.push(operation.name, ...told)
    }
    assert.ok(said.length > 300, `${said.length} answers`)
    t.assert.snapshot(said)
  },
)
