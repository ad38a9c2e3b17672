/**
 * An agent of the Agent Client Protocol for tests, on the agent side of the published SDK. What it
 * does is in the words of its prompt, one deed a line; each prompt it gets, each cancel and each
 * start is a line in the file that is its first argument. With `loads` it keeps sessions there.
 */
import { appendFileSync, existsSync, readFileSync, watch } from 'node:fs'
import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { Readable, Writable } from 'node:stream'
import {
  agent,
  methods,
  ndJsonStream,
  type AgentContext,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'

const [log = '', ...abilities] = process.argv.slice(2)
const note = (line: string) => appendFileSync(log, `${line}\n`)
const can = (ability: string) => abilities.includes(ability)
const stopping = new Map<string, AbortController>()

/** Resolves when the file is there. */
function appears(path: string): Promise<void> {
  return new Promise((resolve) => {
    const look = () => existsSync(path) && (watcher.close(), resolve())
    const watcher = watch(dirname(path), look)
    look()
  })
}

async function permission(client: AgentContext, sessionId: string, title: string) {
  const { outcome } = await client.request(methods.client.session.requestPermission, {
    sessionId,
    toolCall: { toolCallId: 'call_2', title, kind: 'edit', locations: [{ path: '/etc/hosts' }] },
    options: [
      { optionId: 'yes', name: 'Allow this', kind: 'allow_once' },
      { optionId: 'always', name: 'Allow all', kind: 'allow_always' },
      { optionId: 'no', name: 'Skip it', kind: 'reject_once' },
    ],
  })
  return outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome
}

async function doOne(client: AgentContext, sessionId: string, deed: string, stop: AbortSignal) {
  const [word = '', ...rest] = deed.split(' ')
  const given = rest.join(' ')
  const update = (update: SessionUpdate) => said(client, sessionId, update)
  const content = { type: 'text' as const, text: given }
  switch (word) {
    case 'say':
      return update({ sessionUpdate: 'agent_message_chunk', content })
    case 'think':
      return update({ sessionUpdate: 'agent_thought_chunk', content })
    case 'read':
      await update({
        sessionUpdate: 'tool_call',
        toolCallId: 'call_1',
        title: `Read ${given}`,
        kind: 'read',
        status: 'pending',
        locations: [{ path: given, line: 3 }],
      })
      return update({
        sessionUpdate: 'tool_call_update',
        toolCallId: 'call_1',
        status: 'completed',
      })
    case 'ask': {
      const answer = await permission(client, sessionId, given)
      note(`answered ${answer}`)
      return update({
        sessionUpdate: 'agent_message_chunk',
        content: { type: 'text', text: `<${answer}>` },
      })
    }
    case 'flood': {
      const piece = { type: 'text' as const, text: 'x'.repeat(200_000) }
      for (let left = Number(given); left > 0 && !stop.aborted; left -= 200_000) {
        await update({ sessionUpdate: 'agent_message_chunk', content: piece })
      }
      return
    }
    case 'until':
      note(`waits ${given}`)
      await Promise.race([appears(given), stopped(stop)])
      return
    case 'hang':
      note('hangs')
      return new Promise<void>(() => {})
    case 'child':
      spawn('sleep', ['1000'], { stdio: 'ignore', detached: true }).unref()
      return
    case 'lie': // as often as it says, a line of its own making, without a look at what comes
      for (let left = Number(rest[0]); left > 0 && !stop.aborted; left -= 1) {
        const line = rest.slice(1).join(' ').replaceAll('$S', sessionId).replaceAll('$N', `${left}`)
        process.stdout.write(`${line}\n`)
        if (left % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      return new Promise<void>(() => {})
    case 'garbage':
      process.stdout.write('this is no message\n')
      return new Promise<void>(() => {})
    case 'endless':
      process.stdout.write('x'.repeat(Number(given)))
      return new Promise<void>(() => {})
    case 'crash':
      console.error('out of luck')
      process.exit(Number(given))
  }
}

const said = (client: AgentContext, sessionId: string, update: SessionUpdate) =>
  client.notify(methods.client.session.update, { sessionId, update })

const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

note(`started ${process.env['GREETING'] ?? '-'}`)
agent({ name: 'test-agent' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: can('version-9') ? 9 : can('version-word') ? ('one' as unknown as 1) : 1,
    agentCapabilities: { loadSession: can('loads') },
  }))
  .onRequest(methods.agent.session.new, ({ params }) => {
    const sessionId = `s${readFileSync(log, 'utf8').split('\n').length}`
    note(`session ${sessionId} ${params.cwd}`)
    return can('no-session') ? ({} as { sessionId: string }) : { sessionId }
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    note(`loaded ${params.sessionId}`)
    await said(client, params.sessionId, {
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'text', text: 'what I said before' },
    })
    return {}
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const text = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('')
    note(`prompt ${JSON.stringify(text)}`)
    const stop = new AbortController()
    stopping.set(params.sessionId, stop)
    for (const deed of text.split('\n')) {
      if (stop.signal.aborted) break
      await doOne(client, params.sessionId, deed, stop.signal)
    }
    const own = /^end (.*)$/m.exec(text)?.[1]
    if (own !== undefined) return JSON.parse(own) as { stopReason: 'end_turn' }
    return { stopReason: stop.signal.aborted ? 'cancelled' : 'end_turn' }
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => {
    note('cancelled')
    if (!can('stubborn')) stopping.get(params.sessionId)?.abort()
  })
  .connect(
    ndJsonStream(
      Writable.toWeb(process.stdout),
      Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    ),
  )
