/**
 * `holon tui`: the screen, where there is a terminal and a daemon. Without one it names the line
 * that starts it; nothing is started behind anybody's back.
 */
import { problemOf } from '../../protocol/problem.ts'
import { printLines, type Context } from '../command/context.ts'
import { CliFailure, exits, usage, type Exit } from '../command/failure.ts'

export async function tui(context: Context, opens: string | null): Promise<Exit> {
  const { ports, home, ink, flags } = context
  const { terminal } = ports
  if (flags.json === true) throw usage('no_json', 'the screen prints no JSON', 'holon inbox --json')
  const { term, wants_plain } = ports.environment
  const plain = flags.plain === true || wants_plain || term === 'dumb'
  if (!plain && (!terminal.stdin || !terminal.stdout)) {
    const hint = 'holon tui --plain, holon inbox and holon work list do without one'
    throw usage('no_terminal', 'the screen needs a terminal', hint)
  }
  const found = await ports.daemon.api(home.value)
  if (found === null) {
    const problem = problemOf('no_daemon', 'no daemon serves this home', 'holon start', 503)
    throw new CliFailure(exits.failed, problem)
  }
  const look = { home: tilde(context), colour: ink.colour, ascii: ink.ascii }
  await ports.screen(home.value, { ...look, utc: flags.utc === true, plain, opens })
  const left = await ports.daemon.running(home.value)
  const gone = 'the daemon has gone; holon start goes on'
  printLines(context, [left === null ? gone : 'agents go on; holon tui comes back'])
  return exits.done
}

const tilde = ({ ports, home }: Context): string =>
  home.value.startsWith(`${ports.user_home}/`)
    ? `~${home.value.slice(ports.user_home.length)}`
    : home.value
