/**
 * The ways by which text of others reaches a model: what is delivered, what it reads, what its
 * commands print, what its children say. Each brings a directive before the puppet, through the
 * real surface; what the operator says only makes it look.
 */
import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook as Sender } from 'standardwebhooks'
import type { Webhook } from '../../src/http/inbound/webhooks.ts'
import type { ScriptedCall } from '../../src/testing/scripted-model.ts'
import { directive } from './puppet.ts'
import type { Targets } from './goals.ts'
import type { PuppetWorld } from './world.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

export const webhooks: Readonly<Record<string, Webhook>> = {
  billing: {
    config: {
      scheme: 'standard',
      secret_files: ['/srv/secret'],
      resource: '{/data/id}',
      summary: 'Invoice {/data/id}: {/data/note}',
    },
    secrets: [secret],
    also_from: [],
  },
  hub: {
    config: { scheme: 'github', secret_files: ['/srv/hub'] },
    secrets: ['hub secret'],
    also_from: [],
  },
}

/** Brings `said` before the model. */
export type Channel = (world: PuppetWorld, n: number, said: string) => Promise<void>

const tells = ({ api }: PuppetWorld, text: string) =>
  api.box.host.act({ do: 'send', agent_id: 'main', text })

/** The operator asks for something harmless, and the text is in what comes back. */
const looks =
  (prepare: (world: PuppetWorld, said: string) => void): Channel =>
  async (world, n, said) => {
    prepare(world, said)
    await tells(world, directive(n, 'errand'))
  }

async function posted(world: PuppetWorld, path: string, body: string, headers: object) {
  const answer = await world.api.app.request(path, {
    method: 'POST',
    body,
    headers: { host: '127.0.0.1:7777', 'content-type': 'application/json', ...headers },
  })
  assert.equal(answer.status < 300, true, `${path}: ${answer.status} ${await answer.text()}`)
}

async function calledBack(world: PuppetWorld, query: string, body: string): Promise<void> {
  const [trigger] = await world.api.box.ledger.list('triggers', { agent_id: 'main', limit: 1 })
  assert.ok(trigger)
  const url = world.api.box.host.triggerUrl(trigger)
  assert.ok(url)
  await posted(world, `${new URL(url).pathname}${query}`, body, {})
}

const write = (path: string, text: string): void => {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
}

const file = ({ at }: PuppetWorld, said: string) =>
  write(join(at.workspace, 'notes.txt'), `Notes of the release\n\n${said}\n`)

export const channels: Readonly<Record<string, Channel>> = {
  callback: (world, _, said) =>
    calledBack(world, '?source=ci', JSON.stringify({ text: `Build is red. ${said}` })),
  resource: (world, _, said) => calledBack(world, `?source=ci&resource=${said}`, '{}'),
  webhook: async (world, n, said) => {
    const body = JSON.stringify({ type: 'invoice.paid', data: { id: `i${n}`, note: said } })
    const at = new Date(world.api.box.ports.clock.now())
    const id = `msg_${n}`
    await posted(world, '/webhooks/main/billing', body, {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Sender(secret).sign(id, at, body),
    })
  },
  github: async (world, n, said) => {
    const body = JSON.stringify({ action: 'opened', issue: { number: n, title: said, body: said } })
    const signature = createHmac('sha256', 'hub secret').update(body).digest('hex')
    await posted(world, '/webhooks/main/hub', body, {
      'x-github-event': 'issues',
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${signature}`,
    })
  },
  file: looks(file),
  stdout: looks(file),
  stderr: looks(file),
  background: looks(file),
  instructions: looks(({ at }, said) =>
    write(join(at.workspace, 'AGENTS.md'), `# House\n${said}\n`),
  ),
  plan: looks(({ at }, said) => write(at.own_plan, `${said}\n`)),
  memory: looks(({ at }, said) =>
    write(join(at.home, 'agents/main/memory/notes.md'), `The wombat says ${said}\n`),
  ),
  child: looks((world, said) => {
    world.told = said
  }),
}

/** What the operator has the model do, so that it sees what lies there. */
export function errandOf(channel: string, { home, own_item }: Targets): readonly ScriptedCall[] {
  const runs = (cmd: string, more = {}) => ({ name: 'ExecCommand', input: { cmd, ...more } })
  switch (channel) {
    case 'file':
      return [{ name: 'ReadFile', input: { path: 'notes.txt' } }]
    case 'stdout':
      return [runs('cat notes.txt')]
    case 'stderr':
      return [runs('cat notes.txt >&2; exit 3')]
    case 'background':
      return [runs('sleep 0.2; cat notes.txt', { yield_ms: 0 })]
    case 'memory':
      return [{ name: 'ReadFile', input: { path: `${home}/agents/main/memory/notes.md` } }]
    case 'child':
      return [{ name: 'SpawnAgent', input: { initial_message: 'Tell me.', model: 'test/teller' } }]
    case 'plan':
      return [{ name: 'GetWorkItem', input: { work_item_id: own_item } }]
    default:
      return []
  }
}
