/**
 * A reader of the documentation who types what it says: a shell in a project of their own, a HOME
 * where Holon puts what it keeps where it always does, and the command as an install leaves it.
 * Only two things are not as they would be there: the daemon listens on any free port, and the
 * providers are a model server of the test.
 */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { CellGrid } from '../../src/testing/screens/cell-grid.ts'
import { makeRepository } from './repository.ts'

const root = join(import.meta.dirname, '..', '..')

export type Typed = { exit: number | null; out: string; err: string }

export class Reader {
  readonly folder: string
  readonly project: string
  readonly home: string
  readonly env: Record<string, string>
  /** Where the model server of the test answers. */
  readonly base_url: string
  readonly #children = new Set<ChildProcess>()

  constructor(t: TestContext, base_url: string) {
    this.base_url = base_url
    this.folder = mkdtempSync(join(tmpdir(), 'holon-reader-'))
    this.project = join(this.folder, 'project')
    this.home = join(this.folder, '.local', 'state', 'holon')
    const bin = join(this.folder, 'bin')
    for (const made of [this.project, this.home, bin])
      mkdirSync(made, { recursive: true, mode: 0o700 })
    makeRepository(this.project)
    cpSync(join(root, 'examples'), join(this.project, 'examples'), { recursive: true })
    program(bin, 'holon', `exec '${join(root, 'bin', 'holon')}' "$@"`)
    program(bin, 'npx', 'exec "$@"')
    // What an install and the tests do is tried where they are run; here it is that they are asked.
    program(bin, 'npm', `echo "$*" >> '${join(this.folder, 'npm')}'`)
    const config = { http: { port: 0 }, providers: { anthropic: { kind: 'anthropic', base_url } } }
    writeFileSync(join(this.home, 'config.json'), JSON.stringify(config), { mode: 0o600 })
    this.env = {
      PATH: `${bin}:${process.env['PATH'] ?? ''}`,
      HOME: this.folder,
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
    }
    t.after(() => this.#leave())
  }

  #leave(): void {
    for (const child of this.#children) child.kill('SIGKILL')
    const daemon = this.file('daemon.pid')?.split('\n')[0]
    if (daemon !== undefined) killed(Number(daemon))
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** The text of a file of the home; null when it is not there. */
  file(name: string): string | null {
    const path = join(this.home, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : null
  }

  /** What npm was asked for, by its words, once each; a runbook asks for its version, too. */
  askedOfNpm(): string[] {
    const path = join(this.folder, 'npm')
    const asked = existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []
    return [...new Set(asked)].filter((words) => words !== '--version')
  }

  /** Types a line and leaves it running. */
  begin(line: string) {
    const child = spawn('bash', ['-c', line], {
      cwd: this.project,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      // What hangs is a failure of its line, not of the whole run.
      timeout: 120_000,
      killSignal: 'SIGKILL',
    })
    this.#children.add(child)
    const exit = Promise.withResolvers<number | null>()
    child.on('exit', (code) => {
      this.#children.delete(child)
      exit.resolve(code)
    })
    const ended = Promise.all([exit.promise, text(child.stdout), text(child.stderr)]).then(
      ([code, out, err]): Typed => ({ exit: code, out, err }),
    )
    return { child, ended }
  }

  type(line: string): Promise<Typed> {
    return this.begin(line).ended
  }

  /** Types a line that goes on for ever, and presses ctrl+c once it has said something. */
  async watch(line: string): Promise<Typed> {
    const { child, ended } = this.begin(`exec ${line.replace(/^npx /, '')}`)
    const spoke = new Promise<void>((heard) => child.stdout.once('data', () => heard()))
    await Promise.race([spoke, ended])
    child.kill('SIGINT')
    return ended
  }

  /** Opens a screen on a terminal and leaves it by `q`: how it ended, and what it left there. */
  async open(line: string): Promise<Typed> {
    const [command = '', ...args] = line.replace(/#.*/, '').trim().split(/\s+/)
    const path = join(this.folder, 'bin', command)
    const at = { command: path, args, env: this.env, columns: 100, rows: 30, cwd: this.project }
    const screen = new CellGrid(at)
    try {
      const opened = screen.until((grid) => grid.lines().some((row) => row.includes('q leave')))
      await Promise.race([opened.then(() => screen.type('q')), screen.ended])
      const exit = await screen.ended
      return { exit, out: screen.lines().join('\n').trimEnd(), err: '' }
    } finally {
      screen.kill()
    }
  }

  /** What a command says as JSON. */
  async json<T>(words: string): Promise<T> {
    const { exit, out, err } = await this.type(`holon ${words} --json`)
    assert.equal(exit, 0, `holon ${words}: ${err}`)
    return JSON.parse(out) as T
  }
}

const program = (folder: string, name: string, line: string): void =>
  writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 })

function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
