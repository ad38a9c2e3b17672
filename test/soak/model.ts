/**
 * The model of the soak: a function of the request alone. It watches what the operator asks it to
 * watch, by an item that waits for an event; completes what was triggered; and runs commands that
 * write the number of their request into a file, some in the background, so that a command which
 * ran twice shows. A request that is sent again after a kill has another number and asks anew.
 */
import type { ServerAnswer, ServerView } from '../../src/testing/model-server/server.ts'

/** The event that ends the k-th thing to watch, as a trigger delivery names it. */
export const eventOf = (k: number) => ({ source: 'soak', resource: `thing-${k}` })
export const pleaseWatch = (k: number): string => `Watch thing-${k} until it happens.`

/** Calls of one answer: below the limit of a round. */
const mostCalls = 20

type Call = NonNullable<ServerAnswer['calls']>[number]

/** Commands append their line to `log`; one line is one write, so lines never mix. */
export function answerOf({ n, messages_text, last_tool_results }: ServerView, log: string) {
  const results = last_tool_results.map(({ text }) => text)
  if (results.length > 0) {
    const waits = waitsForCreated(results.join('\n'), messages_text)
    return waits.length > 0 ? say('I watch it.', waits) : say(`Noted in request ${n}.`)
  }
  const input = messages_text.slice(messages_text.indexOf('# Why this turn runs'))
  const triggered = /^- Wait wait_/m.test(input) ? completions(messages_text, input) : []
  if (triggered.length > 0) return say(`It happened, as request ${n} says.`, triggered)
  const created = creations(input)
  if (created.length > 0) return say('An item for each.', created)
  const one = '# Queued work item[^\\n]*\\n\\nid: '
  const listed = '- (?=work_\\S+ "Watch thing-\\d+"$)'
  const ready = new RegExp(`^(?:${listed}|${one})(work_[0-9a-f-]+)`, 'gm')
  const waits = waitsFor(messages_text, ready)
  if (waits.length > 0) return say('I watch what is left.', waits)
  return n % 3 === 0 ? say('A command.', [command(n, log)]) : say(`Noted in request ${n}.`)
}

const say = (text: string, calls: readonly Call[] = []): ServerAnswer => ({
  text,
  calls: calls.slice(0, mostCalls),
})

const asked = (input: string): string[] => {
  const found = [...input.matchAll(/Watch (thing-\d+) until it happens\./g)]
  return [...new Set(found.map(([, thing]) => thing ?? ''))]
}

const creations = (input: string): Call[] =>
  asked(input).map((thing) => ({
    name: 'CreateWorkItem',
    input: { objective: `Watch ${thing}` },
  }))

/** The items were made in the order in which the input names their things. */
function waitsForCreated(results: string, messages_text: string): Call[] {
  const things = asked(messages_text.slice(messages_text.indexOf('# Why this turn runs')))
  const ids = [...results.matchAll(/Created (work_[0-9a-f-]+)/g)].map(([, id]) => id)
  const lines = ids.map((id, i) => `${id} Watch ${things[i]}`)
  return waitsFor(lines.join('\n'), /^(work_[0-9a-f-]+)/gm)
}

/** A wait for each item whose id `pattern` finds; its thing is what comes next in the text. */
const waitsFor = (text: string, pattern: RegExp): Call[] =>
  [...text.matchAll(pattern)].flatMap(({ 1: work_item_id = '', index }) => {
    const resource = /Watch (thing-\d+)/.exec(text.slice(index))?.[1]
    if (resource === undefined) return []
    const { source } = eventOf(0)
    const reason = `${resource} must happen`
    return [
      { name: 'WaitFor', input: { wake: 'external', source, resource, work_item_id, reason } },
    ]
  })

/** The triggered items; the turn's own last, for its completion ends the turn. */
function completions(opening: string, input: string): Call[] {
  const own = /^# This turn's work item[^\n]*\n\nid: (work_[0-9a-f-]{4,36})/m.exec(opening)?.[1]
  const others = [...input.matchAll(/It is a wait of (work_[0-9a-f-]{4,36})/g)].map(([, id]) => id)
  const ids = [...new Set(others), ...(own === undefined ? [] : [own])]
  return ids.slice(-mostCalls).map((id) => ({
    name: 'CompleteWorkItem',
    input: { work_item_id: id ?? '', leave_running: true },
  }))
}

function command(n: number, log: string): Call {
  const isLong = n % 2 === 0
  const cmd = `${isLong ? 'sleep 0.2; ' : ''}echo command-${n} >> ${log}`
  return { name: 'ExecCommand', input: { cmd, ...(isLong ? { yield_ms: 1 } : {}) } }
}
