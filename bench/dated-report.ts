/**
 * A run of the benchmarks as a page that is kept: docs/benchmarks/<date>.md, with the machine, what
 * was run, the table, which goals were met, and which were not measured. Another run of the same
 * day replaces it.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { isMet, unmeasured } from './goals.ts'
import { median, nowUs, root, type Bench } from './fixtures/machine.ts'
import { table, type Line } from './report.ts'

export type Run = {
  now: Date
  /** The arguments of the run. */
  words: readonly string[]
  lines: readonly Line[]
  /** Milliseconds of a write of 4 KB with its sync, median. */
  sync_ms: number
  /** Microseconds to make an empty file, median. */
  inode_us: number
}

/** The path of the page, below the repository. */
export function writeReport(run: Run): string {
  const path = join('docs', 'benchmarks', `${run.now.toISOString().slice(0, 10)}.md`)
  mkdirSync(join(root, 'docs', 'benchmarks'), { recursive: true })
  writeFileSync(join(root, path), pageOf(run, machine()))
  return path
}

export function pageOf({ now, words, lines, sync_ms, inode_us }: Run, machine: string[]): string {
  const verdicts = lines
    .map((line) => ({ line, met: isMet(line) }))
    .filter(({ met }) => met !== null)
  const missed = verdicts.filter(({ met }) => met === false)
  const left = unmeasured(lines)
  return [
    `# Benchmarks of ${now.toISOString().slice(0, 10)}`,
    '',
    `Made by \`npm run bench -- ${words.join(' ')}\`, ended at ${now.toISOString()}.`,
    'What each line means, and what is not equal between it and its floor, is written in',
    '[benchmarks](../benchmarks.md). A figure is a median; in brackets are the quarters around it.',
    '',
    '| machine | |',
    '|---|---|',
    ...machine.map((fact) => `| ${fact.replace(': ', ' | ')} |`),
    `| a write of 4 KB with its sync | ${sync_ms.toFixed(2)} ms |`,
    `| an empty file | ${inode_us.toFixed(0)} µs |`,
    '',
    '## Figures',
    '',
    table(lines),
    '',
    '## Goals',
    '',
    `${verdicts.length - missed.length} of ${verdicts.length} lines with a goal met it.`,
    ...(missed.length === 0 ? [] : ['', '| not met | figure | goal |', '|---|---|---|']),
    ...missed.map(({ line }) => `| ${line.what} | ${figureOf(line)} | ${line.target} |`),
    ...(left.length === 0
      ? []
      : ['', '| not measured in this run | goal | give it by |', '|---|---|---|']),
    ...left.map(({ line, target, run }) => `| ${line} | ${target} | ${commandOf(run)} |`),
    '',
  ].join('\n')
}

const figureOf = ({ ours, ratio }: Line): string =>
  ratio === null ? ours : `${ours}, ${ratio.toFixed(2)}× floor`

const commandOf = (run: string): string =>
  run.includes(' ') ? `\`${run}\`` : `\`npm run bench -- ${run}\``

function machine(): string[] {
  return [
    `processors: ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
    `memory: ${(totalmem() / 2 ** 30).toFixed(0)} GB`,
    `system: ${process.platform} ${release()}`,
    `Node: ${process.versions.node}, SQLite ${process.versions['sqlite'] ?? 'unknown'}`,
    `load at the end: ${loadavg()
      .map((load) => load.toFixed(2))
      .join(', ')}`,
  ]
}

/** What the disk takes for one small durable write: most of what a commit waits for. */
export function syncMs(bench: Bench): number {
  const file = openSync(join(bench.folder('sync-probe'), 'probe'), 'wx')
  const block = Buffer.alloc(4_096, 1)
  const times: number[] = []
  for (let i = 0; i < 100; i++) {
    const from = nowUs()
    writeSync(file, block)
    fsyncSync(file)
    times.push((nowUs() - from) / 1_000)
  }
  closeSync(file)
  return median(times)
}
