/**
 * Undo, as a property: an agent by its file tools and by commands, and a person, change files in any
 * order, also while a command runs and between the look and the write of a revert. A revert touches
 * a file only where it is as the agent left it, goes where the records lead, and is itself taken
 * back by one command; what anybody wrote is on the disk or comes back. Real files, real git.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import type { OperatorAct } from '../src/domain/operator/act.ts'
import { openBox, temporaryHome } from '../src/testing/host/host-fixture.ts'
import { calls, says, scriptedModel, type ScriptedCall } from '../src/testing/scripted-model.ts'
import { call, runs } from './support/scripts.ts'

const names = ['a.txt', 'b.txt', 'sub/c.txt'] as const
type Name = (typeof names)[number]

/** What stands at a path; the mode of a new file that nobody looked at is `any`. */
type State = { kind: 'none' } | { kind: 'file'; text: string; mode: number | 'any' } | Link
type Link = { kind: 'link'; to: string }
type Tree = Record<Name, State>

type Change = 'write' | 'remove' | 'mode' | 'link'
type Step =
  | { do: 'edit' | 'patch'; name: Name }
  | { do: 'command'; name: Name; change: Change; meanwhile: { name: Name; change: Change } | null }
  | { do: 'person'; name: Name; change: Change }
  | { do: 'revert' | 'undo'; name: Name | null; between: { name: Name; change: Change } | null }

const aName = fc.constantFrom(...names)
const aChange = fc.constantFrom<Change>('write', 'write', 'remove', 'mode', 'link')
const byPerson = fc.option(fc.record({ name: aName, change: aChange }), { freq: 1 })
const aStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('edit', 'patch'), name: aName }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('command'),
      name: aName,
      change: aChange,
      meanwhile: byPerson,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('person'), name: aName, change: aChange }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('revert', 'undo'),
      name: fc.option(aName),
      between: byPerson,
    }),
  },
) as fc.Arbitrary<Step>

const isSame = (a: State, b: State): boolean => {
  if (a.kind !== 'file' || b.kind !== 'file') return JSON.stringify(a) === JSON.stringify(b)
  return a.text === b.text && (a.mode === b.mode || a.mode === 'any' || b.mode === 'any')
}

type Act = (act: Record<string, unknown>) => Promise<void>
type Turn = (made: readonly ScriptedCall[]) => Promise<void>

/** A workspace in a repository whose attributes would change bytes, with an agent that obeys. */
class Bench {
  readonly #workspace: string
  readonly #act: Act
  readonly #turn: Turn
  #n = 0
  readonly #records = new Map<Name, { before: State; after: State }[]>()
  readonly #reverted = new Map<Name, { replaced: State; put: State }>()
  /** Done between the look and the write of the next revert of this file. */
  between: { name: Name; change: Change } | null = null
  /** What stood there then. */
  came: { name: Name; state: State } | null = null

  constructor(workspace: string, act: Act, turn: Turn) {
    this.#workspace = workspace
    this.#act = act
    this.#turn = turn
  }

  at = (name: string): string => join(this.#workspace, name)

  state(name: string): State {
    const entry = lstatSync(this.at(name), { throwIfNoEntry: false })
    if (entry === undefined) return { kind: 'none' }
    if (entry.isSymbolicLink()) return { kind: 'link', to: readlinkSync(this.at(name)) }
    return { kind: 'file', text: readFileSync(this.at(name), 'utf8'), mode: entry.mode & 0o777 }
  }

  tree = (): Tree => Object.fromEntries(names.map((name) => [name, this.state(name)])) as Tree

  /** Never the same bytes twice; line ends that git would change. */
  #text = (): string => `${(this.#n += 1)} words\r\n`

  person(name: Name, change: Change): void {
    const path = this.at(name)
    const now = this.state(name)
    mkdirSync(dirname(path), { recursive: true })
    if (change === 'mode') {
      if (now.kind === 'file') chmodSync(path, now.mode === 0o755 ? 0o640 : 0o755)
      return
    }
    if (change === 'write' && now.kind === 'file') return writeFileSync(path, this.#text())
    rmSync(path, { force: true })
    if (change === 'write') writeFileSync(path, this.#text())
    if (change === 'link') symlinkSync(`nowhere-${(this.#n += 1)}`, path)
  }

  async tool(by: 'edit' | 'patch', name: Name): Promise<void> {
    const now = this.state(name)
    if (now.kind === 'link') return
    const before = this.tree()
    if (by === 'patch' && now.kind === 'file') {
      const patch = `--- ${name}\n+++ /dev/null\n@@ -1 +0,0 @@\n-${now.text}`
      await this.#turn([call('ApplyPatch', { patch })])
      assert.equal(this.state(name).kind, 'none')
    } else {
      const old = now.kind === 'file' ? { old_text: now.text } : {}
      await this.#turn([call('EditFile', { path: name, ...old, new_text: this.#text() })])
      assert.equal(this.state(name).kind, 'file')
    }
    this.#record(before, now.kind === 'none')
  }

  async command(
    name: Name,
    change: Change,
    meanwhile: Extract<Step, { do: 'command' }>['meanwhile'],
  ) {
    const path = `'${name}'`
    const act = {
      write: `rm -f ${path}; printf '%s' '${this.#text()}' > ${path}`,
      remove: `rm -f ${path}`,
      mode: `if [ -f ${path} ] && [ ! -h ${path} ]; then chmod 711 ${path}; fi`,
      link: `ln -sfn to-${(this.#n += 1)} ${path}`,
    }
    const before = this.tree()
    const [began, go] = [join(this.#workspace, '../began'), join(this.#workspace, '../go')]
    const wait = meanwhile === null ? '' : `: > '${began}'; read x < '${go}'; `
    const ended = this.#turn([runs(`${wait}mkdir -p sub; ${act[change]}`)])
    if (meanwhile !== null) {
      await readFile(began)
      this.person(meanwhile.name, meanwhile.change)
      await writeFile(go, 'go\n')
    }
    await ended
    this.#record(before, false)
  }

  #record(before: Tree, isNew: boolean): void {
    for (const name of names) {
      const after = this.state(name)
      if (isSame(before[name], after)) continue
      const told: State = isNew && after.kind === 'file' ? { ...after, mode: 'any' } : after
      const of = this.#records.get(name) ?? []
      this.#records.set(name, [...of, { before: before[name], after: told }])
    }
  }

  /** Where the records lead, of each file that is to be touched. */
  #targets(undo: boolean): Map<Name, { left: State; to: State }> {
    if (undo) {
      return new Map(
        [...this.#reverted].map(([n, { put, replaced }]) => [n, { left: put, to: replaced }]),
      )
    }
    const found = new Map<Name, { left: State; to: State }>()
    for (const [name, records] of this.#records) {
      let to = records.at(-1)?.before ?? { kind: 'none' }
      for (const { before, after } of records.slice(0, -1).toReversed()) {
        if (!isSame(after, to)) break
        to = before
      }
      const left = records.at(-1)?.after ?? { kind: 'none' }
      if (!isSame(left, to)) found.set(name, { left, to })
    }
    return found
  }

  async revert(undo: boolean, name: Name | null, between: Bench['between']): Promise<void> {
    const before = this.tree()
    const targets = this.#targets(undo)
    if (name !== null && !targets.has(name)) return
    this.between = between
    await this.#act({ do: 'revert_files', undo, ...(name === null ? {} : { files: [name] }) })
    const { came } = this
    this.between = null
    this.came = null
    for (const one of names) {
      const target = targets.get(one)
      const meant = target !== undefined && (name === null || name === one)
      const may = meant && isSame(before[one], target.left) && !isSame(before[one], target.to)
      const now = this.state(one)
      const isCut = came?.name === one && !isSame(came.state, before[one])
      const expected = isCut ? came.state : may ? target.to : before[one]
      assert.ok(isSame(now, expected), `${one} is ${say(now)}, and not ${say(expected)}`)
      if (may) this.#reverted.set(one, { replaced: before[one], put: target.to })
    }
    assert.deepEqual(leftovers(this.#workspace), [])
  }
}

const say = (state: State): string => JSON.stringify(state)

const leftovers = (folder: string): string[] =>
  execFileSync('find', [folder, '-name', '.git', '-prune', '-o', '-name', '.*', '-print'])
    .toString()
    .split('\n')
    .filter((path) => /\.(tmp|holon-aside)$/.test(path))

async function bench(t: TestContext) {
  const places = temporaryHome(t)
  const { workspace } = places
  const git = (...args: string[]) => execFileSync('git', args, { cwd: workspace, stdio: 'ignore' })
  git('init', '-q')
  git('config', 'core.autocrlf', 'input')
  writeFileSync(join(workspace, '.gitattributes'), '* text eol=lf\n')
  mkdirSync(join(workspace, 'sub'))
  for (const name of names) writeFileSync(join(workspace, name), `first of ${name}\r\n`)
  git('add', '-A')
  for (const name of ['began', 'go']) execFileSync('mkfifo', [join(workspace, '..', name)])
  let next: readonly ScriptedCall[] = []
  const model = scriptedModel(() => {
    const now = next
    next = []
    return now.length > 0 ? calls(...now) : says('Done.')
  })
  const made: { bench: Bench | null } = { bench: null }
  const before_effect = (what: string) => {
    const of = made.bench
    const name = names.find((one) => what === `revert ${join(workspace, one)}`)
    if (of === null || of.between === null || name !== of.between.name) return
    const { change } = of.between
    of.between = null
    of.person(name, change)
    of.came = { name, state: of.state(name) }
  }
  const box = await openBox(t, {
    ...places,
    models: { default: model },
    effect_seam: { before_effect, after_effect: () => undefined },
  })
  await box.makeAgent('test/porter')
  const agent_id = 'main'
  const item = await box.host.act({ do: 'create_item', agent_id, objective: 'Port it' })
  assert.ok(item.ok && item.id !== null)
  const work_item_id = item.id
  const act = async (given: Record<string, unknown>) => {
    const reply = await box.host.act({ ...given, agent_id, work_item_id } as OperatorAct)
    assert.ok(reply.ok, JSON.stringify(reply))
  }
  await act({ do: 'pick' })
  await box.host.open()
  const turn = async (of: readonly ScriptedCall[]) => {
    next = of
    const ended = Promise.withResolvers<void>()
    const stop = box.host.subscribe((notice) => {
      if (notice.kind !== 'committed') return
      const isOver = notice.events.some(({ event }) => event.type === 'turn_ended')
      if (isOver && next.length === 0) ended.resolve()
    })
    await act({ do: 'send', text: 'Go on.' })
    await ended.promise
    stop()
  }
  made.bench = new Bench(workspace, act, turn)
  return { bench: made.bench, close: () => box.close() }
}

async function play(bench: Bench, step: Step): Promise<void> {
  switch (step.do) {
    case 'edit':
    case 'patch':
      return bench.tool(step.do, step.name)
    case 'command':
      return bench.command(step.name, step.change, step.meanwhile)
    case 'person':
      return bench.person(step.name, step.change)
    case 'revert':
    case 'undo':
      return bench.revert(step.do === 'undo', step.name, step.between)
  }
}

test('no byte of anybody is lost by a revert, in any order', { timeout: 300_000 }, async (t) => {
  const plays = fc.asyncProperty(fc.array(aStep, { minLength: 3, maxLength: 9 }), async (steps) => {
    const { bench: one, close } = await bench(t)
    for (const step of steps) await play(one, step)
    // One command takes back what the last one did.
    await one.revert(false, null, null)
    await one.revert(true, null, null)
    await close()
  })
  await fc.assert(plays, { numRuns: 12, seed: 20_261_125, endOnFailure: false })
})
