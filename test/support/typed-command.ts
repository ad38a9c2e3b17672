/** A command typed into a terminal, in this process: what it prints of a home, and its exit. */
import type { CliPorts } from '../../src/cli/command/ports.ts'
import { main } from '../../src/cli/program.ts'
import { ports as real } from '../../src/main/commands/ports.ts'

export type Look = { terminal: boolean; colour: boolean }

/** A terminal without colours. */
export const plain: Look = { terminal: true, colour: false }

/**
 * The command, what it printed and its exit where that is not 0; `others` replaces ports, `flags`
 * the home.
 */
export async function printed(
  home: string,
  words: readonly string[],
  look: Look = plain,
  others: Partial<CliPorts> = {},
  flags: readonly string[] = ['--home', home],
): Promise<string> {
  let text = ''
  const write = (more: string) => void (text += more)
  const environment = {
    ...real.environment,
    holon_home: undefined,
    holon_model: undefined,
    has_control_token: false,
    no_color: look.colour ? undefined : '1',
    locale: 'C.UTF-8',
    term: 'xterm',
  }
  const on = look.terminal
  const terminal = { stdin: on, stdout: on, stderr: on, columns: () => (on ? 100 : 0) }
  const ports: CliPorts = {
    ...real,
    user_home: home,
    out: write,
    err: write,
    terminal,
    environment,
    ...others,
  }
  const exit = await main([...words, ...flags, '--utc'], ports)
  const end = exit === 0 ? '' : `exit ${exit}\n`
  // A table with the home in it is as wide as that is, and so as the machine's folder for it is.
  const said = words[0] === 'config' ? text.replaceAll(/ {2,}/g, '  ') : text
  return `$ holon ${words.join(' ')}\n${said}${end}`.replaceAll(home, '<home>')
}
