/**
 * The model of the benchmarks, in a process of its own: Chat Completions on the loopback. The name
 * of the model says what it does and each request is counted by name, so no body is parsed: what
 * it costs stays small and does not grow with the history. When each request arrived is kept on
 * the monotonic clock that all processes share, and handed over on `take`. With `judge` every
 * request also passes the checks of the test server, which costs what parsing it costs.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startModelServer, type ServerAnswer } from '../src/testing/model-server.ts'
import { chatCompletions } from '../src/testing/model-server-chat.ts'
import { defaultUsage } from '../src/testing/model-server-wire.ts'
import { planOf, type Arrival, type FromModel, type ToModel } from './model-fixture.ts'

const counts = new Map<string, number>()
let arrivals: Arrival[] = []

const tell = (message: FromModel): void => void process.send?.(message)

/** The answer to request `n` of a conversation: an item is made and picked, commands, the end. */
function answerTo(model: string, n: number, text: () => string): ServerAnswer {
  const { kind, rounds } = planOf(model)
  const call = (name: string, input: { [field: string]: string | number }): ServerAnswer => ({
    text: `Step ${n}.`,
    calls: [{ name, input }],
  })
  if (kind === 'text') return { text: 'Nothing to do.' }
  const item = () => /work_[0-9a-f-]{4,36}/.exec(text().slice(text().lastIndexOf('Created ')))?.[0]
  if (n === 1) return call('CreateWorkItem', { objective: 'Rounds', plan: 'Go round.\n' })
  if (n === 2) return call('PickWorkItem', { work_item_id: item() ?? 'work_not_seen' })
  const round = n - 2
  if (round < rounds) return call('ExecCommand', { cmd: `true # ${round}` })
  if (round === rounds) {
    // The last command of a `hang` lasts long enough to be found running and to be outlived.
    return call('ExecCommand', { cmd: kind === 'hang' ? 'sleep 0.4' : `true # ${round}` })
  }
  return { text: 'All rounds are done.', calls: [completion(text())] }
}

const completion = (text: string) => ({
  name: 'CompleteWorkItem',
  input: { work_item_id: /work_[0-9a-f-]{4,36}/.exec(text)?.[0] ?? 'work_not_seen' },
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const at = Number(process.hrtime.bigint() / 1_000n)
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  // The provider's library writes the model first.
  const model = /"model":"([^"]*)"/.exec(body.toString('latin1', 0, 300))?.[1] ?? ''
  const n = (counts.get(model) ?? 0) + 1
  counts.set(model, n)
  arrivals.push({ model, n, at_us: at, bytes: body.length })
  const usage = defaultUsage
  const said = answerTo(model, n, () => body.toString('latin1'))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const frame of chatCompletions.frames({ n, model, answer: said, usage })) {
    response.write(frame)
  }
  response.end()
  tell({ kind: 'answered', model, n })
}

if (process.argv.includes('judge')) {
  const server = await startModelServer(({ body, messages_text }) => {
    const model = typeof body['model'] === 'string' ? body['model'] : ''
    const n = (counts.get(model) ?? 0) + 1
    counts.set(model, n)
    arrivals.push({ model, n, at_us: 0, bytes: 0 })
    return answerTo(model, n, () => messages_text)
  })
  process.on('message', () => {
    tell({ kind: 'taken', arrivals, violations: server.violations })
    arrivals = []
  })
  tell({ kind: 'ready', base_url: server.base_url })
} else {
  const server = createServer((request, response) => void answer(request, response))
  server.keepAliveTimeout = 60_000
  process.on('message', (message: ToModel) => {
    if (message.kind !== 'take') return
    tell({ kind: 'taken', arrivals, violations: [] })
    arrivals = []
  })
  server.listen(0, '127.0.0.1', () => {
    tell({
      kind: 'ready',
      base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    })
  })
}
process.on('disconnect', () => process.exit(0))
