/**
 * The sub-rooms of every room of src, a floor a text, the lowest first; `.` is the top of the room.
 * A file may import what stands in its own sub-room and on the floors below, nothing beside it or
 * above. A test may import all of its room. test/tidy-rules.ts checks it.
 */
export const floors: Readonly<Record<string, readonly string[]>> = {
  domain: [
    '.',
    'shell',
    'policy',
    'secrets state',
    'facts',
    'memory waits',
    'inbox',
    'approvals checks scheduler timers transfer',
    'budgets',
    'work',
    'explain turns',
    'agents invariants',
    'operator',
  ],
  ports: ['.'],
  protocol: ['.', 'actions', 'records', 'acts events views'],
  context: ['.', 'sections', 'fork opening', 'compaction'],
  ledger: [
    '.',
    'sqlite',
    'blobs migrations',
    'reads',
    'retention verify',
    'backup search',
    'store',
  ],
  models: ['.', 'acp runbook transport', 'providers', 'catalogue'],
  exec: ['.', 'files hosts', 'git', 'commands worktrees', 'acp daemon inspect shell web'],
  tools: ['tool', 'commands', 'agents files memory web work', '.'],
  runtime: ['.', 'gather memory tasks timers', 'children', 'operator turn', 'host replay'],
  http: ['request', 'inbound stream', 'gate resources', '.'],
  telemetry: ['.'],
  client: ['.'],
  present: ['text', 'history lines markdown', 'entries', '.'],
  cli: ['command', 'agents daemon look outside run work', 'setup', 'screen', '.'],
  tui: ['model', 'drawing', 'writing', 'screens', 'input', '.'],
  testing: ['.', 'model-server world', 'host scenarios why', 'conformance http screens', 'demo'],
  main: ['machine', 'homes', 'serve', 'commands'],
}

/** Folders whose files are found by their name in a list: one file a planted mistake. */
export const unbounded: readonly string[] = ['test/planted']

/** So many files a folder shows at most beside its tests: what an eye takes in. */
export const folderLimit = 25
/** Every row has its file in one folder. */
export const folderLimits: Readonly<Record<string, number>> = { 'src/domain/state': 30 }
