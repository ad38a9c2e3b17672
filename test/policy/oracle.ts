/** What really runs: lines in bash, with a PATH of stubs that write down that they were started. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const stubs: Readonly<Record<string, string>> = {
  forbid: 'echo forbid > "$LOG"',
  unknownwrap: 'exec "$@"',
  npx: 'exec "$@"',
  sudo: 'while :; do case $1 in -u) shift 2;; *=*) shift;; *) break;; esac; done; exec "$@"',
  ssh: 'shift; exec sh -c "$*"',
}

/** The numbers of the lines in which `forbid` was started. One process runs them one by one. */
export function linesThatRun(folder: string, lines: readonly string[]): Set<number> {
  const bin = join(folder, 'bin')
  const logs = join(folder, 'logs')
  const texts = join(folder, 'lines')
  for (const made of [bin, logs, texts]) mkdirSync(made, { recursive: true })
  for (const [name, does] of Object.entries(stubs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${does}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  lines.forEach((line, at) => writeFileSync(join(texts, String(at)), line))
  // Each in a folder of its own that has nothing but a link to what is forbidden.
  const driver = `
    cd "$FOLDER"
    for text in lines/*; do
      n=\${text#lines/}
      mkdir -p work && cd work && ln -sf "$STUBS/forbid" forbid
      LOG="$FOLDER/logs/$n" timeout -k 1 4 bash "../$text" </dev/null >/dev/null 2>&1
      cd .. && rm -rf work
    done
    wait`
  const env = {
    PATH: `${bin}:/usr/bin:/bin`,
    STUBS: bin,
    FOLDER: folder,
    HOME: bin,
    P: 'forbid',
    E: '',
  }
  spawnSync('bash', ['-c', driver], { env, stdio: 'ignore' })
  return new Set(readdirSync(logs).map(Number))
}
