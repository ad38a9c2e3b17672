/** Every command explains itself, and the completion of the shells knows the same commands. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { test } from 'node:test'
import type { CliPorts } from './ports.ts'
import { main } from './program.ts'

/** What a command that only prints needs of the machine. */
async function prints(...argv: string[]): Promise<{ exit: number; out: string; err: string }> {
  const said = { out: '', err: '' }
  const terminal = { stdin: false, stdout: false, stderr: false, columns: () => 0 }
  const ports = {
    version: '0',
    terminal,
    environment: {},
    user_home: '/u',
    default_home: '/u/h',
    out: (text: string) => void (said.out += text),
    err: (text: string) => void (said.err += text),
  } as unknown as CliPorts
  return { exit: await main(argv, ports), ...said }
}

/** Every command by its whole name, out of the completion. */
async function paths(): Promise<string[]> {
  const { out } = await prints('completion', 'bash')
  return [...out.matchAll(/^ *'([a-z ]+)'\) at=\$try ;;$/gm)].map(([, path]) => path ?? '')
}

test('§14 every command has a description, and examples that begin with its name', async () => {
  const all = await paths()
  assert.ok(all.length > 60, String(all.length))
  const lacking: string[] = []
  for (const path of all) {
    const { exit, out } = await prints(...path.split(' '), '--help')
    assert.equal(exit, 0, path)
    const [usage = '', , about = ''] = out.split('\n')
    assert.ok(usage.startsWith(`Usage: holon ${path}`), usage)
    if (about.length < 10) lacking.push(`${path} is not described: ${about}`)
    const examples = out.split('\nExamples:\n')[1] ?? ''
    if (!examples.includes(`holon ${path}`)) lacking.push(`${path} has no example`)
  }
  assert.deepEqual(lacking, [])
})

/** What bash offers behind these words, with the completion as a person sources it. */
function offered(script: string, words: readonly string[]): string[] {
  const list = words.map((word) => `'${word}'`).join(' ')
  const ask = `COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _holon; echo "\${COMPREPLY[@]}"`
  const text = execFileSync('bash', ['--norc', '-c', `${script}\n${ask}`], { encoding: 'utf8' })
  return text.trim().split(' ')
}

const hasBash = spawnSync('bash', ['--version']).status === 0

test('§14 bash completes commands, their flags, and what stands behind flags', async (t) => {
  if (!hasBash) return t.skip('there is no bash here')
  const { out } = await prints('completion', 'bash')
  assert.deepEqual(offered(out, ['holon', 'wo']), ['work', 'worktree'])
  assert.deepEqual(offered(out, ['holon', '--json', 'work', 'un']), ['unblock'])
  assert.deepEqual(offered(out, ['holon', 'init', '--no-']), [
    ...['--no-color', '--no-test', '--no-start', '--no-input'],
  ])
  assert.deepEqual(offered(out, ['holon', 'why', 'work_7f3a', '--hi']), ['--history'])
})

for (const shell of ['zsh', 'fish'] as const) {
  test(`§14 ${shell} can read its completion, which names every command`, async (t) => {
    const { out } = await prints('completion', shell)
    for (const path of await paths()) assert.ok(out.includes(`'${path}'`), path)
    if (spawnSync(shell, ['--version']).status !== 0) return t.skip(`there is no ${shell} here`)
    assert.equal(spawnSync(shell, ['-n'], { input: out }).status, 0)
  })
}

test('§14 another shell is refused with the names of those there are', async () => {
  assert.deepEqual(await prints('completion', 'tcsh'), {
    exit: 2,
    out: '',
    err: 'holon: there is no completion for tcsh; the shells are bash, zsh, fish\n',
  })
})
