/** The order of lists that are kept in memory: by time of making. */

export type Made = { id: string; created_at: string }

/** Ties by id. */
export const byMaking = (a: Made, b: Made): number =>
  a.created_at < b.created_at || (a.created_at === b.created_at && a.id < b.id) ? -1 : 1
