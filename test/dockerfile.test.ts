/**
 * The Dockerfile, carried out without docker: its COPY and RUN lines in an empty folder that stands
 * for the root of each stage, with nothing in the environment but what its ENV lines say, and its
 * command as its user. `npm ci` needs a registry: the packages of this checkout stand in for what it
 * would bring. The address is this machine's loopback. `.ci/run` builds the image where docker is.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'

const checkout = join(import.meta.dirname, '..')
const isRoot = process.getuid?.() === 0
const patience = { timeout: 180_000, skip: isRoot ? false : 'only root can go on as another user' }

type Line = { word: string; rest: string }
const linesOf = (path: string): Line[] =>
  readFileSync(join(checkout, path), 'utf8')
    .split('\n')
    .filter((line) => /^[A-Z]/.test(line))
    .map((line) => ({ word: line.split(' ', 1)[0] ?? '', rest: line.slice(line.indexOf(' ') + 1) }))

const restOf = (lines: readonly Line[], wanted: string): string =>
  lines.find(({ word }) => word === wanted)?.rest ?? ''

/** What is known of a stage once its lines are carried out. */
type Stage = {
  root: string
  folder: string
  env: Record<string, string>
  user: number
  cmd: string[]
}

/** Absolute paths of the image, moved below the folder that stands for its root. */
const moved = (text: string, root: string): string =>
  text.replaceAll(/(?<=^|[\s="'])\/(?=(?:opt|usr|var)\/)/g, `${root}/`)

class Image {
  readonly stages = new Map<string, Stage>()
  readonly #place: string
  constructor(t: TestContext) {
    this.#place = realpathSync(mkdtempSync(join(tmpdir(), 'holon-image-')))
    chmodSync(this.#place, 0o755)
    t.after(() => rmSync(this.#place, { recursive: true, force: true }))
  }

  carryOut(lines: readonly Line[]): Stage {
    let stage: Stage | undefined
    for (const { word, rest } of lines) {
      if (word === 'FROM') stage = this.#open(/ AS (\w+)$/.exec(rest)?.[1] ?? 'last')
      else this.#apply(stage ?? assert.fail('a line before FROM'), word, rest)
    }
    return stage ?? assert.fail('no stage')
  }

  #open(name: string): Stage {
    const root = join(this.#place, name)
    mkdirSync(join(root, 'usr/local/bin'), { recursive: true })
    // Another user may not reach where this Node lies.
    const node = join(this.#place, 'node')
    if (!existsSync(node)) copyFileSync(process.execPath, node)
    chmodSync(node, 0o755)
    symlinkSync(node, join(root, 'usr/local/bin/node'))
    const env = { PATH: `${root}/usr/local/bin:/usr/bin:/bin` }
    const stage: Stage = { root, folder: root, env, user: 0, cmd: [] }
    this.stages.set(name, stage)
    return stage
  }

  #apply(stage: Stage, word: string, rest: string): void {
    const text = moved(rest, stage.root)
    switch (word) {
      case 'WORKDIR':
        stage.folder = text
        mkdirSync(text, { recursive: true })
        return
      case 'COPY':
        this.#copy(stage, rest)
        return
      case 'RUN':
        if (text.startsWith('npm ci')) {
          symlinkSync(join(checkout, 'node_modules'), join(stage.folder, 'node_modules'))
        } else run(stage, ['sh', '-c', text])
        return
      case 'ENV': {
        const [name = '', value = ''] = text.split('=')
        stage.env[name] = value
        return
      }
      case 'USER':
        stage.user = Number(text.split(':')[0])
        return
      case 'CMD':
        stage.cmd = JSON.parse(moved(rest, stage.root)) as string[]
        return
      case 'HEALTHCHECK':
      case 'VOLUME':
      case 'EXPOSE':
        return
      default:
        assert.fail(`${word} is not known here`)
    }
  }

  #copy(stage: Stage, rest: string): void {
    const from = /^--from=(\w+) /.exec(rest)?.[1]
    const words = rest.split(' ').filter((one) => !one.startsWith('--'))
    const to = resolve(stage.folder, words.at(-1) ?? '')
    for (const name of words.slice(0, -1)) {
      const source =
        from === undefined
          ? join(checkout, name)
          : moved(name, this.stages.get(from)?.root ?? assert.fail(`there is no stage ${from}`))
      const isInto = words.at(-1)?.endsWith('/') === true
      cpSync(source, isInto ? join(to, basename(name)) : to, { recursive: true, dereference: true })
    }
  }
}

function run(stage: Stage, [program = '', ...args]: string[]): string {
  const { folder: cwd, env, user } = stage
  const done = spawnSync(program, args, { cwd, env, uid: user, gid: user, encoding: 'utf8' })
  assert.equal(done.status, 0, `${args.join(' ')}: ${done.stdout}${done.stderr}`)
  return done.stdout
}

/** The command as docker starts it, but on this machine's loopback and on any port. */
function start({ cmd, folder: cwd, env, user }: Stage): ChildProcess {
  const [program = '', ...args] = cmd.map((one) => one.replace('0.0.0.0', '127.0.0.1 --port 0'))
  return spawn(program, args, { cwd, env, uid: user, gid: user })
}

/** It is ready once it logs anything. */
async function firstLine({ stderr: input }: ChildProcess): Promise<string> {
  assert.ok(input)
  const [line] = (await once(createInterface({ input }), 'line')) as [string]
  return line
}

test(
  'the image serves a new home as its user, who may not write what he runs',
  patience,
  async (t) => {
    const lines = linesOf('Dockerfile')
    const stage = new Image(t).carryOut(lines)
    assert.ok(stage.user > 0, 'it runs as root')
    const home = stage.env['HOLON_HOME'] ?? assert.fail('it names no home')
    assert.equal(home, moved(restOf(lines, 'VOLUME'), stage.root))
    run(stage, ['sh', '-c', `test -w ${home} && ! test -w . && ! test -w dist && ! test -w bin`])
    const child = start(stage)
    t.after(() => child.kill('SIGKILL'))
    const ended = once(child, 'exit')
    assert.match(await firstLine(child), /"msg":"serving"/)
    const token = statSync(join(home, 'control-token'))
    assert.deepEqual([token.uid, token.mode & 0o777], [stage.user, 0o600])
    const health = restOf(lines, 'HEALTHCHECK')
    run(stage, JSON.parse(health.slice(health.indexOf('['))) as string[])
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
    const { env, user: uid } = stage
    assert.equal(spawnSync('sh', ['-c', 'holon status --quiet'], { env, uid }).status, 3)
  },
)

test('whatever the Dockerfile copies is not ignored, and all else is', () => {
  const copied = linesOf('Dockerfile')
    .filter(({ word, rest }) => word === 'COPY' && !rest.startsWith('--from'))
    .flatMap(({ rest }) => rest.split(' ').slice(0, -1))
  const ignore = readFileSync(join(checkout, '.dockerignore'), 'utf8').split('\n')
  assert.equal(
    ignore.find((line) => line !== '' && !line.startsWith('#')),
    '*',
  )
  const kept = ignore.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  assert.deepEqual(kept.toSorted(), copied.toSorted())
})

test('the image is published on the loopback of its host alone', () => {
  const runs = [...readFileSync(join(checkout, 'README.md'), 'utf8').matchAll(/^docker run .*$/gm)]
  assert.ok(runs.length > 0, 'README does not say how it is run')
  for (const [line] of runs) {
    assert.match(line, / -p 127\.0\.0\.1:/)
    assert.doesNotMatch(line, / -p (?!127\.0\.0\.1:)/)
  }
})
