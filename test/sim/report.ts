/** What a simulation prints: the table of what was tried, and the line with the figure. */
import { tableOf } from '../../src/domain/state/event.ts'
import type { Coverage } from './coverage.ts'
import type { Told } from './batch.ts'

export type Total = Omit<Told, 'failed' | 'coverage'> & { failures: number }

const cell = (value: number | string, width: number): string => `${value}`.padStart(width)

/** Each transition and effect with each fault that struck at it; a zero is a gap. */
export function coverageTable({ counts: { seen, hit, struck } }: Coverage): string[] {
  const names = Object.keys(seen).toSorted()
  const width = Math.max(12, ...names.map((name) => name.length))
  const head = `${'transition'.padEnd(width)}${cell('done', 9)}${cell('died before', 13)}`
  const rows = names.map((name) => {
    const [before, after] = ['crash_before', 'crash_after'].map((how) => hit[`${name} ${how}`] ?? 0)
    const [b, a] = [before ?? 0, after ?? 0]
    return `${name.padEnd(width)}${cell(seen[name] ?? 0, 9)}${cell(b, 13)}${cell(a, 12)}`
  })
  const gaps = names.filter(
    (name) => !hit[`${name} crash_before`] || !hit[`${name} crash_after`],
  ).length
  const never = Object.keys(tableOf).filter((type) => !(type in seen))
  const faults = Object.entries(struck).map(([name, count]) => `${name} ${count}`)
  return [
    `${head}${cell('died after', 12)}`,
    ...rows,
    `${names.length} transitions and effects, ${gaps} without a death on both sides`,
    `never committed: ${never.join(', ') || 'nothing'}`,
    `faults: ${faults.toSorted().join(', ')}`,
  ]
}

const perSecond = (count: number, cpu_us: number): number =>
  Math.round(count / Math.max(1, cpu_us / 1e6))

export function figure(total: Total, steps: number): string {
  const { runs, calm, events, crashes, cpu_us, failures } = total
  const what = `${runs} seeds × ${steps} steps, ${calm} steps of calm, ${events} events`
  const speed = `${perSecond(total.steps, cpu_us)} steps/s a core, ${perSecond(
    total.steps + calm,
    cpu_us,
  )} with the calm`
  return `${what}, ${crashes} deaths, ${speed}: ${failures} violations`
}
