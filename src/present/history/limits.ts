/**
 * The bounds of what a screen keeps in memory (docs/spec/screens.md#one-presentation): names,
 * numbers, units, reasons. They hold the whole presentation to some thirty megabytes however long
 * the history is.
 */
export const bounds = {
  /** Entries of one agent's feed; older ones leave, and one entry says so. */
  entries: 2_560,
  /** Agents whose history is held at a time: the last ones that were opened. */
  feeds: 4,
  /** Entries of the attention list. */
  attention: 500,
  /** Characters of live text of a round, or of the output of a task: head, cut line, tail. */
  live_text: 256 * 1_024,
  /** Characters of one string inside an event; what is longer is read by its record. */
  text: 4_096,
  /** Rounds and tasks whose live text is held at a time, and agents whose last words are. */
  live: 32,
  /** Messages of this screen that were sent and not yet seen as events. */
  sent: 32,
} as const
