/** The page a run of the benchmarks is kept as, and whether a line meets the goal it names. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { pageOf } from '../bench/dated-report.ts'
import { goals, isMet, unmeasured } from '../bench/goals.ts'
import { slowestInodeUs, unfitToMeasure } from '../bench/fixtures/machine.ts'
import type { Line } from '../bench/report.ts'

const lineOf = (given: Partial<Line>): Line => ({
  what: 'a figure',
  ours: '',
  floor: '',
  ratio: null,
  target: '',
  load: '0.50',
  ...given,
})

const verdicts: [target: string, ours: string, ratio: number | null, met: boolean | null][] = [
  ['', '3.0 ms', null, null],
  ['flat', '3.0 ms', null, null],
  ['≤ 1.35× floor', '120 (110–130) ms', 1.35, true],
  ['≤ 1.35× floor', '120 (110–130) ms', 1.36, false],
  ['≤ 1.35× floor', 'not measured: EACCES', null, null],
  ['≤ 130 MB', '130 (128–131) MB', null, true],
  ['≤ 130 MB', '131 (128–140) MB', null, false],
  ['p95 ≤ 5 ms', '2.9 (2.6–3.2) ms, p95 4.9 ms', null, true],
  ['p95 ≤ 5 ms', '2.9 (2.6–3.2) ms, p95 5.1 ms', null, false],
  ['p99 ≤ 1 ms', '0.4 (0.3–0.5) ms, p95 1.2, p99 0.9 ms', null, true],
  ['p99 ≤ 1 ms', '0.4 (0.3–0.5) ms, p95 0.9, p99 1.2 ms', null, false],
  ['p50 ≤ 300 ms', '304 (280–334) ms, p95 365 ms', null, false],
  ['p50 ≤ 300 ms', '1,088 (980–1,134) ms, p95 1,365 ms', null, false],
  ['≤ 5 ms, flat', '2.3 (1.8–3.2) ms, p95 9.0', null, true],
  ['≥ 0.85× floor, ≥ 200 rounds/s', '243 (240–250) rounds/s', 0.9, true],
  ['≥ 0.85× floor, ≥ 200 rounds/s', '199 (190–250) rounds/s', 0.9, false],
  ['≥ 0.85× floor, ≥ 200 rounds/s', '243 (240–250) rounds/s', 0.5, false],
  ['≤ 0.1 %', '0.065 % (39 ms, 4 ticks)', null, true],
  ['≤ 1 s', '424 (400–500) ms', null, true],
  ['≤ 1 s', '1,424 ms', null, false],
]

describe('a line meets the goal it names', () => {
  for (const [target, ours, ratio, met] of verdicts) {
    test(`${ours || 'nothing'}${ratio === null ? '' : `, ${ratio}×`}: ${target || 'no goal'}`, () => {
      assert.equal(isMet({ ours, ratio, target }), met)
    })
  }
})

test('every goal is given by a benchmark that there is', () => {
  const main = readFileSync(new URL('../bench/main.ts', import.meta.url), 'utf8')
  const unknown = goals.filter(
    ({ run }) => !run.startsWith('node bench/') && !main.includes(`measure('${run}'`),
  )
  assert.deepEqual(unknown, [])
})

test('a disk that is slow at making files is not measured, and is told what to do', () => {
  assert.equal(unfitToMeasure(slowestInodeUs), null)
  assert.match(unfitToMeasure(207) ?? '', /takes 207 µs here, more than 50: .*--on-a-slow-disk$/)
})

test('a page has the machine, the table, the goals that were missed, and those not measured', () => {
  const lines = [
    lineOf({ what: 'a round, of 200 (4 runs)', ours: '12.1 ms', floor: '4.2 ms', ratio: 2.88 }),
    lineOf({ what: 'peak memory, 200 rounds', ours: '110 MB', target: '≤ 130 MB' }),
  ]
  const slow = { ...lines[0], target: '≤ 1.5× floor' } as Line
  const page = pageOf(
    {
      now: new Date('2026-11-22T10:00:00.000Z'),
      words: ['rounds', '--report'],
      lines: [slow, ...lines.slice(1)],
      sync_ms: 0.412,
      inode_us: 14,
    },
    ['processors: 2 × a processor'],
  )
  const left = unmeasured(lines)
  assert.equal(left.length, goals.length - 2)
  const wanted = [
    '# Benchmarks of 2026-11-22',
    '',
    'Made by `npm run bench -- rounds --report`, ended at 2026-11-22T10:00:00.000Z.',
    'What each line means, and what is not equal between it and its floor, is written in',
    '[benchmarks](../benchmarks.md). A figure is a median; in brackets are the quarters around it.',
    '',
    '| machine | |',
    '|---|---|',
    '| processors | 2 × a processor |',
    '| a write of 4 KB with its sync | 0.41 ms |',
    '| an empty file | 14 µs |',
    '',
    '## Figures',
    '',
    '| what | Holon | floor | ratio | goal | load |',
    '| --- | --- | --- | --- | --- | --- |',
    '| a round, of 200 (4 runs) | 12.1 ms | 4.2 ms | 2.88× | ≤ 1.5× floor | 0.50 |',
    '| peak memory, 200 rounds | 110 MB |  |  | ≤ 130 MB | 0.50 |',
    '',
    '## Goals',
    '',
    '1 of 2 lines with a goal met it.',
    '',
    '| not met | figure | goal |',
    '|---|---|---|',
    '| a round, of 200 (4 runs) | 12.1 ms, 2.88× floor | ≤ 1.5× floor |',
    '',
    '| not measured in this run | goal | give it by |',
    '|---|---|---|',
    ...left.map(({ line, target, run }) => {
      const command = run.includes(' ') ? run : `npm run bench -- ${run}`
      return `| ${line} | ${target} | \`${command}\` |`
    }),
    '',
  ]
  assert.equal(page, wanted.join('\n'))
})
