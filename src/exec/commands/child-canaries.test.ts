// Canaries in the real environment of a real owner process, looked for by a real command: in its
// own environment, in those of the processes between it and the owner, and in what its shell can
// tell.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const folder = mkdtempSync(join(tmpdir(), 'holon-canaries-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const canary = 'canary-5e1f'
const names = [
  ...['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'HOLON_CONTROL_TOKEN', 'AWS_SECRET_ACCESS_KEY'],
  ...['GITHUB_TOKEN', 'SSH_AUTH_SOCK', 'DATABASE_URL', 'ANYTHING_ELSE', 'USER', 'LC_ALL'],
  ...['LD_LIBRARY_PATH', 'LD_BIND_NOW_NOT', 'DYLD_INSERT_LIBRARIES', 'GIT_SSH_COMMAND', 'GIT_DIR'],
  ...['BASH_ENV', 'ENV', 'PROMPT_COMMAND', 'PS4', 'PYTHONSTARTUP', 'PERL5OPT', 'RUBYOPT'],
]

/**
 * Runs `cmd` under an owner whose own environment is full of canaries; what the command printed.
 */
function runUnderOwner(cmd: string): string {
  const at = (name: string) => JSON.stringify(new URL(name, import.meta.url).href)
  const owner = join(folder, 'owner.ts')
  writeFileSync(
    owner,
    `import { systemClock } from ${at('../clock.ts')}
    import { createProcesses } from ${at('./processes.ts')}
    process.umask(0o077) // As the program does at its start.
    const tasks_folder = ${JSON.stringify(join(folder, 'tasks'))}
    const options = { tasks_folder, clock: systemClock(), parent_env: process.env, pass: ['DECLARED'] }
    const processes = createProcesses(options)
    const spec = { workdir: '/', env: {}, timeout_ms: 20_000, stdin: 'none' as const }
    await processes.prepare({ ...spec, task_id: 'task_1', cmd: process.argv[2] ?? '' })
    await processes.start('task_1')
    await processes.ended('task_1', AbortSignal.timeout(20_000))
    for (const stream of ['stdout', 'stderr'] as const) {
      const { text } = await processes.output('task_1', { stream, max_bytes: 1_000_000 })
      process.stdout.write(text)
    }
    await processes.close()`,
  )
  const env: NodeJS.ProcessEnv = { PATH: process.env['PATH'], DECLARED: 'declared', TZ: 'UTC' }
  for (const name of names) env[name] = canary
  try {
    const options = { env, encoding: 'utf8', timeout: 60_000 } as const
    return execFileSync(process.execPath, [owner, cmd], options)
  } finally {
    rmSync(join(folder, 'tasks'), { recursive: true, force: true })
  }
}

test('a command never sees a canary of its owner', () => {
  const told = runUnderOwner('env; set; export -p; declare -f 2>/dev/null; bash -c env')
  assert(told.includes('TZ=UTC') && told.includes('DECLARED=declared'), told)
  assert.equal(told.includes(canary), false, told)
  for (const name of names.filter((one) => one !== 'PS4')) {
    assert.doesNotMatch(told, new RegExp(`^(declare -x |export )?${name}=`, 'm'))
  }
})

const linux = existsSync('/proc/self/environ')

/** Goes up from the command to its owner, the first process that is node, and prints both sides. */
const climb = `
  pid=$$
  while [ "$(cut -c1-4 /proc/$pid/comm)" != node ]; do
    echo "== $(cat /proc/$pid/comm)"
    tr '\\0' '\\n' < /proc/$pid/environ
    pid=$(awk '/^PPid/ {print $2}' /proc/$pid/status)
  done
  echo "== owner"
  tr '\\0' '\\n' < /proc/$pid/environ`

test('nor in the processes between it and its owner', { skip: !linux && 'needs /proc' }, () => {
  const [above = '', owner = ''] = runUnderOwner(climb).split('== owner\n')
  assert((above.match(/^== /gm) ?? []).length >= 2, above)
  assert.equal(above.includes(canary), false, above)
  // What is not prevented without a sandbox, and why keys belong in files: the system shows the
  // environment a process began with to every process of its user.
  assert.equal(owner.includes(`ANTHROPIC_API_KEY=${canary}`), true)
})

test('the file with which a command starts is read by its user only and holds no canary', () => {
  const told = runUnderOwner(
    'dir=$(dirname "$(readlink /proc/$$/fd/1)"); stat -c "%a %n" "$dir" "$dir"/*; cat "$dir"/run',
  )
  assert.equal(told.includes(canary), false, told)
  if (!linux) return
  const modes = told.match(/^\d{3} \/.*$/gm) ?? []
  assert(modes.length >= 4, told)
  assert.deepEqual(
    modes.filter((line) => !/^(700|600) /.test(line)),
    [],
  )
})
