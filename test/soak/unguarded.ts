/** A home whose agents' commands run as they are: in a soak nobody answers about one. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** `config`: what else stands in its `config.json`. The folder is there already. */
export function writeUnguarded(home: string, config: object = {}): void {
  const written = { ...config, sandbox: 'off' }
  writeFileSync(join(home, 'config.json'), JSON.stringify(written), { mode: 0o600 })
  writeFileSync(join(home, 'policy.json'), JSON.stringify({ preset: 'open' }), { mode: 0o600 })
}
