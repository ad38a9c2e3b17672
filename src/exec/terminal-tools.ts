/**
 * Programs that a screen hands text to: the clipboard of the machine, and the person's pager. Each
 * is started with the text on its input; what is not installed is passed over.
 */
import { spawn } from 'node:child_process'

type Tool = { command: string; args: readonly string[]; when?: string }

/** In the order in which they are tried; `when`: only with this variable in the environment. */
const clipboards: readonly Tool[] = [
  { command: 'wl-copy', args: [], when: 'WAYLAND_DISPLAY' },
  { command: 'pbcopy', args: [] },
  { command: 'clip.exe', args: [], when: 'WSL_DISTRO_NAME' },
  { command: 'xclip', args: ['-selection', 'clipboard'], when: 'DISPLAY' },
  { command: 'tmux', args: ['load-buffer', '-w', '-'], when: 'TMUX' },
]

type Environment = Readonly<Record<string, string | undefined>>

/** Which program took the text; null: there was none. Never rejects. */
export async function copyText(text: string, env: Environment): Promise<string | null> {
  for (const { command, args, when } of clipboards) {
    if (when !== undefined && !env[when]) continue
    if (await fed(command, args, text, 'ignore')) return command
  }
  return null
}

/** Shows the text in `$PAGER`, else `less`; resolves when it was left. Rejects without either. */
export async function pageText(text: string, env: Environment): Promise<void> {
  const [command = 'less', ...args] = (env['PAGER'] ?? 'less').split(' ').filter(Boolean)
  if (!(await fed(command, args, text, 'inherit'))) {
    throw new Error(`${command} could not be started; set PAGER`)
  }
}

/** Whether it was started, took the text, and ended well. */
function fed(
  command: string,
  args: readonly string[],
  text: string,
  output: 'ignore' | 'inherit',
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const child = spawn(command, [...args], { stdio: ['pipe', output, output] })
  child.on('error', () => resolve(false))
  child.on('exit', (code) => resolve(code === 0))
  // One that reads no further than it needs ends its input early: that is no failure of ours.
  child.stdin?.on('error', () => {})
  child.stdin?.end(text)
  return promise
}
