/** The program on a home, as somebody types it; it must end well and say nothing else. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

/** What it prints. */
export async function holon(home: string, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [main, ...args, '--home', home], {
    env: { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exit = Promise.withResolvers<number | null>()
  child.on('exit', exit.resolve)
  const [code, out, err] = await Promise.all([exit.promise, text(child.stdout), text(child.stderr)])
  assert.deepEqual([code, err], [0, ''], args.join(' '))
  return out
}
