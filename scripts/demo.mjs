#!/usr/bin/env node
/**
 * `npm run demo`: a home with agents in every state, served by a real daemon with scripted models,
 * until ctrl+c. No key, no cost; nothing leaves this machine.
 *
 *     npm run demo                       a new folder below the temporary one, removed at the end
 *     npm run demo -- --folder ./there      in this folder, which is kept
 *     npm run demo -- --port 7788           on this port; default: any free one
 *     npm run demo -- --json                one line of JSON when it is ready
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startDemo } from '../src/testing/demo/demo.ts'

process.umask(0o077)

function asked() {
  try {
    const { values } = parseArgs({
      options: { folder: { type: 'string' }, port: { type: 'string' }, json: { type: 'boolean' } },
    })
    const { folder, port = '0', json = false } = values
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
      throw new Error(`--port ${port} is no port`)
    if (folder !== undefined && existsSync(join(folder, 'home', 'ledger'))) {
      throw new Error(`${folder} has a demonstration already: name a new folder`)
    }
    return { folder, port: Number(port), json }
  } catch (error) {
    process.stderr.write(`demo: ${error.message}\n`)
    process.exit(2)
  }
}

const { folder, port, json } = asked()
const place = folder === undefined ? mkdtempSync(join(tmpdir(), 'holon-demo-')) : resolve(folder)
const forget = () => {
  if (folder === undefined) rmSync(place, { recursive: true, force: true })
}

const stopped = new Promise((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve(null))
})

if (!json) process.stderr.write('The agents come to their places; this takes a few seconds.\n')
let demo
try {
  demo = await startDemo(place, { port })
} catch (error) {
  process.stderr.write(`demo: ${error.message}\n`)
  forget()
  process.exit(1)
}
const { url, home } = demo
const ready = {
  home,
  url,
  workspace: demo.workspace,
  token_file: join(home, 'control-token'),
}
process.stdout.write(
  json
    ? `${JSON.stringify({ ready })}\n`
    : [
        `home       ${home}`,
        `address    ${url}`,
        '',
        `export HOLON_HOME=${home}`,
        'npx holon inbox        what needs you',
        'npx holon work list    what is open, and what it waits for',
        'npx holon agents       who there is',
        'npx holon tui          all of it on one screen',
        '',
        'ctrl+c ends it',
        '',
      ].join('\n'),
)
const failure = await Promise.race([stopped, demo.failed])
if (failure !== null) process.stderr.write(`demo: the daemon ended: ${failure}\n`)
await demo.close().catch((error) => process.stderr.write(`demo: ${error.message}\n`))
forget()
process.exit(failure === null ? 0 : 1)
