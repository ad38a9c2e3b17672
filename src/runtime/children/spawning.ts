/**
 * What a spawn needs before it is decided, and how it is carried out
 * (docs/spec/agent.md#delegation): everything that can be refused is refused before the intent,
 * everything after it may be done again by another process, and the child is there with its
 * supervision or not at all.
 */
import { join, relative, resolve } from 'node:path'
import { agentOf, openTurn, type Draft } from '../../domain/facts/facts.ts'
import type { AgentId } from '../../domain/ids.ts'
import {
  checkSpawn,
  handoffProvenance,
  spawnAgent,
  type Lineage,
  type Spawn,
  type Spawned,
} from '../../domain/agents/spawn.ts'
import type { Workspace } from '../../domain/state/agent.ts'
import { isRejection, no, type Rejection } from '../../domain/rejection.ts'
import type { NewBlob } from '../../ledger/port.ts'
import type { SpawnAsked, SpawnIntent } from '../../tools/tool/children-port.ts'
import { isFolder } from '../folder.ts'
import { forkOf } from './fork.ts'
import { agentHome, worktreePath } from '../home.ts'
import type { AgentPorts } from '../agent-ports.ts'
import { copyTemplate, hasTemplate } from './templates.ts'

/** Refused, or fixed in every detail. `blobs` gets what a fork comes with. */
export async function prepareSpawn(
  env: AgentPorts,
  asked: SpawnAsked,
  blobs: NewBlob[] | null,
): Promise<{ ok: true; intent: SpawnIntent } | Rejection> {
  const facts = env.facts()
  const wrong = checkSpawn(facts, asked, await lineageOf(env))
  if (wrong) return wrong
  const { template } = asked
  if (template !== null && !(await hasTemplate(env.ports, template))) {
    return no('template_not_found', `There is no template "${template}".`)
  }
  const { mint } = env.store
  const isChild = asked.preset === 'private_child'
  const agent_id = isChild ? await childName(env) : (asked.agent_id ?? '')
  if (!isChild && (await env.store.ledger.row('agents', agent_id)) !== null) {
    return no('agent_exists', `There is, or was, an agent ${agent_id} already.`)
  }
  const task_id = mint('task')
  const placed = await place(env, asked, agent_id, worktreePath(env.ports.home, task_id))
  if (isRejection(placed)) return placed
  const handoff = asked.initial_message
  const inherited = asked.context === 'fork' ? await forkOf(env, handoff ?? '') : null
  if (inherited !== null) {
    if (blobs === null) throw new Error('a fork that no intent will name')
    blobs.push(inherited)
  }
  const spawn: Spawn = {
    agent_id,
    message_id: mint('msg'),
    initial_message: handoff,
    provenance: handoffProvenance(facts),
    model: asked.model,
    workspace: placed.workspace,
    template,
    inherited_sha256: inherited?.sha256 ?? null,
    supervision: isChild
      ? {
          task_id,
          delegation_id: mint('deleg'),
          work_item_id: openTurn(facts)?.work_item_id ?? null,
          start_place: null,
          base_commit: null,
          unfiltered: null,
        }
      : null,
  }
  return { ok: true, intent: { spawn, worktree: placed.worktree } }
}

/** In the commit of the intent: what holds now, and the worktree that is about to be made. */
export function queueSpawn(
  d: Draft,
  asked: SpawnAsked,
  { spawn, worktree }: SpawnIntent,
): Rejection | void {
  // How deep it is cannot change; how many are alive, the agent's own rows say.
  const wrong = checkSpawn(d, asked, { depth: 0, living: 0 })
  if (wrong) return wrong
  if (worktree === null || spawn.supervision === null) return
  const { task_id: id } = spawn.supervision
  d.emit({ type: 'worktree_planned', id, child_agent_id: spawn.agent_id, ...worktree })
}

/** May run again with the same intent, in this process or the next: one child. */
export async function carryOutSpawn(
  env: AgentPorts,
  { spawn, worktree }: SpawnIntent,
): Promise<Spawned | Rejection> {
  const { ports, store } = env
  let made = spawn
  if (spawn.supervision !== null) {
    let supervision = { ...spawn.supervision, start_place: ports.processes.place() }
    if (worktree !== null) {
      const adds = () => ports.worktrees.add(worktree)
      const { base_commit, unfiltered } = await env.effect(
        `worktree ${spawn.supervision.task_id}`,
        adds,
      )
      supervision = { ...supervision, base_commit, unfiltered }
    }
    made = { ...spawn, supervision }
  }
  return store.making(spawn.agent_id, () => make(env, made))
}

/** Its home, and then its row with that of its supervision. */
async function make(env: AgentPorts, spawn: Spawn): Promise<Spawned | Rejection> {
  const { ports, store, agent_id } = env
  const home = agentHome(ports.home, spawn.agent_id)
  const workspace =
    spawn.workspace.root === '' ? { ...spawn.workspace, root: home } : spawn.workspace
  await ports.files.make_folder(home, 0o700)
  // Somebody may have made an agent of that name since the intent: its home is its own.
  const isNew = (await store.loaded(spawn.agent_id)) === null
  if (spawn.template !== null && isNew) await copyTemplate(ports, spawn.template, home)
  return store.together(
    [agent_id, spawn.agent_id],
    spawn.supervision?.task_id ?? null,
    async () => null,
    ([p, c]) => {
      if (!p || !c) throw new Error('a spawn is decided over two agents')
      return spawnAgent(p, c, { ...spawn, workspace }, env.urls.hash)
    },
  )
}

/** How far from the root the agent is, and how many of those it made are alive. */
async function lineageOf(env: AgentPorts): Promise<Lineage> {
  const { ledger } = env.store
  const all = new Map((await ledger.agents()).map((agent) => [agent.id, agent]))
  let depth = 0
  let above = all.get(env.agent_id)?.lineage_parent_agent_id ?? null
  while (above !== null) {
    depth += 1
    above = all.get(above)?.lineage_parent_agent_id ?? null
  }
  const made = [...all.values()].filter(
    (agent) => agent.lineage_parent_agent_id === env.agent_id && agent.state !== 'deleted',
  )
  return { depth, living: made.length }
}

/** Characters of a parent's name in its child's: the whole stays within 64. */
const parentChars = 56

/** `main.3`: the parent's name and the next number that no agent ever had. */
async function childName(env: AgentPorts): Promise<AgentId> {
  const { ledger } = env.store
  const stem = env.agent_id.slice(0, parentChars)
  const [last] = await ledger.list('delegations', { agent_id: env.agent_id, limit: 1 })
  let n = Number(last?.child_agent_id.split('.').at(-1) ?? 0) || 0
  for (;;) {
    n += 1
    const name = `${stem}.${n}`
    if ((await ledger.row('agents', name)) === null) return name
  }
}

type Placed = { ok: true; workspace: Workspace; worktree: SpawnIntent['worktree'] }

/** Where it works. A public agent without a folder of its own works in its home. */
async function place(
  env: AgentPorts,
  asked: SpawnAsked,
  agent_id: AgentId,
  path: string,
): Promise<Placed | Rejection> {
  const own = agentOf(env.facts()).workspace.root
  const mode = asked.workspace_mode
  switch (mode) {
    case 'inherit': {
      const root = asked.preset === 'public_named' && own === env.home() ? '' : own
      return { ok: true, workspace: { mode, root }, worktree: null }
    }
    case 'explicit_root': {
      const root = resolve(own, asked.root ?? '')
      const wrong = await outside(env, own, root)
      return wrong ?? { ok: true, workspace: { mode, root }, worktree: null }
    }
    case 'worktree': {
      const found = await env.ports.worktrees.repository(own)
      if (found === null || found.head === null) {
        const what = found === null ? 'is in no git repository' : 'has no commit yet'
        return no('no_repository', `${own} ${what}.`)
      }
      const root = join(path, relative(found.root, own))
      const worktree = { repository: found.root, path, branch: `holon/${agent_id}` }
      return { ok: true, workspace: { mode, root }, worktree }
    }
  }
}

/** A child gets no more than its parent has: no folder beside it, and no link on the way. */
async function outside(env: AgentPorts, own: string, root: string): Promise<Rejection | null> {
  const way = relative(own, root)
  if (way.startsWith('..')) return no('root_outside', `${root} is not inside ${own}.`)
  const names = way === '' ? [] : way.split('/')
  for (const [i] of names.entries()) {
    const path = join(own, ...names.slice(0, i + 1))
    if (await isFolder(env.ports.files, path)) continue
    return no('root_outside', `${path} is not a folder; a link does not count as one.`)
  }
  return null
}
