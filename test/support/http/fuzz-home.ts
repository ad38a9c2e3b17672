/**
 * The home a fuzz asks: real rows, files and commands, a clock in its own hands, webhooks with a
 * secret, and an agent whose model does something else each time, by a seed.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook as Sender } from 'standardwebhooks'
import type { StoredEvent } from '../../../src/domain/state/event.ts'
import { familyViolations } from '../../../src/domain/invariants/children.ts'
import { violations } from '../../../src/domain/invariants/of-an-agent.ts'
import type { HomePort } from '../../../src/http/request/ports.ts'
import { asksAbout } from '../../../src/testing/world/held.ts'
import { openApi, type ApiBox } from '../../../src/testing/http/api.ts'
import type { HostFixture, Scope } from '../../../src/testing/host/host-fixture.ts'
import {
  calls,
  fails,
  says,
  scriptedModel,
  type Script,
} from '../../../src/testing/scripted-model.ts'
import { virtualClock, type VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { liveModels, publishes } from './live.ts'
import { makeRepository } from '../repository.ts'

const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`

export type FuzzHome = { api: ApiBox; clock: VirtualClock }

export async function openFuzzHome(t: Scope, random: () => number): Promise<FuzzHome> {
  const clock = virtualClock()
  const api = await openApi(t, {
    clock,
    models: {
      ...liveModels,
      default: scriptedModel(parentThen(erratic(random))),
      'a/asking': scriptedModel(() => asksFor('operator_input')),
      'a/leaving': scriptedModel((_, n) =>
        n === 1 ? runs('echo new > new.txt') : says('It is in new.txt.'),
      ),
    },
    policy: asksAbout(publishes),
    upkeep: harmless,
    webhooks: {
      billing: {
        config: { scheme: 'standard', secret_files: ['/srv/secret'], resource: '{/data/id}' },
        secrets: [secret],
        also_from: [],
      },
    },
  })
  await withChildren(api)
  return { api, clock }
}

/** `main` with a child that asks without an end, and one that left a file in its worktree. */
async function withChildren({ box }: ApiBox): Promise<void> {
  makeRepository(box.workspace)
  const template = join(box.home, 'templates', 'reviewer')
  mkdirSync(template, { recursive: true })
  writeFileSync(join(template, 'agent.json'), '{"model":"scripted/model"}')
  const workspace = { mode: 'explicit_root', root: box.workspace } as const
  await box.host.act({ do: 'configure_agent', agent_id: 'main', workspace })
  const left = box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.events.some(({ event }) => event.type === 'worktree_kept'),
    'a worktree that is kept',
  )
  await box.host.open()
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Let others do it.' })
  await left
}

const asksFor = (wake: string) => calls({ name: 'WaitFor', input: { wake, reason: 'And then?' } })
const runs = (cmd: string) => calls({ name: 'ExecCommand', input: { cmd } })

/** First hands work to two children, then goes on as it likes. */
const parentThen =
  (script: Script): Script =>
  (request, n) => {
    const model = ['a/asking', 'a/leaving'][n - 1]
    if (model === undefined) return script(request, n)
    const input = { initial_message: 'Do a part.', model, workspace_mode: 'worktree' }
    return calls({ name: 'SpawnAgent', input })
  }

/** What was taken could not be looked at in the end, so nothing goes; and no disk is filled. */
const harmless = ({ ledger }: HostFixture): HomePort['upkeep'] => ({
  keep_days: 30,
  async retain({ before, dry_run }) {
    const { rows, ...done } = await ledger.retain({ before, dry_run: true })
    return { ok: true, value: { ...done, dry_run, rows: { ...rows } } }
  },
  async backup({ to }) {
    if (!to.startsWith('/')) return { ok: false, code: 'path_invalid', message: 'It is relative.' }
    const made_at = new Date(0).toISOString()
    const sums = { last_global_seq: 0, files: 0, bytes: 0 }
    return { ok: true, value: { path: to, made_at, ...sums, not_included: [] } }
  },
})

/** The headers of a Standard Webhook, by the published library. */
export function signed(id: string, now_ms: number, body: string): Record<string, string> {
  const at = new Date(now_ms)
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now_ms / 1_000)),
    'webhook-signature': new Sender(secret).sign(id, at, body),
  }
}

/** A model that gets to every place of the rules sooner or later, and makes mistakes. */
function erratic(random: () => number): Script {
  const pick = <T>(list: readonly [T, ...T[]]): T => list[Math.floor(random() * list.length)] as T
  return (request) => {
    const said = JSON.stringify(request.messages)
    const ids = [...new Set(said.match(/work_[0-9a-f-]{4,36}/g))]
    const work_item_id = pick([ids[0] ?? 'work_0000', ...ids])
    const waitsFor = (wake: string, more: object = {}) =>
      calls({ name: 'WaitFor', input: { wake, reason: 'Until then.', work_item_id, ...more } })
    switch (Math.floor(random() * 16)) {
      case 0:
      case 1:
        return calls({ name: 'PickWorkItem', input: { work_item_id, reason: 'It is next.' } })
      case 2:
      case 3:
        return waitsFor('operator_input')
      case 4:
      case 5:
        return waitsFor('external', { source: 'ci', resource: pick(['r1', 'r2']) })
      case 6:
        return waitsFor('timer', { wait_ms: 90_000 })
      case 7:
        return calls('Everything was done.', { name: 'CompleteWorkItem', input: { work_item_id } })
      case 8: {
        const todo_list = [{ text: 'Look', state: pick(['pending', 'in_progress', 'completed']) }]
        return calls({ name: 'UpdateWorkItem', input: { work_item_id, todo_list } })
      }
      case 9: {
        const change = pick([{ plan_status: 'needs_input' }, { blocked_by: 'No idea.' }])
        return calls({ name: 'UpdateWorkItem', input: { work_item_id, ...change } })
      }
      case 10:
        return calls({ name: 'ExecCommand', input: { cmd: 'true' } })
      case 11:
        return calls({ name: 'CreateWorkItem', input: { objective: 'Something more' } })
      case 12:
        return random() < 0.6 ? 'hang' : says('Nothing to do now.')
      case 13:
        return random() < 0.3
          ? fails({ kind: 'world', code: 'overloaded' })
          : says('I have looked at it, and it is well.')
      default:
        return says('All is said.')
    }
  }
}

/** What is broken in the rows, the history or the host itself; empty when everything holds. */
export async function brokenIn({ api: { box, home, errors } }: FuzzHome): Promise<string[]> {
  const found = errors.map((error) => {
    return `a route threw ${error instanceof Error ? error.stack : String(error)}`
  })
  for (const notice of box.notices) {
    if (notice.kind === 'fault') found.push(`${notice.agent_id} is ill: ${notice.message}`)
  }
  for (const agent_id of home.agent_ids()) {
    const facts = home.facts(agent_id)
    if (facts === null) continue
    found.push(...violations(facts, await history(home, agent_id)))
  }
  // At one moment: the facts move on while the ledger is proved.
  found.push(
    ...familyViolations(home.agent_ids().flatMap((agent_id) => home.facts(agent_id) ?? [])),
  )
  const { problems } = await box.ledger.verify()
  return [...found, ...problems]
}

async function history(home: ApiBox['home'], agent_id: string): Promise<StoredEvent[]> {
  const all: StoredEvent[] = []
  for (let after = 0; ;) {
    const page = await home.reads.events({ agent_id, after, limit: 500 })
    all.push(...page)
    const last = page.at(-1)
    if (last === undefined) return all
    after = last.seq
  }
}
