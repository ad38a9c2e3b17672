/**
 * The resources of the API, in the order of the document. Each registers its own routes; the gate
 * and the problems are the application's. They share what they worked out of the owner's facts.
 */
import * as agents from './resources/agents.ts'
import type { HttpApp } from './request/app-env.ts'
import * as attention from './resources/attention.ts'
import * as checks from './resources/checks.ts'
import * as exports from './resources/exports.ts'
import * as delegations from './resources/delegations.ts'
import * as contexts from './resources/contexts.ts'
import * as deliveries from './resources/deliveries.ts'
import * as grants from './resources/grants.ts'
import * as history from './resources/history.ts'
import * as instructions from './resources/instructions.ts'
import * as itemViews from './resources/item-views.ts'
import * as messages from './resources/messages.ts'
import type { HomePort } from './request/ports.ts'
import * as reverts from './resources/reverts.ts'
import * as schedules from './resources/schedules.ts'
import * as search from './resources/search.ts'
import * as state from './resources/state.ts'
import * as tasks from './resources/tasks.ts'
import * as triggers from './resources/triggers.ts'
import * as upkeep from './resources/upkeep.ts'
import { Views } from './request/views.ts'
import * as waits from './resources/waits.ts'
import * as workItems from './resources/work-items.ts'
import * as worktrees from './resources/worktrees.ts'

/** Adds the routes of one resource, or of several that share something. */
export type Register = (app: HttpApp, home: HomePort) => void

const overViews = [
  state,
  agents,
  instructions,
  messages,
  workItems,
  checks,
  itemViews,
  reverts,
  exports,
  waits,
  tasks,
  grants,
  delegations,
  worktrees,
  history,
  contexts,
  attention,
  triggers,
  deliveries,
  schedules,
  upkeep,
  search,
]

export const resources: readonly Register[] = [
  (app, home) => {
    const views = new Views(home)
    for (const { register } of overViews) register(app, home, views)
  },
]
