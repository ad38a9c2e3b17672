/**
 * The story of docs/tour.md, lived in one process: a daemon on a scratch home, a model on loopback,
 * `holon send`, a command, a webhook. Of each function that standard input names it notes when it
 * is entered, and of each commit its events; all of it is printed as JSON at the end. The debugger
 * stops nowhere: a breakpoint whose condition is false has only noted something.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { signGithub } from '../../../src/testing/http/webhook-sender.ts'
import { startModelServer, type ServerAnswer } from '../../../src/testing/model-server/server.ts'
import { bodiesOf } from './definitions.ts'

/** A function that was entered, as `src/a.ts name`; a commit by its events; where a walk begins. */
export type Noted = { entered: string } | { committed: readonly string[] } | { mark: Mark }
export type Mark = 'sent' | 'asked' | 'asked again' | 'webhook' | 'looked at' | 'end'

const root = join(import.meta.dirname, '..', '..', '..')
const noted: Noted[] = []
const hasRested = Promise.withResolvers<void>()
const isLookedAt = Promise.withResolvers<void>()

/** What the breakpoints call. It may not throw: what a condition throws is lost. */
function note(one: Noted): void {
  noted.push(one)
  if (!('committed' in one)) return
  if (one.committed.includes('turn_ended')) hasRested.resolve()
  if (!one.committed.includes('wait_reviewed')) return
  noted.push({ mark: 'looked at' })
  isLookedAt.resolve()
}

const debug = new Session()

/** `what` is evaluated in the function that is entered. */
function noteWhenEntered(file: string, name: string, what: string): void {
  const source = readFileSync(join(root, file), 'utf8')
  for (const position of bodiesOf(source, name)) {
    const before = source.slice(0, position).split('\n')
    debug.post('Debugger.setBreakpointByUrl', {
      url: pathToFileURL(join(root, file)).href,
      lineNumber: before.length - 1,
      columnNumber: before.at(-1)?.length ?? 0,
      condition: `globalThis.noteOfTour(${what}), false`,
    })
  }
}

Object.assign(globalThis, { noteOfTour: note })
debug.connect()
debug.post('Debugger.enable')
for (const entered of JSON.parse(readFileSync(0, 'utf8')) as string[]) {
  const [file = '', name = ''] = entered.split(' ')
  noteWhenEntered(file, name, JSON.stringify({ entered }))
}
const events = '{ committed: arguments[0].map(({ event }) => event.type) }'
noteWhenEntered('src/runtime/turn/lane.ts', 'committed', events)

// Loaded only now: a breakpoint is found by the address of what is loaded after it.
const [{ main }, { ports }, { clock }] = await Promise.all([
  import('../../../src/cli/program.ts'),
  import('../../../src/main/commands/ports.ts'),
  import('../../../src/main/machine/machine.ts'),
])
/** Times what is slept: on a busy machine a short command may take seconds, and is short still. */
const slower = 60
const usual = { ...clock }
clock.sleep = (ms, signal) => usual.sleep(ms * slower, signal)

const call = (name: string, input: Record<string, string>): ServerAnswer => ({
  calls: [{ name, input }],
})

function answer(n: number, text: string): ServerAnswer {
  switch (n) {
    case 1:
      note({ mark: 'asked' })
      return call('ExecCommand', { cmd: 'ls' })
    case 2:
      note({ mark: 'asked again' })
      return call('CreateWorkItem', { objective: 'Watch the build' })
    case 3:
      return call('PickWorkItem', { work_item_id: text.match(/work_\w+/)?.[0] ?? '' })
    case 4:
      return call('WaitFor', { wake: 'external', source: 'ci', reason: 'the build' })
    default:
      return { text: 'The build has ended.' }
  }
}

const folder = homedir()
const home = join(folder, 'home')
const secret = 'a secret of the build'
const model = await startModelServer(({ n, messages_text }) => answer(n, messages_text), {
  key: null,
})
const config = {
  providers: { local: { kind: 'openai-compatible' as const, base_url: model.base_url } },
  webhooks: { ci: { scheme: 'github' as const, secret_files: [join(folder, 'secret')] } },
}
mkdirSync(home, { mode: 0o700 })
writeFileSync(join(folder, 'secret'), secret, { mode: 0o600 })
writeFileSync(join(home, 'config.json'), JSON.stringify(config), { mode: 0o600 })

async function holon(...words: string[]): Promise<void> {
  const exit = await main([...words, '--home', home], { ...ports, out: () => {} })
  if (exit !== 0) throw new Error(`holon ${words.join(' ')}: exit ${exit}`)
}

const serving = await ports.daemon.serve({
  home,
  config,
  host: '127.0.0.1',
  port: 0,
  allow_remote: false,
  log_level: 'error',
  log_path: join(folder, 'log'),
})
await holon('agents', 'create', 'main', '--model', 'local/test', '--workspace', folder)
note({ mark: 'sent' })
await holon('send', 'count the files')
await hasRested.promise
note({ mark: 'webhook' })
const body = new TextEncoder().encode('{"action":"completed"}')
const taken = await fetch(`${serving.url}/webhooks/main/ci`, {
  method: 'POST',
  body,
  headers: {
    ...signGithub({ id: 'delivery-1', event: 'check_run', body, secret }),
    'content-type': 'application/json',
    connection: 'close',
  },
})
if (taken.status !== 202) throw new Error(`the webhook was answered ${taken.status}`)
await isLookedAt.promise
note({ mark: 'end' })
await serving.close('safe_point')
await model.close()
process.stdout.write(JSON.stringify(noted), () => process.exit(0))
