/**
 * What the command line needs from the machine and from the runtime. `main.ts` plugs the real ones
 * in, a test its own. Types only.
 */
import type { ReplayEnd } from '../../ports/host.ts'
import type { DoorWay } from '../../client/operator.ts'
import type { DaemonPorts, UpkeepPorts } from './daemon-ports.ts'
import type { RunSettings, OwnedHome } from './run-ports.ts'
import type { Guards } from './guards.ts'
import type { PolicyPorts } from './policy-ports.ts'
import type { SetupPorts } from './setup-ports.ts'
import type { Screen } from './screen-port.ts'
import type { Reader } from '../../client/home-reads.ts'
import type { Config } from '../../protocol/config.ts'
import type { SpendFilter } from '../../ports/ledger-filters.ts'
import type { SpendGroup } from '../../protocol/records/spend-record.ts'
import type { CheckGiven, PlanDescriptor, Task, WorkItem } from '../../protocol/records/records.ts'

/** Text of a file somebody named, or why there is none. */
export type TextFileRead =
  | { ok: true; text: string }
  | {
      ok: false
      why: 'not_found' | 'denied' | 'is_folder' | 'not_regular' | 'too_large' | 'binary' | 'io'
    }

type Unread = Exclude<Extract<TextFileRead, { ok: false }>['why'], 'binary'>

/** Bytes of a file somebody named, or why there are none. */
export type BytesRead = { ok: true; bytes: Uint8Array } | { ok: false; why: Unread }

/** One place of a document that is wrong. */
export type DocumentError = { line: number; message: string }

/** Every error of a runbook file; `checked`: what is made of one that brings checks with it. */
export type RunbookRead = {
  errors: readonly DocumentError[]
  checked: CheckedRunbook | null
}
export type CheckedRunbook = {
  objective: string
  /** The text without its head. */
  plan: string
  titles: readonly string[]
  checks: readonly CheckGiven[]
}

/** A command as its process stands, seen without its owner. Times: when its runner says so. */
export type CommandLook =
  | { state: 'not_begun' }
  | { state: 'running'; started_at: string }
  | {
      state: 'ended'
      started_at: string | null
      ended_at: string | null
      status: Task['status']
      exit_status: number | null
      reason: string | null
    }
  | { state: 'lost' }

/** A ledger open for reading, and what only the machine knows beside it. Close it. */
export interface HomeReader extends Reader {
  plan(item: WorkItem): Promise<PlanDescriptor>
  spend(filter: SpendFilter): Promise<SpendGroup[]>
  /** What became of a command, by its files and the processes of this machine; null: unreadable. */
  command(task_id: string): Promise<CommandLook | null>
  verify(): Promise<{
    ok: boolean
    events: number
    rows: number
    problems: readonly string[]
  }>
  /** Sentences on what does not hold that must; `history` looks at the events too. */
  invariants(options: { history: boolean }): Promise<readonly string[]>
  /** A turn that is there, decided again from its events. */
  replay(turn_id: string): Promise<ReplayEnd>
  stats(): Promise<{ schema: number; events: number; bytes: number }>
  close(): Promise<void>
}

export interface CliPorts {
  version: string
  /** What a person types to call this command again: `holon`, `npx holon`, or its path. */
  called: string
  /** The values of the environment that matter here, read once. */
  environment: {
    holon_home: string | undefined
    holon_model: string | undefined
    holon_log: string | undefined
    no_color: string | undefined
    force_color: string | undefined
    term: string | undefined
    /** A screen reader is in use: lines one after the other, no cursor that moves. */
    wants_plain: boolean
    /** LC_ALL, LC_CTYPE or LANG, the first that is set. */
    locale: string | undefined
    has_control_token: boolean
  }
  user_home: string
  default_home: string
  working_folder: string
  terminal: {
    stdin: boolean
    stdout: boolean
    stderr: boolean
    /** Cells of the terminal now. */
    columns(): number
  }
  out(text: string): void
  err(text: string): void
  /** Shows the text in `$PAGER` until it is left; false: none is named, or it did not start. */
  page(text: string): Promise<boolean>
  clock: {
    now(): number
    monotonic(): number
    after(ms: number, fn: () => void): () => void
  }
  read_text(path: string, max_bytes: number): Promise<TextFileRead>
  read_stdin(max_bytes: number): Promise<TextFileRead>
  read_bytes(path: string, max_bytes: number): Promise<BytesRead>
  write_private(path: string, text: string): Promise<void>
  /** A file of mode 0600 that was not there; false: something is there, and nothing was done. */
  write_new(path: string, text: string): Promise<boolean>
  folder_exists(path: string): Promise<boolean>
  absolute(path: string): string
  /** The nearest of the known names, or null when none is near. */
  nearest(name: string, known: readonly string[]): string | null
  check_runbook(text: string): Promise<RunbookRead>
  /** Null when there is no ledger yet. Rejects with the ledger's faults. */
  open_reader(home: string): Promise<HomeReader | null>
  /** The live process that owns the home. */
  owner(home: string): Promise<{ pid: number; owner_since: string } | null>
  door(home: string): Promise<DoorWay | null>
  /** Takes the home and makes it when there is none. Rejects with the ledger's faults. */
  own(settings: RunSettings): Promise<OwnedHome>
  home_facts(home: string): Promise<HomeFacts>
  /** What keeps the agents of a home in; it is tried whether this machine can. */
  guards(home: string, config: Config): Promise<Guards>
  /** Of tokens and of the secrets that the configuration names, each with what to do. */
  secret_problems(home: string, config: Config): Promise<{ message: string; hint: string }[]>
  /** What is wrong with the hooks of the configuration; `writable`: folders that agents write. */
  hook_problems(
    config: Config,
    writable: readonly string[],
  ): Promise<{ program: string; message: string; hint: string }[]>
  /**
   * One line from the terminal; null at its end, or when the signal aborts. What was typed before
   * the prompt stood there is no part of it.
   */
  ask(prompt: string, signal: AbortSignal): TerminalPrompt
  /** Lines from the terminal, while others are printed, until it is stopped or ctrl+d ends it. */
  typing(listener: TypingListener): Typing
  /** Called at every interrupt, until the returned function is called. */
  on_interrupt(listener: () => void): () => void
  daemon: DaemonPorts
  policy: PolicyPorts
  upkeep: UpkeepPorts
  setup: SetupPorts
  /** The full-screen program on this terminal. */
  screen: Screen
}

/**
 * What is heard of a line: its changes with the place of the cursor, those of keys that come
 * together as one; the line at its end, with the breaks of what was pasted; and how many characters
 * of one that is too long were not taken, as it happens and instead of its end.
 */
export type TypingListener = {
  changed(text: string, cursor: number): void
  line(text: string): void
  tooLong(missing: number): void
  ended(): void
}

export type Typing = {
  /** Whether something stands there, or a paste is on its way. */
  isBegun(): boolean
  /** Resolves when every key that had come by now is read. */
  keysRead(): Promise<void>
  /** Empties the line. */
  forget(): void
  /** Gives the keyboard back; returns what was typed and not ended. */
  stop(): string
}

/** A prompt that stands on the terminal. `redraw` draws it again below what was printed. */
export type TerminalPrompt = { answer: Promise<string | null>; redraw: () => void }

/** What `doctor` says about the folder itself. Modes are permission bits. */
export type HomeFacts = {
  exists: boolean
  is_folder: boolean
  mode: number | null
  free_bytes: number | null
}
