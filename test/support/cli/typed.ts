/** The real command, in this process, on a home at rest: what it printed and how it ended. */
import { main } from '../../../src/cli/program.ts'
import type { CliPorts } from '../../../src/cli/command/ports.ts'
import { ports } from '../../../src/main/commands/ports.ts'

export type Ended = { exit: number; out: string; err: string; paged: string[] }

export async function typed(
  args: readonly string[],
  at: { home: string; terminal?: boolean; pager?: boolean },
): Promise<Ended> {
  const ended: Ended = { exit: -1, out: '', err: '', paged: [] }
  const { terminal = false, pager = true } = at
  const own: CliPorts = {
    ...ports,
    environment: { ...ports.environment, no_color: undefined, force_color: undefined, term: 'vt' },
    terminal: { stdin: false, stdout: terminal, stderr: false, columns: () => 80 },
    out: (text) => void (ended.out += text),
    err: (text) => void (ended.err += text),
    page: async (text) => {
      if (pager) ended.paged.push(text)
      return pager
    },
  }
  ended.exit = await main([...args, '--home', at.home], own)
  return ended
}
