/**
 * A machine for commands that ask it: a daemon that answers as a row says, a clock that stands
 * still but for who waits on it, and a note of each thing that was asked.
 */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { CliPorts, HomeFacts } from '../../src/cli/command/ports.ts'
import type { LaunchEnd } from '../../src/ports/daemon.ts'
import type { DaemonPorts } from '../../src/cli/command/daemon-ports.ts'
import { Api, type Fetch } from '../../src/client/api.ts'
import { daemonPorts } from '../../src/main/commands/daemon.ts'
import { later } from '../../src/testing/host/home-apart.ts'
import { plain, printed, type Look } from './typed-command.ts'

/** What a route of the daemon answers: a status and a body, or nothing in time. */
type Reply = readonly [status: number, body: object | string] | 'silent' | 'refused'

/** What stands on the machine, and how it answers. Lists are answers one after the other. */
export type Given = {
  running?: readonly (number | null)[]
  owner?: number | null
  /** Routes of the daemon's API, as `GET /readyz`; without any there is no API. */
  api?: Readonly<Record<string, Reply | readonly Reply[]>>
  api_pid?: number
  /** How what was launched ends; without it, it does not. */
  ended?: LaunchEnd
  log?: readonly string[]
  platform?: 'systemd' | 'launchd' | null
  sign?: Awaited<ReturnType<DaemonPorts['sign']>>
  facts?: Partial<HomeFacts>
  /** Files below the home of the person, which is that of the agents as well. */
  files?: Readonly<Record<string, string>>
  environment?: Partial<CliPorts['environment']>
  look?: Look
  /** In place of `--home <home>`. */
  flags?: readonly string[]
  ports?: (note: (said: string) => void) => Partial<CliPorts>
}

/** What comes one after the other; the last stays. */
const turns = <T>(all: readonly T[]): (() => T) => {
  let at = 0
  return () => all[Math.min(at++, all.length - 1)] as T
}

/** Time passes for who waits, and for nobody else. */
function waitedClock() {
  let waited = 0
  const clock: CliPorts['clock'] = {
    now: () => later,
    monotonic: () => waited,
    after(ms, fn) {
      let on = true
      setImmediate(() => {
        if (!on) return
        waited += ms
        fn()
      })
      return () => void (on = false)
    },
  }
  return { clock, waited: () => waited }
}

const address = (pid: number) => ({
  pid,
  url: 'http://127.0.0.1:7777',
  started_at: '2026-12-24T08:00:00.000Z',
})

function apiOf(routes: NonNullable<Given['api']>, note: (said: string) => void): Api {
  const replies = new Map(
    Object.entries(routes).map(([route, given]) => [
      route,
      turns(Array.isArray(given) && Array.isArray(given[0]) ? given : [given]) as () => Reply,
    ]),
  )
  let late = () => {}
  const fetch: Fetch = (url, { method, body, headers, signal }) => {
    const route = `${method} ${url.replace(/^http:..127\.0\.0\.1:7777/, '')}`
    const own = Object.entries(headers).filter(([name]) => name.startsWith('x-'))
    if (method !== 'GET') note(`${route} ${body} ${own.map((one) => one.join('=')).join(' ')}`)
    const reply = replies.get(route)?.() ?? 'refused'
    if (reply === 'refused') {
      return Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
    }
    if (reply === 'silent') {
      setImmediate(late)
      const { promise, reject } = Promise.withResolvers<Response>()
      signal.addEventListener('abort', () => reject(new Error('aborted')))
      return promise
    }
    const [status, value] = reply
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return Promise.resolve(new Response(text, { status }))
  }
  const clock = {
    // A pause between two tries is over at once; patience ends only where nobody answers.
    after: (ms: number, fn: () => void) => {
      if (ms < 10_000) setImmediate(fn)
      else late = fn
      return () => {}
    },
  }
  const ports = { fetch, clock, mint_key: () => 'key', token: () => Promise.resolve('token') }
  return new Api(ports, { base_url: address(0).url })
}

function daemonOf(home: string, given: Given, note: (said: string) => void): DaemonPorts {
  const running = turns(given.running ?? [null])
  const pid = given.api_pid ?? 4_321
  const api = given.api === undefined ? null : apiOf(given.api, note)
  return {
    ...daemonPorts,
    running: () => Promise.resolve(running()),
    api: () => Promise.resolve(api === null ? null : { api, address: address(pid) }),
    launch(_home, words) {
      note(`launch ${words.join(' ')}`)
      const { promise, resolve } = Promise.withResolvers<LaunchEnd>()
      if (given.ended !== undefined) resolve(given.ended)
      return Promise.resolve({ pid: 4_321, ended: promise, release: () => note('release') })
    },
    terminate(ended) {
      note(`terminate ${ended}`)
      return Promise.resolve(true)
    },
    sign(webhook, body, event) {
      note(`sign ${JSON.stringify(webhook)} ${event} ${body}`)
      return Promise.resolve(given.sign ?? { ok: true, headers: { 'x-signed': event } })
    },
    log_lines: (path, count) => {
      note(`the last ${count} lines of ${path}`)
      return Promise.resolve([...(given.log ?? [])])
    },
    log_follow(path, signal, onText) {
      note(`follow ${path} ${signal.aborted}`)
      onText('{"level":"info","msg":"\u001b[31mnew"}\n')
      return Promise.resolve()
    },
    service: {
      platform: given.platform === undefined ? 'systemd' : given.platform,
      command: ['/opt/node', '/opt/holon/bin/holon.mjs'],
      folders: { systemd: join(home, 'units'), launchd: join(home, 'agents') },
      path: '/usr/local/bin:/usr/bin',
    },
  }
}

/** Writes the files; those with a key in them are their owner's alone. */
function put(home: string, files: NonNullable<Given['files']>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(home, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text.replaceAll('<home>', home))
    chmodSync(path, 0o600)
  }
}

/** The command with what it printed, what it asked of the machine, and how long it waited. */
async function asked(home: string, words: readonly string[], given: Given = {}) {
  const notes: string[] = []
  const note = (said: string) => void notes.push(`: ${said.replaceAll(home, '<home>')}`)
  put(home, given.files ?? {})
  const { clock, waited } = waitedClock()
  const { ports: real } = await import('../../src/main/commands/ports.ts')
  const owner = given.owner ?? null
  const own: Partial<CliPorts> = {
    clock,
    daemon: daemonOf(home, given, note),
    owner: () =>
      Promise.resolve(
        owner === null ? null : { pid: owner, owner_since: '2026-12-24T09:00:00.000Z' },
      ),
    ...(given.facts === undefined
      ? {}
      : {
          home_facts: async (path: string) => ({
            ...(await real.home_facts(path)),
            ...given.facts,
          }),
        }),
    environment: {
      ...real.environment,
      ...{ holon_home: undefined, holon_model: undefined, holon_log: undefined },
      ...{ no_color: '1', force_color: undefined, locale: 'C.UTF-8', term: 'xterm' },
      ...{ wants_plain: false, has_control_token: false },
      ...given.environment,
    },
    ...given.ports?.(note),
  }
  const text = await printed(home, words, given.look ?? plain, own, given.flags)
  const time = waited() === 0 ? [] : [`: waited ${waited()} ms`]
  return [...text.trimEnd().split('\n'), ...notes, ...time]
}

export type Row = string | readonly [line: string, given: Given]

/** All that a list of commands said, one after the other in one home. */
export async function said(home: string, rows: readonly Row[]): Promise<string[]> {
  const all: string[] = []
  for (const row of rows) {
    const [line, given] = typeof row === 'string' ? [row, {}] : row
    const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|[^\s"']+/g)].map(
      ([word, double, single]) => (double ?? single ?? word).replaceAll('<home>', home),
    )
    all.push(...(await asked(home, words, given)))
  }
  return all
}

export const emptyHome = (t: TestContext): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-machine-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
