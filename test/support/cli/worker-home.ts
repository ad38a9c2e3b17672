/** A home with a folder to work in, and a model that makes the calls it is given. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  startModelServer,
  TEST_KEY,
  type ServerScript,
} from '../../../src/testing/model-server/server.ts'
import { ServedHome } from '../served-home.ts'

/** `run`: a model makes these calls, one a request. */
export async function placed(t: TestContext) {
  const queue: { name: string; input: object }[] = []
  const script: ServerScript = ({ tools }) => {
    if (tools.includes('Ready')) return { calls: [{ name: 'Ready', input: {} }] }
    const call = queue.shift()
    return call === undefined ? { text: 'That is all.' } : { calls: [call] }
  }
  const server = await startModelServer(script, { models: ['m'] })
  t.after(() => server.close())
  const at = new ServedHome(t)
  const root = join(at.folder, 'work')
  mkdirSync(root)
  at.env['OPENAI_COMPATIBLE_BASE_URL'] = server.base_url
  at.env['OPENAI_COMPATIBLE_API_KEY'] = TEST_KEY
  const run = (...calls: { name: string; input: object }[]) => runAs('docs', ...calls)
  const runAs = (agent: string, ...calls: { name: string; input: object }[]) => {
    queue.push(...calls)
    const model = ['--model', 'openai-compatible/m', '--no-input']
    return at.holon('run', '--agent', agent, ...model, '--workspace', root, 'Go.')
  }
  const runbook = (cmd: string) => {
    const file = at.write('look.md', `# L\n\n## L\n\n\`\`\`sh\n${cmd}\n\`\`\`\n`)
    return at.holon('run', '--workspace', root, file)
  }
  return { at, root, server, run, runAs, runbook }
}
