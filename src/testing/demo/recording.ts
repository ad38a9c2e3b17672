/**
 * The recording of the README: a real `holon run` in a terminal, with a scripted model that mends a
 * small project, waits for its CI and reports. What is kept is the terminal as it stands in the
 * end, and for each of its rows when that had come. `npm run screens` draws it; a test runs it
 * again.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startModelServer, TEST_KEY, type ServerScript } from '../model-server/server.ts'
import { CellGrid, textOf, type GridRow } from '../screens/cell-grid.ts'
import { begins, completes, does, newTask } from './script.ts'

export const recording = {
  name: 'recording',
  title: 'holon run: an agent mends a bug, waits for CI, and has its report ready by the morning',
  columns: 100,
  rows: 33,
} as const

/** Rows with the milliseconds after which each stood as it stands in the end. */
export type Recording = { rows: readonly GridRow[]; at: readonly number[] }

const words = 'The nightly test fails. Mend it, wait for CI, report by morning.'

const files: Readonly<Record<string, string>> = {
  'dates.mjs': 'export const nights = (from, to) => Math.floor((to - from) / 86_400_000)\n',
  'test.sh': `#!/bin/sh
node --input-type=module -e "
  import { nights } from './dates.mjs'
  const found = nights(new Date('2026-03-28T12:00Z'), new Date('2026-03-29T11:00Z'))
  console.log(found === 1 ? 'ok' : 'not ok: ' + found + ' nights over the change of the clocks')
  process.exitCode = found === 1 ? 0 : 1
"
`,
  'ci.sh': `#!/bin/sh
for part in lint unit nightly; do sleep 1.5; echo "$part passed"; done
`,
}

const steps = [
  ...begins(
    'Mend the nightly test of dates',
    '# Dates\n\n1. See it fail.\n2. Mend it.\n3. Wait for CI.\n4. Report.\n',
  ),
  does('I run it first, to see what it says.', {
    name: 'ExecCommand',
    input: { cmd: './test.sh' },
  }),
  does('', { name: 'ReadFile', input: { path: 'dates.mjs' } }),
  does('A night of the change has 23 hours, and floor makes none of it. It has to be rounded.', {
    name: 'EditFile',
    input: { path: 'dates.mjs', old_text: 'Math.floor(', new_text: 'Math.round(' },
  }),
  does('', { name: 'ExecCommand', input: { cmd: './test.sh' } }),
  does('Here it passes. CI takes its time, so it runs beside me.', {
    name: 'ExecCommand',
    input: { cmd: './ci.sh', yield_ms: 0 },
  }),
  (view: Parameters<typeof newTask>[0]) => ({
    text: 'I wait for it: no process of mine, no request, no cost.',
    calls: [
      {
        name: 'WaitFor',
        input: { wake: 'task_result', resource: newTask(view), reason: 'CI must end' },
      },
    ],
  }),
  completes(
    [
      'The nightly test of dates passes again, here and in CI.',
      '',
      '- **Cause**: the night of the change of the clocks has 23 hours. ' +
        '`Math.floor` made 0 nights of it.',
      '- **Change**: `Math.round` in `dates.mjs`, one line. Nothing else was touched.',
      '- **CI**: lint, unit and nightly passed.',
    ].join('\n'),
  ),
]

function script(): ServerScript {
  let n = 0
  return (view) => steps[n++]?.(view) ?? { text: '' }
}

/** Runs it in `folder`, which is new or empty. `command` is how the program is begun. */
export async function recorded(folder: string, command: readonly string[]): Promise<Recording> {
  const models = await startModelServer(script())
  const [home, project] = [join(folder, '.local/state/holon'), join(folder, 'app')]
  for (const path of [home, project]) mkdirSync(path, { recursive: true, mode: 0o700 })
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(project, name), text, { mode: 0o755 })
  }
  const key = join(folder, 'key')
  writeFileSync(key, TEST_KEY, { mode: 0o600 })
  const setting = { kind: 'openai-compatible', base_url: models.base_url, api_key_file: key }
  const config = { model: 'demo/fixer', providers: { demo: setting } }
  writeFileSync(join(home, 'config.json'), JSON.stringify(config), { mode: 0o600 })
  const typed = `holon run --workspace . "${words}"`
  const grid = new CellGrid({
    command: '/bin/sh',
    args: [
      '-c',
      `printf '$ %s\\n' "$0"; exec "$@"`,
      typed,
      ...command,
      'run',
      '--workspace',
      '.',
      words,
    ],
    columns: recording.columns,
    rows: recording.rows,
    cwd: project,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, LANG: 'C.UTF-8', TZ: 'UTC' },
  })
  try {
    return await watched(grid)
  } finally {
    grid.kill()
    await models.close()
  }
}

async function watched(grid: CellGrid): Promise<Recording> {
  const from = performance.now()
  const since: { text: string; at: number }[] = []
  const look = () => {
    grid.lines().forEach((text, y) => {
      if (since[y]?.text !== text) since[y] = { text, at: Math.round(performance.now() - from) }
    })
    return false
  }
  // It looks until the command has ended: what it then says is that it has.
  await grid.until(look).catch(() => {})
  look()
  return { rows: grid.grid(), at: since.map(({ at }) => at) }
}

/** Without the rows that nothing stands on below the last. */
export function trimmed({ rows, at }: Recording): Recording {
  const end = rows.findLastIndex((row) => textOf(row) !== '') + 1
  return { rows: rows.slice(0, end), at: at.slice(0, end) }
}
