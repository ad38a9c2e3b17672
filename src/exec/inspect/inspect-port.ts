/**
 * The port through which the runtime looks at the world for a check: types only. The real one is
 * made in `inspect.ts`.
 */

/** What a GET came to; `why` is one sentence without the URL. */
export type GetResult = { ok: true; status: number; text: string } | { ok: false; why: string }

/** An aborted `signal` ends it at once; what is answered then is nothing to go by. */
export type GetMost = { timeout_ms: number; max_bytes: number; signal?: AbortSignal }

/** The hash of a git tree, or one sentence why there is none. */
export type TreeSeen = { hash: string; problem: null } | { hash: null; problem: string }

/** The machine under the commands: names with versions, those it has. */
export type MachineSeen = { os: string; shell: string; programs: string[] }

/** Of the repository a folder is in, as it is now. `changed`: paths that no commit has so. */
export type RepositorySeen = {
  branch: string | null
  changed: number
  last: { commit: string; subject: string; at: string } | null
}

/**
 * Contract. None throws for a fault of the world: what could not be seen is in the answer. Each may
 * be called again, and at once.
 * - `get` follows no redirect, sends nothing of ours, reads at most `max_bytes` of the body and
 *   gives up after `timeout_ms` milliseconds, body included.
 * - `tree` is of the git repository that `folder` is in: every file, tracked or not, that git does
 *   not ignore, as it is now, with line ends as they are and no filter of the repository run. Of a
 *   repository inside it only the commit that is checked out counts. It changes neither the index
 *   nor the objects of the repository.
 * - `machine` and `repository` give up after `within_ms` milliseconds: null is late, or not there.
 */
export interface Inspect {
  get(url: string, most: GetMost): Promise<GetResult>
  tree(folder: string): Promise<TreeSeen>
  machine(within_ms: number): Promise<MachineSeen | null>
  repository(folder: string, within_ms: number): Promise<RepositorySeen | null>
}
