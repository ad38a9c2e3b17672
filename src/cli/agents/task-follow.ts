/**
 * `holon tasks follow`: what a running task does, as it does it, until it ends. A command's streams
 * go to the streams of this process; of a child its turns, calls and words are shown. Leaving ends
 * nothing but the looking. The exit code is the task's: 0 when it ended well, else 1.
 */
import type { z } from 'zod'
import type { Api } from '../../client/api.ts'
import type { Emitted, StoredEvent, Task } from '../../protocol/records/records.ts'
import type { taskOutput } from '../../protocol/records/task-record.ts'
import { RunLines } from '../../present/lines/run-lines.ts'
import { endedWell } from '../../present/lines/task-words.ts'
import { safeJson, safeLine, safeLines } from '../../present/text/safe.ts'
import { reading, wantsColour, zoneOf, type Context } from '../command/context.ts'
import { exits, type Exit } from '../command/failure.ts'
import type { HomeReader } from '../command/ports.ts'
import { asking, failureOf } from '../command/records.ts'
import { RunScreen } from '../command/run-screen.ts'
import { statusOf, taskOf, timeOf } from './tasks.ts'

type Piece = z.infer<typeof taskOutput>
type Stream = Piece['stream']

/** Milliseconds between two looks: what a person takes for at once. */
const lookEvery = 250
/** Bytes of one piece, which is the limit of the API, and events that one look reads. */
const pieceBytes = 1_048_576
const page = 500

/** Looks once. `ended`: what writes is gone, and everything it wrote is shown. */
type Look = () => Promise<{ moved: boolean; ended: boolean }>

export function taskFollow(context: Context, text: string): Promise<Exit> {
  return reading(context, async (reader) => {
    const task = await taskOf(context, reader, text)
    const left = new AbortController()
    const over = context.ports.on_interrupt(() => left.abort())
    try {
      if (task.child_agent_id !== null) {
        const look = ofChild(context, reader, task.child_agent_id)
        return await follow(context, reader, task, look, left.signal)
      }
      const exit = await asking(context, (api) =>
        follow(context, reader, task, ofCommand(context, api, task), left.signal),
      )
      if (exit === null) throw new Error(`${task.id} is in a home that is not there`)
      return exit
    } finally {
      over()
    }
  })
}

/** The row is read before the look: so what was written before its end is shown when it ends. */
async function follow(
  context: Context,
  reader: HomeReader,
  { id }: Task,
  look: Look,
  left: AbortSignal,
): Promise<Exit> {
  const { ports, home } = context
  for (;;) {
    const now = await reader.row('tasks', id)
    if (now === null) throw new Error(`no row for ${id}`)
    const { moved, ended } = await look()
    if (left.aborted) return leave(context, id)
    if (moved) continue
    if (now.ended_at !== null) return end(context, now)
    if (ended && (await ports.owner(home.value)) === null) return unrecorded(context, id)
    await pause(context, left)
  }
}

function ofCommand(context: Context, api: Api, { id, agent_id }: Task): Look {
  const path = `/agents/${encodeURIComponent(agent_id)}/tasks/${id}/output`
  const followed = (['stdout', 'stderr'] as const).map((stream) => {
    const print = printer(context, stream)
    let offset = 0
    return async () => {
      const answer = await api.get<Piece>(path, { stream, offset, limit: pieceBytes })
      if (!answer.ok) {
        const { failure } = answer
        // Nothing is there before it begins.
        const none = failure.kind === 'problem' && failure.problem.code === 'not_found'
        if (none) return { moved: false, ended: false }
        throw failureOf(failure)
      }
      const { next_offset, size, ended } = answer.value
      const moved = next_offset > offset
      offset = next_offset
      if (moved) print(answer.value)
      return { moved, ended: ended && offset >= size }
    }
  })
  return async () => {
    let [moved, ended] = [false, true]
    for (const look of followed) {
      const seen = await look()
      moved ||= seen.moved
      ended &&= seen.ended
    }
    return { moved, ended }
  }
}

/** As it is into a pipe; on a terminal, which would obey foreign text, made visible. */
function printer({ ports, flags }: Context, stream: Stream): (piece: Piece) => void {
  if (flags.json === true) return (piece) => ports.out(`${safeJson(piece)}\n`)
  const isOut = stream === 'stdout'
  const write = (text: string) => (isOut ? ports.out(text) : ports.err(text))
  const terminal = isOut ? ports.terminal.stdout : ports.terminal.stderr
  if (!terminal) return ({ text }) => write(text)
  return ({ text }) => write(text.split('\n').map(safeLine).join('\n'))
}

function ofChild(context: Context, reader: HomeReader, child: string): Look {
  const lines = new RunLines({
    ids: context.ids,
    zone: () => zoneOf(context),
    facts: null,
    turns: 0,
  })
  const screen = screenOf(context)
  let after = 0
  return async () => {
    const some = await reader.events({ after, limit: page, agent_id: child })
    after = some.at(-1)?.global_seq ?? after
    if (context.flags.json === true) {
      context.ports.out(some.map((event) => `${safeJson(event)}\n`).join(''))
    } else screen.lines([...lines.take(some.map(emitted)), ...lines.flush()])
    return { moved: some.length > 0, ended: false }
  }
}

function screenOf(context: Context): RunScreen {
  const { ports, flags, ink } = context
  const { terminal } = ports
  return new RunScreen(ports, {
    columns: () => (terminal.stderr && flags.plain !== true ? terminal.columns() || 100 : null),
    answersOnTerminal: terminal.stdout,
    ink: { ...ink, colour: wantsColour(ports, flags, terminal.stderr) },
    quiet: flags.quiet === true,
    silent: false,
    zone: () => zoneOf(context),
  })
}

function emitted({ event, ...meta }: StoredEvent): Emitted {
  const { seq, at, work_item_id, turn_id, causation_id } = meta
  return { event, meta: { seq, at, work_item_id, turn_id, causation_id } }
}

function end(context: Context, task: Task): Exit {
  const { ports, flags, ids } = context
  if (flags.json === true) ports.out(`${safeJson(task)}\n`)
  else if (flags.quiet !== true) {
    const time = timeOf(task, zoneOf(context))
    const [what] = safeLines(`${task.label}: ${statusOf(task)}, ${time}`)
    ports.err(`${ids.short(task.id)}  ${what}\n`)
  }
  return endedWell(task) ? exits.done : exits.failed
}

/** The next process that owns the home records how it ended. */
function unrecorded({ ports, ids }: Context, id: string): Exit {
  const said = 'has ended, and nobody serves the home to record how'
  ports.err(`${ids.short(id)} ${said}; holon run --resume, or holon start\n`)
  return exits.waits
}

function leave({ ports, ids }: Context, id: string): Exit {
  const short = ids.short(id)
  ports.err(`${short} goes on; holon tasks follow ${short} again, holon tasks stop ${short}\n`)
  return exits.interrupted
}

async function pause({ ports }: Context, left: AbortSignal): Promise<void> {
  const paused = Promise.withResolvers<void>()
  const cancel = ports.clock.after(lookEvery, paused.resolve)
  const wake = () => paused.resolve()
  left.addEventListener('abort', wake, { once: true })
  if (left.aborted) wake()
  await paused.promise
  left.removeEventListener('abort', wake)
  cancel()
}
