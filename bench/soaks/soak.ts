/**
 * Both soaks with one command: `npm run soak [-- --kills 10] [--seed 1]`. Kills a real daemon that
 * often while senders deliver, and that often while a parent works with three children; what was
 * acknowledged must be there once and come to its end. The figures come last; it exits 1 on a
 * problem. Longer, with every setting: `bench/soaks/daemon-soak.ts` and
 * `bench/soaks/family-soak.ts`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '10' }, seed: { type: 'string', default: '1' } },
})
const { kills, seed } = values

async function part(name: string, ...more: string[]): Promise<string> {
  const program = join(import.meta.dirname, name)
  const words = [program, '--kills', kills, '--seed', seed, ...more]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  console.log(said)
  if (code !== 0) process.exitCode = 1
  return `${name}: ${kills} kills, ${said.trim().split('\n').at(-1)}`
}

const figures = [
  await part('daemon-soak.ts', '--items', '0', '--agents', '2', '--sources'),
  await part('family-soak.ts'),
]
console.log(figures.join('; '))
