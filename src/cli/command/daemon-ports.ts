/**
 * What the daemon's commands need from the machine. `main.ts` plugs the real ones in, a test its
 * own. Types only.
 */
import type { Api } from '../../client/api.ts'
import type { Config } from '../../protocol/config.ts'
import type { Backup, Retention, UpkeepEnd } from '../../protocol/upkeep.ts'
import type { WebhookConfig } from '../../protocol/webhook.ts'
import type { LaunchEnd, LogLevel } from '../../ports/daemon.ts'
import type { OwnedHome } from './run-ports.ts'

export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

export type ServeSettings = {
  home: string
  config: Config
  /** Null: the loopback addresses. */
  host: string | null
  /** 0: any free one. */
  port: number
  /** Listen on an address that other machines reach. */
  allow_remote: boolean
  log_level: LogLevel
  /** A file that is rotated; null: stderr. */
  log_path: string | null
}

/**
 * A home that is served: the ledger is open, what a dead process left is recovered, the laps run
 * and the port listens. `failed` resolves with a sentence when the runtime gave up. `close` stops
 * accepting first and gives the lock back last; it may be called again with `now`.
 */
export interface Serving {
  url: string
  pid: number
  failed: Promise<string>
  close(how: 'safe_point' | 'now'): Promise<void>
}

/** What a backup says of itself. `files` are by their path in it. */
export type BackupManifest = {
  made_at: string
  last_global_seq: number
  files: readonly { path: string; bytes: number }[]
  not_included: readonly { path: string; reason: string }[]
}

/** Where the daemon of a home listens. `url` is what a client uses. */
export type DaemonAddress = { pid: number; url: string; started_at: string }

export interface DaemonPorts {
  /** Takes the home and serves it. Rejects with the ledger's faults, and with its own. */
  serve(settings: ServeSettings): Promise<Serving>
  /** The process that owns the home as its daemon, seen to be that very process; else null. */
  running(home: string): Promise<number | null>
  /** The daemon's API once it listens, with the home's token; null while there is none. */
  api(home: string): Promise<{ api: Api; address: DaemonAddress } | null>
  /** The same API for reading, also without a daemon; null when there is no home yet. */
  reading_api(home: string): Promise<{ api: Api; close(): Promise<void> } | null>
  /** The home as a run follows it at its daemon; null when there is none, or not ready yet. */
  attach(home: string): Promise<OwnedHome | null>
  /** Starts this program in the background; its output goes to the log of the home. */
  launch(
    home: string,
    words: readonly string[],
  ): Promise<{ pid: number | null; ended: Promise<LaunchEnd>; release(): void }>
  /** False: it has gone. */
  terminate(pid: number): Promise<boolean>
  /** What the sender of this webhook would send beside the body; its first secret signs. */
  sign(
    webhook: WebhookConfig,
    body: string,
    event: string,
  ): Promise<{ ok: true; headers: Record<string, string> } | { ok: false; message: string }>
  log_path(home: string): string
  log_lines(path: string, count: number): Promise<string[]>
  log_follow(path: string, signal: AbortSignal, onText: (text: string) => void): Promise<void>
  /** Called at each SIGTERM and SIGINT, until the returned function is called. */
  on_stop(listener: (signal: string) => void): () => void
  service: ServicePorts
}

/** What a service file is made of and where it belongs. */
export interface ServicePorts {
  platform: 'systemd' | 'launchd' | null
  /** Absolute: the program that runs, and the words that make it this program. */
  command: readonly string[]
  /** Where user units and launch agents belong. */
  folders: { systemd: string; launchd: string }
  /** The PATH of this environment. */
  path: string
}

/** Upkeep of a home that nobody needs to serve. Each rejects with the ledger's faults. */
export interface UpkeepPorts {
  /** Beside whoever owns the home. Null: there is no home yet. */
  backup(
    home: string,
    options: { to: string; with_secrets: boolean },
  ): Promise<UpkeepEnd<Backup> | null>
  /** Into a home that is empty or not there. */
  restore(
    from: string,
    home: string,
  ): Promise<{ home: string; manifest: BackupManifest; moved_from: string | null }>
  /** Owns the home while it lasts. */
  retain(home: string, options: { before: string; dry_run: boolean }): Promise<Retention>
  rotate_token(home: string): Promise<void>
}
