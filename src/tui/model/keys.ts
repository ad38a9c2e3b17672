/**
 * The one table of keys: key handling, footers, help and palette are made from it. A letter means
 * the same on every screen. Pure.
 */
export type KeyGroup = 'MOVE' | 'LOOK' | 'ACT' | 'LEAVE'

export const actions = [
  'down',
  'up',
  'first',
  'last',
  'half_down',
  'half_up',
  'open',
  'back',
  'pane',
  'next_item',
  'previous_item',
  'last_view',
  'home',
  'board',
  'agents',
  'tasks',
  'waits',
  'events',
  'next_need',
  'previous_need',
  'find',
  'palette',
  'level',
  'unfold',
  'thread',
  'plan',
  'item_tasks',
  'why',
  'spend',
  'item_events',
  'clock',
  'only_pane',
  'reload',
  'redraw',
  'write',
  'write_agent',
  'new_item',
  'answer',
  'snooze',
  'dismiss',
  'focus',
  'stop',
  'start',
  'copy',
  'copy_line',
  'pager',
  'raise_budget',
  'unblock',
  'update',
  'set_up',
  'again',
  'help',
  'leave',
] as const
export type ActionName = (typeof actions)[number]

export type KeyLine = {
  readonly action: ActionName
  readonly keys: readonly string[]
  /** How the keys stand in help and footers. */
  readonly shown: string
  readonly label: string
  readonly group: KeyGroup
  /** The shell line that does the same; `<item>` and its like are filled in. */
  readonly cli?: string
}

const of = (
  action: ActionName,
  keys: readonly string[],
  label: string,
  group: KeyGroup,
  more: { shown?: string; cli?: string } = {},
): KeyLine => ({ action, keys, label, group, shown: more.shown ?? keys[0] ?? '', ...more })

export const keyTable: readonly KeyLine[] = [
  of('down', ['j', 'down'], 'down', 'MOVE'),
  of('up', ['k', 'up'], 'up', 'MOVE'),
  of('first', ['g', 'home'], 'first', 'MOVE'),
  of('last', ['G', 'end'], 'last, and follow', 'MOVE'),
  of('half_down', ['ctrl+d', 'pagedown'], 'half a page down', 'MOVE'),
  of('half_up', ['ctrl+u', 'pageup'], 'half a page up', 'MOVE'),
  of('open', ['enter', 'right'], 'open', 'MOVE'),
  of('back', ['esc', 'h', 'left'], 'back', 'MOVE'),
  of('pane', ['tab'], 'next tab', 'MOVE'),
  of('next_item', [']'], 'next item', 'MOVE'),
  of('previous_item', ['['], 'previous item', 'MOVE'),
  of('last_view', ['-'], 'last view', 'MOVE'),
  of('home', ['1'], 'home', 'MOVE', { cli: 'holon inbox' }),
  of('board', ['2'], 'board', 'MOVE', { cli: 'holon work list' }),
  of('agents', ['3'], 'agents', 'MOVE', { cli: 'holon agents' }),
  of('tasks', ['4'], 'tasks', 'MOVE', { cli: 'holon tasks' }),
  of('waits', ['5'], 'waits', 'MOVE', { cli: 'holon waits' }),
  of('events', ['6'], 'events', 'MOVE', { cli: 'holon events' }),
  of('level', ['v'], 'level 1 2 3', 'LOOK'),
  of('unfold', ['space'], 'open this entry', 'LOOK'),
  of('thread', ['l'], 'thread', 'LOOK', { cli: 'holon work show <item> --trace' }),
  of('plan', ['p'], 'plan', 'LOOK', { cli: 'holon work show <item>' }),
  of('item_tasks', ['t'], 'tasks', 'LOOK', { cli: 'holon tasks' }),
  of('why', ['w'], 'why', 'LOOK', { cli: 'holon why <item>' }),
  of('spend', ['s'], 'spend', 'LOOK', { cli: 'holon work show <item>' }),
  of('item_events', ['e'], 'events', 'LOOK', { cli: 'holon events --work-item <item>' }),
  of('find', ['/'], 'find', 'LOOK', { cli: 'holon search <words>' }),
  of('clock', ['T'], 'clock or ago', 'LOOK'),
  of('only_pane', ['F'], 'only this pane', 'LOOK'),
  of('reload', ['ctrl+r'], 'read again', 'LOOK'),
  of('redraw', ['ctrl+l'], 'draw again', 'LOOK'),
  of('next_need', ['n'], 'next for you', 'ACT'),
  of('previous_need', ['N'], 'the one before', 'ACT'),
  of('write', ['c'], 'write here', 'ACT', { cli: 'holon send --work-item <item> <text>' }),
  of('write_agent', ['C'], 'write to its agent', 'ACT', {
    cli: 'holon send --agent <agent> <text>',
  }),
  of('new_item', ['+'], 'new item', 'ACT', { cli: 'holon work create <objective>' }),
  of('answer', ['a'], 'answer, settle', 'ACT', { cli: 'holon answer <wait> <text>' }),
  of('snooze', ['z'], 'snooze', 'ACT', { cli: 'holon inbox snooze <entry> --for 2h' }),
  of('dismiss', ['d'], 'dismiss', 'ACT', { cli: 'holon inbox dismiss <entry>' }),
  of('focus', ['f'], 'focus this item', 'ACT', { cli: 'holon work pick <item> --reason <text>' }),
  of('stop', ['x'], 'stop (asks first)', 'ACT', { cli: 'holon agents abort <agent>' }),
  of('start', ['R'], 'start the agent', 'ACT', { cli: 'holon agents start <agent>' }),
  of('copy', ['y'], 'copy this', 'ACT'),
  of('copy_line', ['Y'], 'copy its command', 'ACT'),
  of('pager', ['E'], 'open in $PAGER', 'ACT'),
  of('again', ['r'], 'try again', 'ACT'),
  of('raise_budget', [], 'raise its budget', 'ACT', {
    cli: 'holon work update <item> --max-usd <n>',
  }),
  of('unblock', [], 'let it go on', 'ACT', { cli: 'holon work unblock <item>' }),
  of('update', [], 'change its objective', 'ACT', {
    cli: 'holon work update <item> --objective <text>',
  }),
  of('set_up', [], 'set up a model', 'ACT', { cli: 'holon init' }),
  of('palette', [':', 'ctrl+k'], 'all commands', 'LEAVE'),
  of('help', ['?'], 'help', 'LEAVE'),
  of('leave', ['q'], 'leave', 'LEAVE'),
]

const byKey = new Map(keyTable.flatMap((one) => one.keys.map((key) => [key, one] as const)))

/** What a key does outside of text; null: nothing. */
export const actionOf = (key: string): KeyLine | null => byKey.get(key) ?? null

const byAction = new Map(keyTable.map((one) => [one.action, one]))
export function keyOf(action: ActionName): KeyLine {
  const found = byAction.get(action)
  if (found === undefined) throw new Error(`no key does ${action}`)
  return found
}

/** `c write  n next for you`: as many as fit, dropped from the right; help is always there. */
export function footer(hints: readonly (readonly [ActionName, string])[], columns: number): string {
  const help = '? help'
  let said = ''
  for (const [action, label] of hints) {
    const next = `${said}${keyOf(action).shown} ${label}  `
    if (next.length + help.length > columns) break
    said = next
  }
  return said + help
}
