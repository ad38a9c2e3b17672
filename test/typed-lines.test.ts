/**
 * Every command that README and the pages of docs give a reader is typed as it stands there, in its
 * order, in one home for each page: it ends as the page says. A name that a page makes up stands for one of
 * that home; what needs another machine is told apart here, with why.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  startModelServer,
  TEST_KEY,
  type ServerScript,
} from '../src/testing/model-server/server.ts'
import { Reader, type Typed } from './support/reader.ts'
import { typedLines, type TypedLine } from './support/typed-lines.ts'

const root = join(import.meta.dirname, '..')
const pages = ['README.md', ...globSync('docs/{how-to,concepts}/*.md', { cwd: root }).toSorted()]
const linesOf = (page: string) => typedLines(page, readFileSync(join(root, page), 'utf8'))

const installs = ['ci --no-audit --no-fund --loglevel=error', 'install --global --loglevel=error .']
const asked = '--model openai-compatible/qwen3-coder'

/** What is not typed as it stands, and why. */
const elsewhere: readonly { line: RegExp; why: string }[] = [
  { line: /^(systemctl|launchctl) /, why: 'it is asked of the system of a machine, for good' },
  { line: /^holon service show > /, why: 'its folders are those of a system that starts services' },
  {
    line: /^holon work (diff|revert) \S+ src/,
    why: 'it wants a change: work-diff.test.ts makes one',
  },
  { line: /^docker /, why: 'it wants docker: dockerfile.test.ts carries out what it would' },
  {
    line: /^holon webhook redeliver /,
    why: 'it wants a dead delivery: deliveries.test.ts has one',
  },
]

/** What ends otherwise than well, and why. */
const ends: readonly { page?: string; line: RegExp; exit: number; why: string }[] = [
  { line: /examples\/tour\.md/, exit: 3, why: 'it stops twice on purpose' },
  {
    page: 'docs/concepts/why-it-survives.md',
    line: /run --resume/,
    exit: 3,
    why: 'the file that the tour waits for is not there',
  },
  { line: /answer task_91ce yes +#/, exit: 2, why: 'it shows what would run, and answers nothing' },
  {
    page: 'docs/how-to/alone-for-a-week.md',
    line: /policy check .* origin main/,
    exit: 0,
    why: 'a rule of the page allows it',
  },
  {
    page: 'docs/how-to/alone-for-a-week.md',
    line: /policy check .* \+main/,
    exit: 1,
    why: 'a rule of the page denies it',
  },
  { line: /policy check .*git push/, exit: 3, why: 'it says by its exit that a person is asked' },
]
const exitOf = ({ page, text }: TypedLine): number =>
  ends.find(({ page: of = page, line }) => of === page && line.test(text))?.exit ?? 0

/** A turn that asks for a command which the preset asks about. */
const pushes = (words: string) => `holon run ${asked} "${words}" || test $? = 3`

/** What a page takes as there already when it comes to a line. */
const given: readonly { page: string; line: RegExp; types: readonly string[] }[] = [
  // The tour says itself what it waits for, and then asks.
  {
    page: 'README.md',
    line: /answer <wait> yes/,
    types: ['touch tour-ready', 'holon run --resume || test $? = 3'],
  },
  {
    page: 'docs/concepts/budget.md',
    line: /configure helper/,
    types: ['holon agents create helper'],
  },
  { page: 'docs/concepts/context.md', line: /turn_7f3a /, types: [`holon run ${asked} Look.`] },
  {
    page: 'docs/concepts/instructions.md',
    line: /context show/,
    types: [`holon run ${asked} Look.`],
  },
  { page: 'docs/concepts/daemon.md', line: /^curl /, types: ['holon start'] },
  {
    page: 'docs/concepts/policy.md',
    line: /inbox/,
    types: [
      `echo '{"preset": "work"}' > "$HOME/.local/state/holon/policy.json"`,
      pushes('Push it.'),
    ],
  },
  { page: 'docs/concepts/policy.md', line: /task_91ce "no/, types: [pushes('Push it again.')] },
  {
    page: 'docs/concepts/policy.md',
    line: /^holon answer.*like_for_agent/,
    types: [pushes('Push it anew.')],
  },
  { page: 'docs/how-to/move-home.md', line: /backup/, types: ['holon agents create main || true'] },
  { page: 'docs/concepts/trigger.md', line: /^curl /, types: ['holon start'] },
]

/** A model that makes one item, and takes up and completes each that it is shown. */
const worker = (): ServerScript => {
  const done = new Set<string>()
  let picked: string | null = null
  let pushed = 0
  return ({ n, messages_text }) => {
    const words = messages_text.match(/Push it/g)?.length ?? 0
    if (words > pushed) {
      pushed = words
      return { calls: [{ name: 'ExecCommand', input: { cmd: 'git push origin main' } }] }
    }
    const create = { name: 'CreateWorkItem', input: { objective: 'Look', plan: '# Look\n' } }
    if (n === 1) return { calls: [create] }
    if (picked !== null) {
      const complete = { name: 'CompleteWorkItem', input: { work_item_id: picked } }
      picked = null
      return { text: 'I have looked.', calls: [complete] }
    }
    const shown = messages_text.match(/work_[0-9a-f-]{4,36}/g) ?? []
    picked = shown.find((id) => !done.has(id)) ?? null
    if (picked === null) return { text: 'Noted.' }
    done.add(picked)
    return { calls: [{ name: 'PickWorkItem', input: { work_item_id: picked } }] }
  }
}

type Ids = { id: string }[]

/** What the names that a page makes up stand for, asked of the home. */
const names: readonly (readonly [RegExp, (reader: Reader) => Promise<string> | string])[] = [
  [/<item>|work_[0-9a-f]{4}\b/, itemOf],
  [/<wait>/, async (reader) => first((await reader.json<{ waits: Ids }>('waits')).waits)],
  [/task_91ce/, async (reader) => (await heldOf(reader)).id],
  [/(?<=--mark )3fa2c1/, async (reader) => (await heldOf(reader)).mark],
  [/grant_40aa/, async (reader) => first((await reader.json<{ grants: Ids }>('grants')).grants)],
  [/<task>/, async (reader) => first((await reader.json<{ tasks: Ids }>('tasks --all')).tasks)],
  [/turn_7f3a:13/, async (reader) => `${await turnOfRounds(reader)}:2`],
  [/turn_7f3a:12/, async (reader) => `${await turnOfRounds(reader)}:1`],
  [/turn_7f3a/, turnOfRounds],
  [/holon-backup-[0-9TZ.]+/, (reader) => readdirSync(join(reader.folder, 'backups'))[0] ?? ''],
  [/(?<=KEY=)…/, () => TEST_KEY],
  [/(?<=BASE_URL=)\S+/, (reader) => reader.base_url],
  [/http:\/\/127\.0\.0\.1:7777\/callbacks\/<token>/, triggerOf],
  [/http:\/\/127\.0\.0\.1:7777(?=\/)/, doorOf],
]
const first = (found: Ids): string => found.at(-1)?.id ?? assert.fail('the home has none')

async function itemOf(reader: Reader): Promise<string> {
  const { work_items } = await reader.json<{ work_items: Ids }>('work list')
  if (work_items.length > 0) return first(work_items)
  const made = await reader.json<{ id: string }>('work create "Port the fixtures"')
  return made.id
}

/** The command that waits for a yes, and the mark of what was shown of it. */
async function heldOf(reader: Reader): Promise<{ id: string; mark: string }> {
  type Inbox = { attention: { id: string; kind: string; bound_hash?: string }[] }
  const { attention } = await reader.json<Inbox>('inbox')
  const held = attention.find(({ kind }) => kind === 'approval')
  const mark = held?.bound_hash?.slice(0, 6)
  return { id: held?.id ?? assert.fail('nothing is held'), mark: mark ?? assert.fail('no mark') }
}

async function triggerOf(reader: Reader): Promise<string> {
  const made = await reader.json<{ url: string }>('trigger create nightly')
  return made.url
}

/** The line without its comment, with what its names stand for. */
async function bound(reader: Reader, { text }: TypedLine): Promise<string> {
  let line = text.replace(/ +# .*$/, '')
  for (const [name, value] of names) {
    if (name.test(line)) line = line.replaceAll(new RegExp(name, 'g'), await value(reader))
  }
  assert.doesNotMatch(line, /<[a-z]+>|…/, 'nothing in the home stands for that')
  return line
}

/** A turn in which a model was asked several times. */
async function turnOfRounds(reader: Reader): Promise<string> {
  const { out } = await reader.type('holon events --json --limit 5000 --after 0 --agent main')
  const rounds = /"id":"(turn_[0-9a-f-]+):3"/g
  return [...out.matchAll(rounds)].at(-1)?.[1] ?? assert.fail('no model was asked yet')
}

function doorOf(reader: Reader): string {
  const { url } = JSON.parse(reader.file('door.json') ?? '{}') as { url?: string }
  return url ?? assert.fail('no daemon listens')
}

test('the pages are read with what they say to type', () => {
  const all = pages.flatMap(linesOf)
  assert.ok(all.length > 60, `${all.length}`)
  const unmet = [...elsewhere, ...ends, ...given].filter(
    ({ line }) => !all.some(({ text }) => line.test(text)),
  )
  assert.deepEqual(unmet, [])
})

async function typed(reader: Reader, { text }: TypedLine, line: string): Promise<Typed> {
  if (/^(npx )?holon( +tui\b| *#|$)/.test(text)) return reader.open(line)
  if (/^(npx )?holon (logs --follow|serve\b)/.test(text)) return reader.watch(line)
  const [, name, value] = /^export ([A-Z_]+)=(.*)$/.exec(line) ?? []
  if (name === undefined || value === undefined) return reader.type(line)
  reader.env[name] = value
  return { exit: 0, out: '', err: '' }
}

/** How a line ends otherwise than its page says; null: it does not. */
async function faultOf(reader: Reader, one: TypedLine): Promise<string | null> {
  try {
    for (const { page, line, types } of given) {
      if (page !== one.page || !line.test(one.text)) continue
      for (const before of types) {
        const { exit, out, err } = await reader.type(before)
        assert.equal(exit, 0, `${before}: ${out}${err}`)
      }
    }
    const { exit, out, err } = await typed(reader, one, await bound(reader, one))
    return exit === exitOf(one) ? null : `exit ${exit}, not ${exitOf(one)}\n${out}${err}`
  } catch (error) {
    if (error instanceof assert.AssertionError) return error.message
    throw error
  }
}

for (const page of pages) {
  const lines = linesOf(page).filter(({ text }) => !elsewhere.some(({ line }) => line.test(text)))
  if (lines.length === 0) continue
  test(`${page}: what it says to type ends as it says`, { timeout: 300_000 }, async (t) => {
    const server = await startModelServer(worker(), { key: null })
    t.after(() => server.close())
    const reader = new Reader(t, server.base_url)
    // A page about a noun has been preceded by a first run.
    if (page.startsWith('docs/concepts/')) {
      reader.env['OPENAI_COMPATIBLE_BASE_URL'] = server.base_url
      await reader.json('agents create main')
    }
    const wrong: string[] = []
    for (const one of lines) {
      const fault = await faultOf(reader, one)
      if (fault !== null) wrong.push(`${page}:${one.at}: ${one.text}: ${fault}`)
    }
    assert.deepEqual(wrong, [])
    assert.deepEqual(server.violations, [])
    // Checks of items run the tests as well.
    const asked = reader.askedOfNpm().filter((words) => words !== 'test')
    assert.deepEqual(asked, page === 'README.md' ? installs : [])
  })
}
