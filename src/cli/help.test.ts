/** Every command explains itself, and the completion of the shells knows the same commands. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { Command } from 'commander'
import { exits } from './command/failure.ts'
import { wordsOf } from '../testing/example-words.ts'
import { without } from '../testing/programs.ts'
import type { CliPorts } from './command/ports.ts'
import { build, main } from './program.ts'

/** What a command that only prints needs of the machine. */
async function prints(...argv: string[]): Promise<{ exit: number; out: string; err: string }> {
  const said = { out: '', err: '' }
  const terminal = { stdin: false, stdout: false, stderr: false, columns: () => 0 }
  const ports = {
    version: '0',
    called: 'holon',
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

type Told = { path: string; command: Command; help: string }
/** Every command with its help, the program itself first. */
function told(): Told[] {
  const all: Told[] = []
  const lines: string[] = []
  const ports = {
    version: '0',
    terminal: { columns: () => 100 },
    out: (text: string) => void lines.push(text),
  }
  const program = build(ports as unknown as CliPorts, () => async () => {})
  const add = (command: Command, path: string) => {
    lines.length = 0
    command.outputHelp()
    all.push({ path, command, help: lines.join('') })
    for (const one of command.commands) add(one, `${path} ${one.name()}`)
  }
  add(program, 'holon')
  return all
}

/** The lines of a paragraph of the help, without their margin. */
const paragraph = (help: string, title: string): string[] => {
  const [, rest = ''] = help.split(`\n${title}:\n`)
  return (rest.split('\n\n')[0] ?? '').split('\n').map((line) => line.trim())
}

test('help and --help of every command are its own, and carry nothing out', async () => {
  const lacking: string[] = []
  for (const { path, command } of told().slice(1)) {
    const words = path.split(' ').slice(1)
    const more = command.commands.length === 0 ? [[...words, 'work_7f3a']] : []
    const asked = [[...words, '--help'], ...[words, ...more].map((one) => ['help', ...one])]
    for (const argv of asked) {
      const { exit, out, err } = await prints(...argv)
      const isOwn = exit === 0 && err === '' && out.startsWith(`Usage: ${path} `)
      if (!isOwn) lacking.push(argv.join(' '))
    }
  }
  assert.deepEqual(lacking, [])
  const { exit, err } = await prints('help', 'work', 'dif')
  assert.deepEqual([exit, /unknown command "dif"; did you mean diff\?/.test(err)], [2, true], err)
})

test('every command says what it is for, what each argument and each flag is', () => {
  const all = told()
  assert.ok(all.length > 80, String(all.length))
  const lacking: string[] = []
  for (const { path, command, help } of all) {
    assert.ok(help.startsWith(`Usage: ${path} `), help)
    if (command.description().length < 10) lacking.push(`${path}: what is it for?`)
    for (const argument of command.registeredArguments) {
      if (argument.description === '') lacking.push(`${path}: what is <${argument.name()}>?`)
    }
    for (const { flags, description } of command.options) {
      if (description.length < 8) lacking.push(`${path}: what is ${flags}?`)
    }
  }
  assert.deepEqual(lacking, [])
})

test('a flag that is not needed says what holds without it', () => {
  // Where nothing is the default the words say what the flag adds; these have a value without it.
  const needed = /^--(?:agent|limit|home|model|port|workspace|log-level|zone)\b/
  const lacking = told().flatMap(({ path, command }) =>
    command.options.flatMap(({ flags, description }) => {
      const says = /default|only|is not given|from now on|no fallback|this agent/.test(description)
      return needed.test(flags) && !says ? [`${path} ${flags}: ${description}`] : []
    }),
  )
  assert.deepEqual(lacking, [])
})

test('every help lists exit codes of the one list, and 0, 1 and 2 are in each', () => {
  const known = new Set<number>(Object.values(exits))
  const unknown = told().flatMap(({ path, help }) => {
    const codes = paragraph(help, 'Exit').map((line) => Number(/^(\d+)  \S/.exec(line)?.[1]))
    const isFine = [0, 1, 2].every((code) => codes.includes(code))
    return isFine && codes.every((code) => known.has(code)) ? [] : [`${path}: ${codes.join(' ')}`]
  })
  assert.deepEqual(unknown, [])
})

test('every command has two examples of itself, and each is a line that it takes', async () => {
  const wrong: string[] = []
  for (const { path, help } of told()) {
    const examples = paragraph(help, 'Examples').filter((line) => line !== '')
    const own = examples.filter((line) => line.includes(path))
    if (own.length < 2) wrong.push(`${path} has ${own.length} examples of itself`)
    for (const example of examples) {
      const chosen: Command[] = []
      const ports = { version: '0', terminal: { columns: () => 0 }, out: () => {}, err: () => {} }
      const program = build(ports as unknown as CliPorts, (found) => async () => {
        chosen.push(found)
      })
      await program.parseAsync(wordsOf(example), { from: 'user' }).catch((error: unknown) => {
        wrong.push(`${example}: ${String(error)}`)
      })
      if (chosen.length !== 1) wrong.push(`${example} chooses ${chosen.length} commands`)
    }
  }
  assert.deepEqual(wrong, [])
})

/** What bash offers behind these words, with the completion as a person sources it. */
function offered(script: string, words: readonly string[]): string[] {
  const list = words.map((word) => `'${word}'`).join(' ')
  const ask = `COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _holon; echo "\${COMPREPLY[@]}"`
  const text = execFileSync('bash', ['--norc', '-c', `${script}\n${ask}`], { encoding: 'utf8' })
  return text.trim().split(' ')
}

const hasBash = spawnSync('bash', ['--version']).status === 0

test('bash completes commands, their flags, and what stands behind flags', async (t) => {
  if (!hasBash) return t.skip('there is no bash here')
  const { out } = await prints('completion', 'bash')
  assert.deepEqual(offered(out, ['holon', 'wo']), ['work', 'worktree'])
  assert.deepEqual(offered(out, ['holon', '--json', 'work', 'un']), ['unblock'])
  assert.deepEqual(offered(out, ['holon', 'init', '--no-']), [
    ...['--no-color', '--no-test', '--no-start', '--no-input'],
  ])
  assert.deepEqual(offered(out, ['holon', 'why', 'work_7f3a', '--hi']), ['--history'])
})

/** What each shell itself offers behind a line, with the completion as a person has it. */
const asks: { readonly [S in 'zsh' | 'fish']: (script: string, line: string) => string } = {
  // What zle would draw is printed: the function is the script's own, the words are zsh's.
  zsh: (script, line) => {
    const draws = `compdef() { :; }; _files() { :; }; _describe() { print -l -- "\${(@P)2}"; }`
    const given = `words=(${line}); [[ '${line}' = *' ' ]] && words+=(''); CURRENT=$#words`
    const last = line.split(' ').at(-1) ?? ''
    const ask = `${draws}\n${script}\n${given}\n_holon`
    const said = execFileSync('zsh', ['-f', '-c', ask], { encoding: 'utf8', stdio: 'pipe' })
    const words = said.split('\n').map((one) => one.split(':')[0] ?? '')
    return words.filter((word) => word !== '' && word.startsWith(last)).join(' ')
  },
  fish: (script, line) => {
    const ask = ['--no-config', '-c', `${script}\ncomplete -C '${line}'`]
    const said = execFileSync('fish', ask, { encoding: 'utf8', stdio: 'pipe' })
    return said
      .trim()
      .split('\n')
      .map((one) => one.split('\t')[0])
      .join(' ')
  },
}

for (const shell of ['zsh', 'fish'] as const) {
  test(`${shell} reads its completion, and offers what bash offers`, async (t) => {
    const { out } = await prints('completion', shell)
    for (const path of await paths()) assert.ok(out.includes(`'${path}'`), path)
    if (without(shell) !== false) return t.skip(`there is no ${shell} here`)
    const file = join(mkdtempSync(join(tmpdir(), 'holon-completion-')), '_holon')
    t.after(() => rmSync(dirname(file), { recursive: true }))
    writeFileSync(file, out)
    assert.equal(spawnSync(shell, ['-n', file]).status, 0)
    const bash = (await prints('completion', 'bash')).out
    for (const line of ['holon wo', 'holon --json work un', 'holon why work_7f3a --hi']) {
      const same = offered(bash, line.split(' ')).join(' ')
      assert.equal(asks[shell](out, line), same, line)
    }
  })
}

test('another shell is refused with the names of those there are', async () => {
  assert.deepEqual(await prints('completion', 'tcsh'), {
    exit: 2,
    out: '',
    err: 'holon: there is no completion for tcsh; the shells are bash, zsh, fish\n',
  })
})
