/**
 * A whole home to look at: a real daemon on a scratch folder, agents in every state a person can
 * meet, and models that follow a script on the loopback. Nothing leaves the machine and nothing is
 * written into the ledger but by the daemon. For screenshots, documentation and tests.
 */
import { Api } from '../../client/api.ts'
import { Holon } from '../../client/holon.ts'
import { readToken } from '../../main/homes/control.ts'
import { clock, ids } from '../../main/machine/machine.ts'
import { startDemoDaemon, type DemoDaemon } from './daemon.ts'
import { makePlace, type DemoPlace } from './place.ts'
import { allScenes, ask, publishing, type DemoStage } from './scenes.ts'
import { demoScript } from './script.ts'
import { startModelServer } from '../model-server/server.ts'

export type Demo = {
  url: string
  /** The scratch home: `holon --home <home> …` reaches it. */
  home: string
  /** Where the agents work. */
  workspace: string
  holon: Holon
  /** Resolves if the daemon ends before it was asked to, with what it said. */
  failed: Promise<string>
  /** Stops the commands that run, the daemon and the models, in this order. Once. */
  close(): Promise<void>
}

/**
 * Everything is in its state when this resolves. `folder` may exist; its `home` must not hold a
 * ledger yet. Rejects when a scene does not come to its state, with nothing left running.
 */
export async function startDemo(folder: string, { port = 0 } = {}): Promise<Demo> {
  const models = await startModelServer(demoScript())
  const place = makePlace(folder, models.base_url)
  const { home, workspace } = place
  let daemon: DemoDaemon | null = null
  const close = async (stage: DemoStage | null) => {
    try {
      if (stage !== null) await stopCommands(stage)
    } finally {
      await daemon?.stop()
      await models.close()
    }
  }
  let stage: DemoStage | null = null
  try {
    daemon = await startDemoDaemon(home, { port, life: 1 })
    stage = stageAt(daemon.url, place)
    await daemon.crash(await publishing(stage))
    daemon = await startDemoDaemon(home, { port, life: 2 })
    stage = stageAt(daemon.url, place)
    await allScenes(stage)
  } catch (error) {
    await close(stage).catch(() => {
      // What went wrong first is what is told.
    })
    throw error
  }
  const there = stage
  const { url, ended } = daemon
  return { url, home, workspace, holon: there.holon, failed: ended, close: () => close(there) }
}

function stageAt(base_url: string, { home, workspace }: DemoPlace): DemoStage {
  const ports = {
    fetch: (url: string, init: RequestInit) => fetch(url, init),
    clock,
    mint_key: () => ids.mint('key'),
    token: () => readToken(home),
  }
  return { holon: new Holon(new Api(ports, { base_url })), clock, workspace }
}

/** Commands outlive a daemon: the demonstration's own go with it. Agents first, or they go on. */
async function stopCommands(stage: DemoStage): Promise<void> {
  const { agents } = await ask(stage, 'GET /agents', { query: { limit: 100 } })
  for (const { id: agent, state, visibility } of agents) {
    if (state !== 'active' || visibility !== 'public') continue
    await ask(stage, 'POST /agents/{agent}/stop', { agent })
  }
  const { tasks } = await ask(stage, 'GET /tasks', { query: { status: 'live', limit: 100 } })
  for (const { agent_id: agent, id: task } of tasks) {
    await ask(stage, 'POST /agents/{agent}/tasks/{task}/stop', { agent, task })
  }
}
