/**
 * The folder of the demonstration before anything runs: a small project to work in, the
 * configuration of the home, and two keys, of which one is wrong. Everything lies below one folder.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { demoModels } from './script.ts'
import { TEST_KEY } from '../model-server/server.ts'

export type DemoPlace = { folder: string; home: string; workspace: string }

const slow = (what: string, seconds: number): string =>
  `#!/bin/sh
n=0
while [ $n -lt 20000 ]; do
  n=$((n + 1))
  echo "ok $n ${what}"
  sleep ${seconds}
done
`

const test = `#!/bin/sh
if [ "$1" = decorators ]; then
  echo "not ok 1 metadata keeps its order"
  echo "  expected: a, b, c"
  echo "  got: c, b, a"
  echo "2 failed, 118 passed"
  exit 1
fi
exec ./port.sh
`

const files: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "parser", "version": "2.3.9", "type": "module" }\n',
  'CHANGELOG.md': '# 2.4.0\n\n- parse() returns a result instead of throwing\n- Node 20 is gone\n',
  'src/parse.ts': 'export const parse = (text: string) => text.split(/\\s+/)\n',
  'src/flags.ts': 'export const flags = { old_parser: false, slow_path: false }\n',
  'port.sh': slow('fixtures/decl', 3),
  'test.sh': test,
  'publish.sh': slow('uploading', 60),
}

/** Makes what is not there; what is there already is written anew. */
export function makePlace(folder: string, provider: string): DemoPlace {
  const place = { folder, home: join(folder, 'home'), workspace: join(folder, 'parser') }
  for (const path of [folder, place.home, join(folder, 'keys')]) {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  }
  for (const [name, text] of Object.entries(files)) {
    const path = join(place.workspace, name)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, text)
    if (name.endsWith('.sh')) chmodSync(path, 0o755)
  }
  const key = (name: string, value: string): string => {
    const path = join(folder, 'keys', name)
    writeFileSync(path, `${value}\n`, { mode: 0o600 })
    return path
  }
  const kind = 'openai-compatible'
  const config = {
    providers: {
      demo: { kind, base_url: provider, api_key_file: key('demo', TEST_KEY) },
      expired: { kind, base_url: provider, api_key_file: key('expired', 'a-key-of-last-year') },
    },
    models: demoModels,
  }
  writeFileSync(join(place.home, 'config.json'), `${JSON.stringify(config, null, 2)}\n`, {
    mode: 0o600,
  })
  return place
}
