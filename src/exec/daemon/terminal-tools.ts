/**
 * Programs that a screen hands text to: the clipboard of the machine, the person's pager and
 * editor. Each but the editor is started with the text on its input; what is not installed is
 * passed over.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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

/**
 * What `$VISUAL` or `$EDITOR`, else `vi`, made of the text; null: it ended badly, or changed
 * nothing. The text is in a private folder meanwhile, gone at the end. Rejects without an editor.
 */
export async function editText(text: string, env: Environment): Promise<string | null> {
  const named = env['VISUAL'] || env['EDITOR'] || 'vi'
  const [command = 'vi', ...args] = named.split(' ').filter(Boolean)
  const folder = await mkdtemp(join(tmpdir(), 'holon-draft-'))
  try {
    const path = join(folder, 'draft.md')
    await writeFile(path, text, { mode: 0o600 })
    const { promise, resolve, reject } = Promise.withResolvers<number | null>()
    const child = spawn(command, [...args, path], { stdio: 'inherit' })
    child.on('error', () => reject(new Error(`${command} could not be started; set EDITOR`)))
    child.on('exit', resolve)
    if ((await promise) !== 0) return null
    const edited = await readFile(path, 'utf8')
    return edited === text ? null : edited
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Stops the whole foreground job, as a shell expects of ctrl+z; resolves when it goes on. */
export async function suspendUntilWoken(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  process.once('SIGCONT', () => resolve())
  // What started this program, and waits for it, stops with it.
  process.kill(0, 'SIGTSTP')
  await promise
}

/** Whether it was started, took the text, and ended well. */
function fed(
  command: string,
  args: readonly string[],
  text: string,
  output: 'ignore' | 'inherit',
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  // Without it `less` shows the codes of colours as text; where the person set it, it stays.
  const env = { LESS: 'R', ...process.env }
  const child = spawn(command, [...args], { stdio: ['pipe', output, output], env })
  child.on('error', () => resolve(false))
  child.on('exit', (code) => resolve(code === 0))
  // One that reads no further than it needs ends its input early: that is no failure of ours.
  child.stdin?.on('error', () => {})
  child.stdin?.end(text)
  return promise
}
