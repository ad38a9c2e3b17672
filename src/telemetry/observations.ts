/**
 * What the HTTP surface tells this room: one answered request, one delivery that left no row. Types
 * only. Neither carries a path, a token, a query or a body.
 */

/** `route` is the pattern (`/agents/{agent_id}`), null when none matched. `ms` since it came in. */
export type HttpSeen = { method: string; route: string | null; status: number; ms: number }

/** A delivery that committed nothing: those that did are seen as events. */
export type DeliverySeen = { via: 'trigger' | 'webhook'; result: 'duplicate' | 'refused' }
