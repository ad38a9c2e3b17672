/**
 * Stories of waiting and of what comes in: questions, events, timers, schedules, outages, stops.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { heldTasks } from '../../src/domain/approvals/held-command.ts'
import { heldHash } from '../../src/domain/approvals/held-text.ts'
import { deadLetter } from '../../src/testing/host/outside-events.ts'
import { calls, fails, says } from '../../src/testing/scripted-model.ts'
import { asksAbout } from '../../src/testing/world/held.ts'
import { call, waitsFor } from '../support/scripts.ts'
import { begin } from './outside.ts'
import type { Scenario } from './scenario.ts'
import { ends, idOf, makes, takes } from './stories-work.ts'
import { delivers, itIs, operator, storyOf, tells, type Act, type Answer } from './story.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const waits =
  (wake: string, more: Parameters<typeof waitsFor>[1] = {}): Answer =>
  () =>
    calls(waitsFor(wake, more))

const question: Scenario = storyOf({
  name: 'question',
  covers: ['wait registered', 'wait triggered', 'ingress', 'brief'],
  answers: {
    main: [
      makes('A'),
      takes('A'),
      () => calls('Red or blue?', waitsFor('operator_input')),
      ends('A'),
    ],
  },
  acts: [
    tells('Paint it.'),
    operator('answers', async ({ box }) => {
      const [wait] = await box.ledger.list('waits', { limit: 5 })
      return { do: 'send', agent_id: 'main', text: 'Blue.', wait_id: wait?.id ?? 'none' }
    }),
  ],
})

/** A person's answer to the first that is held, with the mark of what it is by then. */
const answers = (name: string, choice: string): Act =>
  operator(name, async ({ box }) => {
    const facts = box.host.facts('main')
    const [task] = facts ? heldTasks(facts) : []
    const bound_hash = task ? heldHash(task) : 'none'
    const task_id = task?.id ?? 'task_none'
    return { do: 'answer_held', agent_id: 'main', task_id, bound_hash, choice }
  })

/** A command that a rule holds, and what a person says to it. */
const held = (choice: 'yes' | 'no'): Scenario =>
  storyOf({
    name: `held command, ${choice}`,
    covers: ['task spawned', 'task finished', 'wait registered', 'ingress', 'brief'],
    options: { policy: asksAbout('pushed') },
    answers: {
      main: [
        makes('A'),
        takes('A'),
        () => calls(call('ExecCommand', { cmd: 'echo pushed >> pushed.txt' })),
        () => says('I asked.'),
        ends('A'),
      ],
    },
    acts: [tells('Push it.'), answers(`says ${choice}`, choice)],
    also: async ({ box }) => {
      const file = join(box.workspace, 'pushed.txt')
      return existsSync(file) ? readFileSync(file, 'utf8') : 'nothing ran'
    },
  })

/** An edit that a rule holds: made once after a yes, and known to whoever takes it back. */
const heldEdit = (choice: 'yes' | 'no'): Scenario =>
  storyOf({
    name: `held edit, ${choice}`,
    covers: ['task spawned', 'task finished', 'wait registered', 'ingress', 'brief'],
    options: { policy: asksAbout('pushed') },
    answers: {
      main: [
        makes('A'),
        takes('A'),
        () => calls(call('EditFile', { path: 'pushed.txt', new_text: 'pushed\n' })),
        () => says('I asked.'),
        ends('A'),
      ],
    },
    acts: [tells('Write it.'), answers(`says ${choice}`, choice)],
    also: async ({ box }) => {
      const file = join(box.workspace, 'pushed.txt')
      const [task] = await box.ledger.list('tasks', { limit: 5 })
      const changes = task?.changes
      const known = changes !== undefined && 'diffs' in changes ? changes.diffs.length : 0
      const made = existsSync(file) ? readFileSync(file, 'utf8') : 'nothing was made'
      return `${made} ${task?.status}, ${known} known`
    },
  })

const pushes =
  (n: number): Answer =>
  () =>
    calls(call('ExecCommand', { cmd: `echo pushed ${n} >> pushed.txt` }))

/** A yes for longer than once: what is like it begins unasked, until it is taken back. */
const grant: Scenario = storyOf({
  name: 'grant',
  covers: ['task spawned', 'task finished', 'wait registered', 'ingress', 'brief'],
  options: { policy: asksAbout('pushed') },
  answers: {
    main: [
      makes('A'),
      takes('A'),
      pushes(1),
      () => says('I asked.'),
      pushes(2),
      pushes(3),
      () => says('I pushed.'),
      pushes(4),
      ends('A'),
    ],
  },
  acts: [
    tells('Push it.'),
    answers('says yes for the item', 'like_for_item'),
    operator('takes it back', async ({ box }) => {
      const [one] = await box.ledger.list('grants', { limit: 5 })
      return { do: 'revoke_grant', agent_id: 'main', grant_id: one?.id ?? 'grant_none' }
    }),
    tells('Go on.'),
  ],
  also: async ({ box }) => {
    const file = join(box.workspace, 'pushed.txt')
    const [one] = await box.ledger.list('grants', { limit: 5 })
    const ran = existsSync(file) ? readFileSync(file, 'utf8') : 'nothing ran'
    return `${ran} ${one?.uses} uses, ${one?.status}`
  },
})

const external: Scenario = storyOf({
  name: 'external event',
  covers: ['wait registered', 'wait triggered', 'delivery', 'turn start'],
  answers: {
    main: [
      makes('A'),
      takes('A'),
      waits('external', { source: 'ci' }),
      waits('external', { source: 'ci' }),
      async (seen) => {
        const work_item_id = await idOf(seen, 'A')
        return calls(call('UpdateWorkItem', { work_item_id, blocked_by: null }))
      },
      ends('A'),
    ],
  },
  acts: [
    tells('Watch it.'),
    delivers('one', 'ci', 'red'),
    // The sender asks again: it is known, and nothing is done.
    { ...delivers('one', 'ci', 'red'), name: 'delivers one again' },
    delivers('other', 'elsewhere', 'not ours'),
    itIs(2 * minute),
    delivers('two', 'ci', 'green'),
    itIs(4 * minute),
    itIs(2 * hour),
  ],
})

const timer: Scenario = storyOf({
  name: 'timer and recheck',
  covers: ['timer', 'wait registered', 'wait triggered', 'turn end'],
  answers: {
    main: [
      makes('A'),
      takes('A'),
      waits('timer', { wait_ms: hour }),
      waits('external', { source: 'ci', recheck_after_ms: hour }),
      async (seen) => {
        const work_item_id = await idOf(seen, 'A')
        return calls(call('UpdateWorkItem', { work_item_id, blocked_by: null }))
      },
      ends('A'),
    ],
  },
  acts: [tells('Wait for it.'), itIs(hour + minute), itIs(3 * hour), itIs(6 * hour)],
})

const schedule: Scenario = storyOf({
  name: 'schedule',
  apart: ['briefs'],
  covers: ['timer', 'ingress', 'turn start'],
  answers: { main: [] },
  acts: [
    operator('each day', () => ({
      do: 'create_schedule',
      agent_id: 'main',
      label: 'each day',
      text: 'Look around.',
      spec: { kind: 'cron', expression: '0 12 * * *', time_zone: 'UTC' },
    })),
    operator('once', () => ({
      do: 'create_schedule',
      agent_id: 'main',
      label: 'once',
      text: 'Look once.',
      spec: { kind: 'once', at: new Date(begin + day).toISOString() },
    })),
    itIs(4 * hour),
    itIs(day + hour),
    itIs(day + 4 * hour),
    itIs(2 * day + 4 * hour),
    operator('no more', async ({ box }) => {
      const schedules = await box.ledger.list('schedules', { status: ['active'], limit: 5 })
      const schedule_id = schedules.find(({ label }) => label === 'each day')?.id ?? 'none'
      return { do: 'remove_schedule', agent_id: 'main', schedule_id }
    }),
    itIs(4 * day),
  ],
})

/** Not worth sending again at once: the agent is held. */
const down = fails({ kind: 'world', code: 'server_error', status: 500, retryable: false })

/** How often the agent was held so far decides: a fault leaves no round behind. */
const outageAnswer =
  (then: Answer): Answer =>
  async (seen) => {
    const held = await seen.box.ledger.list('waits', { limit: 20 })
    const times = held.filter(({ wake }) => wake === 'system').length
    return times < 2 ? down : then(seen)
  }

const outage: Scenario = storyOf({
  name: 'outage',
  covers: ['hold', 'model request', 'brief'],
  answers: { main: [makes('A'), takes('A'), outageAnswer(ends('A'))] },
  acts: [tells('Begin.'), itIs(2 * minute), itIs(30 * minute), itIs(60 * minute)],
})

const [regretted, regrettedAtOnce] = ['Not this.', 'Nor this, at once.']

/** Without a receipt: asked again, it is the message itself that knows. */
const takesBack = (text: string): Act => ({
  name: `takes back ${text}`,
  async does({ box }) {
    const all = await box.ledger.list('messages', { kind: ['operator_prompt'], limit: 20 })
    const message_id = all.find(({ body }) => body === text)?.id ?? 'msg_none'
    const reply = await box.host.act({ do: 'take_back', agent_id: 'main', message_id })
    assert.ok(reply.ok, `${text}: ${JSON.stringify(reply)}`)
  },
})

/** No request shows what was taken back: this ends the story where one does. */
const unseen =
  (then: Answer): Answer =>
  (seen) => {
    assert.ok(![regretted, regrettedAtOnce].some((text) => seen.text.includes(text)), seen.text)
    return then(seen)
  }

/** While the agent is held its inbox is claimed by nobody. */
const regret: Scenario = storyOf({
  name: 'taken back',
  covers: ['ingress', 'hold'],
  answers: {
    main: [makes('A'), takes('A'), outageAnswer(unseen(ends('A'))), unseen(() => says(''))],
  },
  acts: [
    tells('Begin.'),
    tells(regretted),
    operator('at once', () => {
      return { do: 'send', agent_id: 'main', text: regrettedAtOnce, priority: 'interject' }
    }),
    takesBack(regrettedAtOnce),
    takesBack(regretted),
    itIs(2 * minute),
    itIs(30 * minute),
    itIs(60 * minute),
  ],
})

const lifecycle: Scenario = storyOf({
  name: 'stop and start',
  covers: ['lifecycle', 'timer', 'ingress'],
  answers: {
    main: [makes('A'), takes('A'), waits('timer', { wait_ms: hour }), ends('A'), () => says('Hm.')],
  },
  acts: [
    tells('Begin.'),
    operator('stops it', () => ({ do: 'stop_agent', agent_id: 'main' })),
    delivers('meanwhile', 'ci', 'news'),
    itIs(2 * hour),
    operator('starts it', () => ({ do: 'start_agent', agent_id: 'main' })),
    tells('And now?'),
  ],
})

const repeated: Scenario = storyOf({
  name: 'dead letter',
  covers: ['dead letter', 'redelivery', 'delivery'],
  answers: { main: [] },
  acts: [
    {
      name: 'dead',
      async does({ box }) {
        const said = { source: 'ci', resource: null, summary: null, content_type: null }
        const via = { kind: 'webhook', webhook: 'ci' } as const
        const event = { agent_id: 'main', via, sender_id: 'x', body: 'odd', ...said }
        const reply = await deadLetter(box.host, event, 'it has no resource')
        if (!reply.ok) throw new Error(JSON.stringify(reply))
      },
    },
    operator('again', async ({ box }) => {
      const [dead] = await box.ledger.list('deliveries', { limit: 5 })
      return { do: 'redeliver', agent_id: 'main', delivery_id: dead?.id ?? 'none' }
    }),
    operator('resets', async ({ box }) => {
      const [trigger] = await box.ledger.list('triggers', { limit: 5 })
      return { do: 'reset_trigger', agent_id: 'main', trigger_id: trigger?.id ?? 'none' }
    }),
  ],
})

export const waitStories: readonly Scenario[] = [
  question,
  held('yes'),
  held('no'),
  heldEdit('yes'),
  heldEdit('no'),
  grant,
  external,
  timer,
  schedule,
  outage,
  regret,
  lifecycle,
  repeated,
]
