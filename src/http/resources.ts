/**
 * The resources of the API, in the order of the document. Each registers its own routes; the gate
 * and the problems are the application's. They share what they worked out of the owner's facts.
 */
import * as agents from './agents.ts'
import type { HttpApp } from './app-env.ts'
import * as attention from './attention.ts'
import * as checks from './checks.ts'
import * as exports from './exports.ts'
import * as delegations from './delegations.ts'
import * as contexts from './contexts.ts'
import * as deliveries from './deliveries.ts'
import * as history from './history.ts'
import * as instructions from './instructions.ts'
import * as itemViews from './item-views.ts'
import * as messages from './messages.ts'
import type { HomePort } from './ports.ts'
import * as schedules from './schedules.ts'
import * as search from './search.ts'
import * as state from './state.ts'
import * as tasks from './tasks.ts'
import * as triggers from './triggers.ts'
import * as upkeep from './upkeep.ts'
import { Views } from './views.ts'
import * as waits from './waits.ts'
import * as workItems from './work-items.ts'
import * as worktrees from './worktrees.ts'

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
  exports,
  waits,
  tasks,
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
