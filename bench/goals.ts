/**
 * Every goal of speed and size there is, which benchmark gives its figure, and whether a line of
 * the table meets the goal it names. Pure; docs/benchmarks.md says how each is measured.
 */
import type { Line } from './report.ts'

export type Goal = {
  /** The beginning of its line in the table. */
  line: string
  target: string
  /** What to run: an argument of `npm run bench`, or a program of its own. */
  run: string
}

export const goals: readonly Goal[] = [
  { line: 'start to first request, bundle with warm', target: '≤ 1.35× floor', run: 'start' },
  { line: 'start to first request, bundle without', target: '≤ 5× floor', run: 'start' },
  { line: 'a round, of 200', target: '≤ 1.5× floor', run: 'rounds' },
  { line: 'a round, of 400', target: '≤ 1.5× floor', run: 'rounds' },
  { line: 'the last 20 of 400', target: '≤ 1.15×', run: 'rounds' },
  { line: 'peak memory, 200 rounds', target: '≤ 130 MB', run: 'rounds' },
  { line: 'peak memory, 400 rounds', target: '≤ 140 MB', run: 'rounds' },
  { line: '16 agents in one process', target: '≥ 0.85× floor, ≥ 200 rounds/s', run: 'agents' },
  { line: 'peak memory, 16 agents', target: '≤ 180 MB', run: 'agents' },
  { line: 'restart after kill -9', target: '≤ 200 ms', run: 'restart' },
  { line: 'committed wake to request', target: 'p95 ≤ 5 ms', run: 'wake' },
  { line: 'the first one', target: '≤ 25 ms', run: 'wake' },
  { line: 'sent to seen, first words', target: 'p95 ≤ 50 ms', run: 'streaming' },
  { line: 'sent to seen, all words', target: 'p95 ≤ 150 ms', run: 'streaming' },
  { line: 'the opening of a turn', target: '≤ 5 ms, flat', run: 'projection' },
  { line: 'a compaction in a turn', target: '≤ 5 ms, flat', run: 'projection' },
  { line: 'restart to first request', target: 'p50 ≤ 300 ms', run: 'daemon-restart' },
  { line: 'delivery committed to model request', target: 'p50 ≤ 5 ms', run: 'daemon-wake' },
  { line: 'idle', target: '≤ 0.1 %', run: 'daemon-idle' },
  { line: '1,000,000 events: start to ready', target: '≤ 1 s', run: 'daemon-history' },
  { line: '1,000,000 events: GET /state', target: 'p95 ≤ 20 ms', run: 'daemon-history' },
  { line: 'judging a call', target: 'p99 ≤ 1 ms', run: 'policy-judging' },
  { line: '100,000 past calls judged', target: '≤ 5 s', run: 'policy-past' },
  { line: 'the 95 % interval of that ratio', target: '≤ 1.05×', run: 'policy-rounds' },
  { line: 'a search', target: 'p95 ≤ 20 ms', run: 'node bench/studies/search.ts <folder>' },
]

/**
 * Whether the line meets its own target: every part of it that names a number. Null: it names none,
 * or nothing was measured. "flat" is for the reader, who has the other lines.
 */
export function isMet({ ours, ratio, target }: Pick<Line, 'ours' | 'ratio' | 'target'>) {
  const verdicts = target.split(', ').flatMap((part) => {
    const [, of, sign, limit = '', unit = ''] =
      /^(p50 |p95 |p99 )?([≤≥]) ([\d.,]+) ?(.*)$/.exec(part) ?? []
    if (sign === undefined) return []
    const value = valueOf(ours, ratio, of?.trim() ?? '', unit)
    const bound = Number(limit.replaceAll(',', ''))
    return value === null ? [] : [sign === '≤' ? value <= bound : value >= bound]
  })
  return verdicts.length === 0 ? null : verdicts.every(Boolean)
}

function valueOf(ours: string, ratio: number | null, of: string, unit: string): number | null {
  if (unit.startsWith('×')) return ratio
  const number = String.raw`(-?[\d.,]+)`
  const found =
    of === 'p95' || of === 'p99'
      ? new RegExp(`${of} ${number}`).exec(ours)
      : new RegExp(`^${number}(?: \\([^)]*\\))? ?(\\S+)?`).exec(ours)
  if (found === null) return null
  const value = Number(found[1]?.replaceAll(',', ''))
  // A goal in seconds of what is printed in milliseconds.
  return unit === 's' && found[2] === 'ms' ? value / 1_000 : value
}

/** Goals that no line of this run is about. */
export const unmeasured = (lines: readonly Line[]): Goal[] =>
  goals.filter((goal) => !lines.some(({ what }) => what.startsWith(goal.line)))
