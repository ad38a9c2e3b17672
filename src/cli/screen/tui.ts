/**
 * `holon tui`, and `holon` alone on a terminal: the screen. Where nobody owns the home it starts
 * the daemon, and makes the home if there is none; beside a run it works with the run.
 */
import { setUp } from '../setup/init.ts'
import { resolveId } from '../../client/home-reads.ts'
import { looksLikeId } from '../../present/text/short-id.ts'
import { firstAgent } from '../command/first-agent.ts'
import { printLines, reading, type Context } from '../command/context.ts'
import {
  asFailure,
  failureText,
  problemWords,
  usage,
  exits,
  type Exit,
} from '../command/failure.ts'
import type { ScreenLook } from '../command/screen-port.ts'
import { start, stop } from '../daemon/daemon.ts'

/**
 * `opens`: as it was typed, or whom a box for the first words is opened to; `says`: at the foot of
 * the screen.
 */
export async function tui(
  context: Context,
  opens: string | { words_to: string } | null,
  says: string | null = null,
): Promise<Exit> {
  const { ports, home, ink, flags } = context
  const { terminal } = ports
  if (flags.json === true) throw usage('no_json', 'the screen prints no JSON', 'holon inbox --json')
  const { term, wants_plain } = ports.environment
  const plain = flags.plain === true || wants_plain || term === 'dumb'
  if (!plain && (!terminal.stdin || !terminal.stdout)) {
    const hint = 'holon tui --plain, holon inbox and holon work list do without one'
    throw usage('no_terminal', 'the screen needs a terminal', hint)
  }
  await served(context)
  const { colour, ascii } = ink
  const named = typeof opens === 'string' ? await found(context, opens) : opens
  const utc = flags.utc === true
  const look = { home: tilde(context), colour, ascii, utc, plain, opens: named }
  await untilLeft(context, { ...look, says, first: await firstAgent(context) })
  const goesOn = (await ports.daemon.running(home.value)) ?? (await ports.owner(home.value))
  const gone = 'the daemon has gone; holon tui starts it again'
  printLines(context, [goesOn === null ? gone : 'agents go on; holon tui comes back'])
  return exits.done
}

/** An item is found in the whole ledger: the screen knows the newest of those that are done. */
async function found(context: Context, named: string): Promise<ScreenLook['opens']> {
  if (!looksLikeId(named, 'work')) return named
  return reading(context, async (reader) => {
    if ((await reader.agents()).some(({ id }) => id === named)) return named
    const item = await resolveId(reader, named, ['work'])
    const row = item.ok ? await reader.row('work_items', item.id) : null
    return row === null ? named : { agent_id: row.agent_id, work_item_id: row.id }
  })
}

async function untilLeft(context: Context, look: ScreenLook): Promise<void> {
  const { ports, home } = context
  const help = { start: () => started(context) }
  const end = await ports.screen(home.value, look, help)
  if (end === 'left') return
  const { says, opens } = await setUpHere(context)
  await untilLeft(context, { ...look, opens, says, first: await firstAgent(context) })
}

/** Somebody owns the home when it resolves: a daemon that is started, if there was nobody. */
async function served(context: Context): Promise<void> {
  if ((await context.ports.owner(context.home.value)) === null) await start(quiet(context), {})
}

/** What it says on the screen is not for the terminal that the screen stands on. */
const quiet = (context: Context): Context => ({
  ...context,
  ports: { ...context.ports, out: () => {} },
})

/** Null: somebody owns the home; else why nobody does, in one line. */
async function started(context: Context): Promise<string | null> {
  try {
    await served(context)
    return null
  } catch (error) {
    const failure = asFailure(error)
    if (failure === null) throw error
    return problemWords(failure.problem)
  }
}

/**
 * `holon init` in the terminal, and what the screen says of it afterwards. A daemon knows the
 * models of its start, so it is started anew with what was set.
 */
async function setUpHere(context: Context): Promise<Pick<ScreenLook, 'says' | 'opens'>> {
  try {
    await stop(quiet(context))
    const { words_to, says } = await setUp(context, { start: true })
    return words_to === null
      ? { says: 'a model is set up; c writes to the agent', opens: null }
      : { says, opens: { words_to } }
  } catch (error) {
    const failure = asFailure(error)
    if (failure === null) throw error
    context.ports.err(`${failureText(failure)}\n`)
    await served(context)
    return { says: `no model was set up: ${failure.problem.detail}`, opens: null }
  }
}

const tilde = ({ ports, home }: Context): string =>
  home.value.startsWith(`${ports.user_home}/`)
    ? `~${home.value.slice(ports.user_home.length)}`
    : home.value
