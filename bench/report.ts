/** The table of results: a line per figure, with what it was measured against. */

export type Line = {
  what: string
  ours: string
  floor: string
  /** Ours to the floor; null where there is no floor. */
  ratio: number | null
  target: string
  /** The load average when it was measured. */
  load: string
}

export function table(lines: readonly Line[]): string {
  const rows = lines.map(({ what, ours, floor, ratio, target, load }) => [
    what,
    ours,
    floor,
    ratio === null ? '' : `${ratio.toFixed(2)}×`,
    target,
    load,
  ])
  const head = ['what', 'Holon', 'floor', 'ratio', 'goal', 'load']
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}
