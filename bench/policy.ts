/**
 * What a policy costs: judging one call, trying every call of a long ledger with a new file, and a
 * round with a policy in force against one without.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { databasePath } from '../src/ledger/sqlite/sqlite.ts'
import { policyPort } from '../src/main/homes/policy-port.ts'
import {
  holon,
  load,
  median,
  mustEndWell,
  quantile,
  runNode,
  spread,
  type Bench,
} from './fixtures/machine.ts'
import {
  eventsPerTurn,
  roundsPerTurn,
  writeHistory,
  type CallGiven,
} from './fixtures/long-history.ts'
import type { ModelFixture } from './fixtures/model-fixture.ts'
import type { Line } from './report.ts'
import { ourRun } from './rounds.ts'

/** The rules of the documentation, and what the commands of a round want. */
const policy = JSON.stringify({
  preset: 'work',
  rules: [
    { decide: 'deny', run: ['git', 'push', { any: ['--force', '-f'] }], why: 'history is shared' },
    { decide: 'allow', run: ['git', 'push', 'origin'], match: ['git push origin v2'] },
    { decide: 'allow', run: ['npm', ['test', 'run', 'ci']], in: 'workspace' },
    { decide: 'allow', run: ['true'] },
    { decide: 'ask', write: ['**/.github/**', 'package.json'] },
    { decide: 'allow', host: ['registry.npmjs.org:443', '*.github.com:443'] },
  ],
})

/** Lines as agents write them; `n` makes each of them another one. */
const commands: readonly ((n: number) => string)[] = [
  (n) => `git add -A && git commit -m "Change ${n}"`,
  (n) => `git push origin topic-${n}`,
  (n) => `cd packages/part-${n} && npm test -- --grep "case ${n}" 2>&1 | tail -n 40`,
  (n) => `grep -rn "name${n}" src --include='*.ts' | head -20`,
  (n) => `for f in src/*.ts; do wc -l "$f"; done | sort -n | tail -${n}`,
  (n) => `sed -n '${n},${n + 40}p' src/main.ts`,
  (n) => `cat > notes-${n}.md <<'EOF'\n# Note ${n}\n\nWhat was found.\nEOF`,
]

/** Of ten calls seven are commands, two write a file, one reads the web. */
function callAt(n: number): CallGiven {
  const kind = n % 10
  const command = commands[kind]
  if (command !== undefined) {
    const input = { cmd: command(n) }
    return { tool_name: 'ExecCommand', input, effect_class: 'reattachable' }
  }
  if (kind === 9) {
    const input = { url: `https://docs.github.com/pages/${n}` }
    return { tool_name: 'WebFetch', input, effect_class: 'pure' }
  }
  const input = { path: `src/file-${n}.ts`, old_text: 'value = 1', new_text: `value = ${n}` }
  return { tool_name: 'EditFile', input, effect_class: 'content_checked' }
}

const line = (what: string, more: Partial<Line> & { ours: string }): Line => ({
  what,
  floor: '',
  ratio: null,
  target: '',
  load: load(),
  ...more,
})

function homeWith(bench: Bench, text: string | null = policy): string {
  const home = bench.folder('policy-home')
  if (text !== null) writeFileSync(join(home, 'policy.json'), text, { mode: 0o600 })
  return home
}

/** A home made before 0.2: nothing is confined there, and nothing judged without a policy.json. */
async function homeBefore(bench: Bench, text: string | null): Promise<string> {
  const home = homeWith(bench, text)
  await writeHistory(home, { events: 0, agents: 0, open_items: 0 })
  const database = new DatabaseSync(databasePath(home))
  database.exec('update meta set made_at_schema = 0')
  database.close()
  return home
}

/** Through the port that a host has: the files are read, and the line parsed, at each call. */
export async function policyJudging(bench: Bench, times: number): Promise<Line[]> {
  const port = policyPort(homeWith(bench), { age: 'existing', choice: 'off' }, null)
  const workspace = bench.folder('policy-work')
  const agent = { agent: 'main', item: null, workspace, confined: true, presets: [] } as const
  const asked = { ...agent, environment: {}, origin: 'operator' } as const
  const warm = 500
  const ms: number[] = []
  let used = process.cpuUsage()
  for (let n = 0; n < warm + times; n++) {
    if (n === warm) used = process.cpuUsage()
    const { effect_class, ...call } = callAt(n)
    const from = performance.now()
    const judged = await port.judge({ ...call, ...asked, class: effect_class })
    if (n >= warm) ms.push(performance.now() - from)
    if (judged === null) throw new Error('no policy is in force')
  }
  const [p95, p99] = [0.95, 0.99].map((q) => quantile(ms, q).toFixed(2))
  const ours = `${spread(ms, 2)} ms, p95 ${p95}, p99 ${p99} ms`
  const { user, system } = process.cpuUsage(used)
  const own = `${((user + system) / 1_000 / times).toFixed(2)} ms`
  return [
    line(`judging a call (${times} calls)`, { ours, target: 'p99 ≤ 1 ms' }),
    line('own processor time of it, all threads', { ours: own }),
  ]
}

/** `holon policy test` in a process of its own; every line stands `each` times in the ledger. */
export async function policyPast(
  bench: Bench,
  { calls, each, times }: { calls: number; each: number; times: number },
): Promise<Line[]> {
  const home = homeWith(bench)
  const events = Math.ceil(calls / roundsPerTurn) * eventsPerTurn
  const lines = calls / each
  // Ten kinds of call: the last digit is the kind, the rest says which of them.
  const call = (n: number) => callAt((Math.floor(n / 10) % (lines / 10)) * 10 + (n % 10))
  await writeHistory(home, { events, agents: 4, open_items: 0, call })
  const file = join(bench.folder('policy-file'), 'new.json')
  writeFileSync(file, policy)
  const [seconds, peaks, used]: [number[], number[], number[]] = [[], [], []]
  for (let run = 0; run < times; run++) {
    const running = runNode(bench, holon(bench, home, ['policy', 'test', file]), { sample: true })
    const { peak_mb, cpu_ms } = await mustEndWell(running)
    seconds.push((running.ended_us() - running.started_us) / 1e6)
    peaks.push(peak_mb)
    used.push(cpu_ms / 1_000)
  }
  const often = each === 1 ? 'once' : `${each} times`
  const what = `${calls.toLocaleString('en')} past calls judged, each ${often}`
  return [
    line(what, { ours: `${spread(seconds, 2)} s`, target: '≤ 5 s' }),
    line(`processor time, ${what}`, { ours: `${spread(used, 2)} s` }),
    line(`peak memory, ${what}`, { ours: `${spread(peaks, 0)} MB` }),
  ]
}

/**
 * One run with a policy and one without, by turns, and which is first by turns too: of each pair
 * the ratio of their median rounds, and where 95 of 100 medians of such pairs would lie.
 */
export async function policyRounds(
  bench: Bench,
  model: ModelFixture,
  { rounds, pairs }: { rounds: number; pairs: number },
): Promise<Line[]> {
  const [withIt, without]: [number[], number[]] = [[], []]
  const roundOf = async (text: string | null) =>
    median((await ourRun(bench, model, rounds, await homeBefore(bench, text))).round_ms)
  for (let pair = 0; pair < pairs; pair++) {
    const first = pair % 2 === 0
    if (first) withIt.push(await roundOf(policy))
    without.push(await roundOf(null))
    if (!first) withIt.push(await roundOf(policy))
  }
  const ratios = withIt.map((ms, i) => ms / (without[i] ?? Number.NaN))
  const [low, high] = medianInterval(ratios)
  const what = `a round with a policy against one without (${pairs} pairs of ${rounds} rounds)`
  return [
    line(what, {
      ours: `${spread(withIt, 2)} ms`,
      floor: `${spread(without, 2)} ms`,
      ratio: median(ratios),
    }),
    line('the 95 % interval of that ratio, its upper end as the ratio', {
      ours: `${low.toFixed(3)} to ${high.toFixed(3)}`,
      ratio: high,
      target: '≤ 1.05×',
    }),
  ]
}

/** By ranks: between these two values the median lies with a probability of 95 %. */
function medianInterval(values: readonly number[]): readonly [number, number] {
  const sorted = values.toSorted((a, b) => a - b)
  const half = 1.96 * Math.sqrt(sorted.length / 4)
  const low = Math.max(0, Math.floor(sorted.length / 2 - half))
  const high = Math.min(sorted.length - 1, Math.ceil(sorted.length / 2 + half))
  return [sorted[low] ?? Number.NaN, sorted[high] ?? Number.NaN]
}
