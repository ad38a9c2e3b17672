/**
 * The routes of the API with what each takes and answers, by the schemas that the server validates
 * with. Types only: a program that asks loads no schema. A test holds the list against the document
 * that the server generates.
 */
import type { z } from 'zod'
import type * as acted from '../protocol/acts/acted.ts'
import type * as checks from '../protocol/records/check-record.ts'
import type * as agents from '../protocol/records/agent-record.ts'
import type * as attention from '../protocol/views/attention.ts'
import type * as snoozing from '../protocol/views/snooze-body.ts'
import type * as trees from '../protocol/records/delegation-record.ts'
import type * as changes from '../protocol/records/changes-record.ts'
import type * as contexts from '../protocol/records/context-record.ts'
import type * as eventPages from '../protocol/events/event-page.ts'
import type * as exports from '../protocol/records/export-record.ts'
import type * as grants from '../protocol/records/grant-record.ts'
import type * as history from '../protocol/records/history-record.ts'
import type * as instructions from '../protocol/records/instruction-record.ts'
import type * as messages from '../protocol/records/message-record.ts'
import type * as reverts from '../protocol/records/revert-record.ts'
import type * as schedules from '../protocol/records/schedule-record.ts'
import type * as search from '../protocol/records/search-record.ts'
import type * as spend from '../protocol/records/spend-record.ts'
import type * as state from '../protocol/views/state-record.ts'
import type * as tasks from '../protocol/records/task-record.ts'
import type * as triggers from '../protocol/records/trigger-record.ts'
import type * as turns from '../protocol/records/turn-record.ts'
import type * as upkeep from '../protocol/upkeep.ts'
import type * as waits from '../protocol/records/wait-record.ts'
import type * as why from '../protocol/views/why.ts'
import type { ItemFilter } from '../protocol/records/records.ts'
import type * as items from '../protocol/records/work-item-record.ts'

type Out<S extends z.ZodType> = z.output<S>
type In<S extends z.ZodType> = z.input<S>

/** Every list: the newest page first, and `next_cursor` for what is older. */
type Paged = { limit?: number; cursor?: string; before?: string }
type AboutItem = { work_item_id?: string }

type Agents = {
  'GET /agents': { query: Paged; answer: Out<typeof agents.agentList> }
  'POST /agents': { body: In<typeof agents.newAgent>; answer: Out<typeof acted.actedOnAgent> }
  'GET /agents/{agent}': { answer: Out<typeof agents.agentRecord> }
  'GET /agents/{agent}/instructions': { answer: Out<typeof instructions.agentInstructions> }
  'PATCH /agents/{agent}': {
    body: In<typeof agents.changeAgent>
    answer: Out<typeof acted.actedOnAgent>
  }
  'DELETE /agents/{agent}': { answer: Out<typeof acted.actedAlone> }
  'POST /agents/{agent}/start': { answer: Out<typeof acted.actedOnAgent> }
  'POST /agents/{agent}/stop': { answer: Out<typeof acted.actedOnAgent> }
  'POST /agents/{agent}/abort': {
    body: In<typeof agents.abortBody>
    answer: Out<typeof acted.actedOnAgent>
  }
}

type Messages = {
  'GET /agents/{agent}/messages': {
    query: Paged & AboutItem & { status?: string; kind?: string }
    answer: Out<typeof messages.messageList>
  }
  'POST /agents/{agent}/messages': {
    body: In<typeof messages.newMessage>
    answer: Out<typeof messages.accepted>
  }
  'GET /agents/{agent}/messages/{message}': { answer: Out<typeof messages.messageRecord> }
  'POST /agents/{agent}/messages/{message}/take-back': { answer: Out<typeof acted.actedOnMessage> }
}

type WorkItems = {
  'GET /agents/{agent}/work-items': {
    query: Paged & { filter?: ItemFilter }
    answer: Out<typeof items.workItemList>
  }
  'POST /agents/{agent}/work-items': {
    body: In<typeof items.newWorkItem>
    answer: Out<typeof acted.actedOnItem>
  }
  'GET /agents/{agent}/work-items/{item}': { answer: Out<typeof items.workItemRecord> }
  'PATCH /agents/{agent}/work-items/{item}': {
    body: In<typeof items.changeWorkItem>
    answer: Out<typeof acted.actedOnItem>
  }
  'POST /agents/{agent}/work-items/{item}/pick': {
    body?: In<typeof items.pickBody>
    answer: Out<typeof acted.actedOnItem>
  }
  'POST /agents/{agent}/work-items/{item}/complete': {
    body?: In<typeof items.completeBody>
    answer: Out<typeof acted.actedOnItem>
  }
  'POST /agents/{agent}/work-items/{item}/checks/run': {
    body?: In<typeof checks.runChecksBody>
    answer: Out<typeof acted.actedOnItem>
  }
  'POST /agents/{agent}/work-items/{item}/checks/{name}/answer': {
    body: In<typeof checks.answerCheckBody>
    answer: Out<typeof acted.actedOnItem>
  }
  'GET /agents/{agent}/work-items/{item}/why': {
    query: { history?: boolean }
    answer: Out<typeof why.whyRecord>
  }
  'GET /agents/{agent}/work-items/{item}/plan': { answer: Out<typeof items.planView> }
  'GET /agents/{agent}/work-items/{item}/trace': {
    query: Paged
    answer: Out<typeof turns.turnTrace>
  }
  'GET /agents/{agent}/work-items/{item}/changes': { answer: Out<typeof changes.itemChanges> }
  'POST /agents/{agent}/work-items/{item}/revert': {
    body?: In<typeof reverts.revertBody>
    answer: Out<typeof acted.actedOnFiles>
  }
  'GET /agents/{agent}/work-items/{item}/spend': { answer: Out<typeof spend.spendReport> }
}

type Exports = {
  'GET /agents/{agent}/work-items/{item}/export': { answer: Out<typeof exports.exportedItem> }
  'POST /agents/{agent}/imports': {
    body: In<typeof exports.newImport>
    answer: Out<typeof acted.actedOnItem>
  }
}

type Waits = {
  'GET /agents/{agent}/waits': {
    query: Paged & { status?: (typeof waits.waitStatuses)[number] | 'all' }
    answer: Out<typeof waits.waitList>
  }
  'GET /agents/{agent}/waits/{wait}': { answer: Out<typeof waits.waitRecord> }
  'POST /agents/{agent}/waits/{wait}/answer': {
    body: In<typeof waits.answerBody>
    answer: Out<typeof acted.actedOnWait>
  }
  'POST /agents/{agent}/waits/{wait}/trigger': {
    body?: In<typeof waits.fireBody>
    answer: Out<typeof acted.actedOnWait>
  }
  'DELETE /agents/{agent}/waits/{wait}': { answer: Out<typeof acted.actedOnWait> }
}

type TaskStatus = (typeof tasks.taskStatuses)[number] | 'live' | 'all'
type Tasks = {
  'GET /tasks': { query: Paged & { status?: TaskStatus }; answer: Out<typeof tasks.taskList> }
  'GET /agents/{agent}/tasks': {
    query: Paged & AboutItem & { status?: TaskStatus }
    answer: Out<typeof tasks.taskList>
  }
  'POST /agents/{agent}/tasks': {
    body: In<typeof tasks.newTask>
    answer: Out<typeof acted.actedOnTask>
  }
  'GET /agents/{agent}/tasks/{task}': { answer: Out<typeof tasks.taskRecord> }
  'GET /agents/{agent}/tasks/{task}/output': {
    query: { stream?: 'stdout' | 'stderr'; offset?: number; limit?: number }
    answer: Out<typeof tasks.taskOutput>
  }
  'POST /agents/{agent}/tasks/{task}/input': {
    body: In<typeof tasks.taskInput>
    answer: Out<typeof acted.actedOnTask>
  }
  'POST /agents/{agent}/tasks/{task}/answer': {
    body: In<typeof tasks.answerHeldBody>
    answer: Out<typeof acted.actedOnTask>
  }
  'POST /agents/{agent}/tasks/{task}/stop': { answer: Out<typeof acted.actedOnTask> }
}

type Grants = {
  'GET /agents/{agent}/grants': {
    query: Paged & { status?: (typeof grants.grantStatuses)[number] | 'all' }
    answer: Out<typeof grants.grantList>
  }
  'GET /agents/{agent}/grants/{grant}': { answer: Out<typeof grants.grantRecord> }
  'DELETE /agents/{agent}/grants/{grant}': { answer: Out<typeof acted.actedOnGrant> }
}

type Children = {
  'GET /agents/{agent}/delegations': {
    query: Paged & AboutItem & { state?: (typeof trees.delegationStates)[number] | 'all' }
    answer: Out<typeof trees.delegationList>
  }
  'GET /worktrees': {
    query: Paged & { state?: WorktreeState }
    answer: Out<typeof trees.worktreeList>
  }
  'GET /agents/{agent}/worktrees': {
    query: Paged & { state?: WorktreeState }
    answer: Out<typeof trees.worktreeList>
  }
  'GET /agents/{agent}/worktrees/{worktree}': { answer: Out<typeof trees.worktreeRecord> }
  'POST /agents/{agent}/worktrees/{worktree}/snapshot': { answer: OnWorktree }
  'POST /agents/{agent}/worktrees/{worktree}/restore': { answer: OnWorktree }
  'POST /agents/{agent}/worktrees/{worktree}/discard': { answer: OnWorktree }
  'POST /agents/{agent}/worktrees/{worktree}/remove': { answer: OnWorktree }
}
type WorktreeState = (typeof trees.worktreeStates)[number] | 'live' | 'all'
type OnWorktree = Out<typeof acted.actedOnWorktree>

type History = {
  'GET /agents/{agent}/briefs': {
    query: Paged & AboutItem & { kind?: (typeof history.briefKinds)[number] }
    answer: Out<typeof history.briefList>
  }
  'GET /agents/{agent}/turns': {
    query: Paged & AboutItem & { state?: 'open' | 'ended' }
    answer: Out<typeof turns.turnList>
  }
  'GET /agents/{agent}/turns/{turn}': { answer: Out<typeof turns.turnWhole> }
  'GET /agents/{agent}/turns/{turn}/context': { answer: Out<typeof contexts.turnContext> }
  'GET /agents/{agent}/turns/{turn}/context/{n}': { answer: Out<typeof contexts.requestText> }
  'GET /agents/{agent}/decisions': {
    query: Paged & AboutItem
    answer: Out<typeof history.decisionList>
  }
  'GET /spend': {
    query: AboutItem & { by?: string; agent?: string; from?: string; to?: string }
    answer: Out<typeof spend.spendReport>
  }
  'GET /search': {
    query: { q: string; agent?: string; kind?: string; limit?: number }
    answer: Out<typeof search.searchAnswer>
  }
  /** A page; the stream is followed with `stream.ts`. */
  'GET /events': { query: EventQuery; answer: Out<typeof eventPages.eventPage> }
  'GET /agents/{agent}/events': { query: EventQuery; answer: Out<typeof eventPages.eventPage> }
}
type EventQuery = { after?: number; before?: number; limit?: number }

type Attention = {
  'GET /state': { answer: Out<typeof state.stateRecord> }
  'GET /attention': {
    query: { limit?: number; cursor?: string; agent?: string; include_snoozed?: boolean }
    answer: Out<typeof attention.attentionList>
  }
  'POST /attention/{entry}/snooze': {
    body: In<typeof snoozing.snoozeBody>
    answer: Out<typeof acted.actedAlone>
  }
  'POST /attention/{entry}/dismiss': { answer: Out<typeof acted.actedAlone> }
}

type Outside = {
  'GET /agents/{agent}/triggers': {
    query: Paged & { status?: (typeof triggers.triggerStatuses)[number] | 'all' }
    answer: Out<typeof triggers.triggerList>
  }
  'POST /agents/{agent}/triggers': {
    body: In<typeof triggers.newTrigger>
    answer: Out<typeof acted.actedOnTrigger>
  }
  'GET /agents/{agent}/triggers/{trigger}': { answer: Out<typeof triggers.triggerRecord> }
  'POST /agents/{agent}/triggers/{trigger}/reset': { answer: Out<typeof acted.actedOnTrigger> }
  'DELETE /agents/{agent}/triggers/{trigger}': { answer: Out<typeof acted.actedOnTrigger> }
  'GET /agents/{agent}/deliveries': {
    query: Paged & { status?: (typeof triggers.deliveryStatuses)[number] }
    answer: Out<typeof triggers.deliveryList>
  }
  'GET /agents/{agent}/deliveries/{delivery}': { answer: Out<typeof triggers.deliveryRecord> }
  'POST /agents/{agent}/deliveries/{delivery}/redeliver': {
    answer: Out<typeof acted.actedOnDelivery>
  }
}

type ScheduleStatus = (typeof schedules.scheduleStatuses)[number] | 'live' | 'all'
type Schedules = {
  'GET /agents/{agent}/schedules': {
    query: Paged & { status?: ScheduleStatus }
    answer: Out<typeof schedules.scheduleList>
  }
  'POST /agents/{agent}/schedules': {
    body: In<typeof schedules.newSchedule>
    answer: Out<typeof acted.actedOnSchedule>
  }
  'GET /agents/{agent}/schedules/{schedule}': { answer: Out<typeof schedules.scheduleRecord> }
  'PATCH /agents/{agent}/schedules/{schedule}': {
    body: In<typeof schedules.changeSchedule>
    answer: Out<typeof acted.actedOnSchedule>
  }
  'DELETE /agents/{agent}/schedules/{schedule}': { answer: Out<typeof acted.actedOnSchedule> }
  'POST /agents/{agent}/schedules/{schedule}/pause': { answer: Out<typeof acted.actedOnSchedule> }
  'POST /agents/{agent}/schedules/{schedule}/resume': { answer: Out<typeof acted.actedOnSchedule> }
  'GET /agents/{agent}/schedules/{schedule}/slots': {
    query: Paged & { status?: (typeof schedules.slotStatuses)[number] }
    answer: Out<typeof schedules.slotList>
  }
}

type Upkeep = {
  'POST /upkeep/retention': {
    body: In<typeof upkeep.newRetention>
    answer: Out<typeof upkeep.retention>
  }
  'POST /upkeep/backup': { body: In<typeof upkeep.newBackup>; answer: Out<typeof upkeep.backup> }
}

export type Routes = Agents &
  Messages &
  WorkItems &
  Exports &
  Waits &
  Tasks &
  Grants &
  Children &
  History &
  Attention &
  Outside &
  Schedules &
  Upkeep
export type Route = keyof Routes

/** The names in braces, each a text; ids may be short. */
type Params<R extends string> = R extends `${string}{${infer Name}}${infer Rest}`
  ? { [K in Name]: string } & Params<Rest>
  : unknown

type Body<T> = T extends { body: infer B }
  ? { body: B }
  : T extends { body?: infer B }
    ? { body?: B }
    : unknown
type Asked<T> = T extends { query: infer Q } ? { query?: Q } : unknown

/** What a route is given: its parameters, its query and its body. */
export type RouteInput<R extends Route> = Params<R> & Body<Routes[R]> & Asked<Routes[R]>
export type RouteAnswer<R extends Route> = Routes[R]['answer']
