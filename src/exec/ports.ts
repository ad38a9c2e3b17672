/**
 * The machine under the agent, as the rest of the program sees it: time, ids, processes and files.
 * Types only. Each port carries its contract; the real ones are made in `clock.ts`,
 * `commands/processes.ts` and `files/files.ts`, and a test may put a virtual one in the place of
 * any of them.
 */
import type { StartPlace } from '../domain/start-place.ts'

/**
 * Contract: `now` is the wall clock, in milliseconds since 1970, and may jump; it is for due times
 * and for what people see. `monotonic` never goes back, has an arbitrary origin, and is for leases
 * and timeouts. `after` calls `fn` once, never before `ms` have passed on the monotonic clock, and
 * never in the same tick; any `ms` is allowed (negative counts as zero; beyond 60 s the timer is
 * re-armed inside). The function it returns cancels; cancelling twice, or after the call, is
 * nothing. `sleep` rejects with the signal's reason when the signal aborts. A pending timer keeps
 * the process alive.
 */
export interface Clock {
  now(): number
  monotonic(): number
  after(ms: number, fn: () => void): () => void
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/**
 * Contract: `mint` returns `<prefix>_<UUIDv7>`; ids of one process ascend. `token` returns `bytes`
 * bytes from the system's random source as base64url. `random` is uniform in [0, 1), for jitter,
 * never for secrets. None throws.
 */
export interface Ids {
  mint(prefix: string): string
  token(bytes: number): string
  random(): number
}

/** Absolute paths; each stands for itself and everything below. `write` implies `read`. */
export type Roots = {
  read: readonly string[]
  write: readonly string[]
  deny: readonly string[]
  /** Not written, whatever else says so. Nothing may be read because it is here. */
  read_only: readonly string[]
}

export type PathMode = 'read' | 'write'

/**
 * What a command reads: `none` is /dev/null; `pipe` is what `input` writes, until it ends it; with
 * `terminal` the command runs in a terminal of its own, which also has all of its output (stdout).
 */
export type StdinMode = 'none' | 'pipe' | 'terminal'

/**
 * What each process of a command may use at most; what is missing is the machine's own. `processes`
 * counts all of the user's, whoever started them, and binds no root. `memory_bytes` is of address
 * space, of which some programs reserve far more than they use (Node, Java, Go). Inherited by
 * children; a process over `cpu_seconds` is killed, the others see their system call fail.
 */
export type CommandCaps = {
  open_files?: number | undefined
  processes?: number | undefined
  memory_bytes?: number | undefined
  cpu_seconds?: number | undefined
}

/**
 * One command to run. `cmd` is a program in the shell's language (bash where the machine has it,
 * else sh) and may hold any character but NUL. `workdir` is absolute. `env` is added to the
 * allow-listed environment (see `environment.ts`); `HOLON_TASK_ID` is always set. `timeout_ms` is
 * enforced by the runner itself, so that it holds while the daemon is dead. `caps` are beside those
 * of all commands and win over them. `confine` says what a confined command may touch; `unconfined`
 * is for what the operator himself configured. Where commands are confined, a spec with neither, or
 * a machine that cannot, is the fault `unconfined`: nothing runs outside instead.
 */
export type CommandSpec = {
  task_id: string
  cmd: string
  workdir: string
  env: Record<string, string>
  timeout_ms: number | null
  stdin: StdinMode
  caps?: CommandCaps
  confine?: Confine | 'unconfined'
}

/**
 * What an agent's commands may touch: as its file tools, and of the repository that its worktree is
 * of (any working tree of it, or its git folder) the git folder, where its commits go.
 */
export type Confine = { agent_id: string; roots: Roots; repository: string | null }

/** Sizes of the two output files now, in bytes. A file over the cap is cut, so these may shrink. */
export type OutputSize = { stdout_bytes: number; stderr_bytes: number }

/**
 * How a command ended. `exited`: by itself. `signalled`: a signal killed its shell. `timed_out`:
 * the runner's own watchdog stopped it. `could_not_start`: it never ran, `problem` says why.
 */
export type EndKind = 'exited' | 'signalled' | 'timed_out' | 'could_not_start'

/**
 * What the runner's files say about a task, at any time, to any process.
 * - `absent`: no runner claimed the folder (or there is none).
 * - `running`: the runner, or after its death the command, is a live process with the recorded pid
 *   and start time. `pid` is the command's own (also its process group), the runner's before that.
 * - `ended`: the exit line is there and whole. An `exited` one has a `problem` when the disk was
 *   full at its end: what it wrote may be missing. A shell reports a death by signal n as 128 + n
 *   and names the death beside it, but stays silent on INT and PIPE (bash without setsid also on
 *   TERM): those read as `exited` with 130, 141 (143). A program that dies inside a command line
 *   is the shell's exit status 128 + n.
 * - `lost`: claimed, no exit line, and no process with that pid and start time. `pid` is the one
 *   that was recorded, null when the claim itself is torn.
 */
export type TaskProcess =
  | { state: 'absent' }
  | { state: 'running'; pid: number; started_at: string; output: OutputSize }
  | {
      state: 'ended'
      how: EndKind
      exit_status: number | null
      signal: string | null
      problem: string | null
      started_at: string | null
      ended_at: string | null
      output: OutputSize
    }
  | { state: 'lost'; pid: number | null; output: OutputSize }

/** `from` is a byte offset; with `tail` it is ignored and the last `max_bytes` are read. */
export type OutputRange = {
  stream: 'stdout' | 'stderr'
  from?: number
  max_bytes: number
  tail?: boolean
}

/**
 * `text` was decoded from `bytes` bytes that begin at offset `from`, so the next read goes on at
 * `from + bytes`. Both ends are moved to whole characters. `truncated`: there was more in the
 * direction that was cut (behind the end, or with `tail` before the start).
 */
export type OutputText = { text: string; bytes: number; from: number; truncated: boolean }

/**
 * What the empty scan at the end of a stop covers. `never_began`: there was nothing to look for.
 * `marked`: every process that descends from the command, whatever ties it cut, unless it took off
 * its mark on purpose (`commands/runner-script.ts`). `scanned`: only who is in the group or the
 * session, descends from someone who is, or carries the task's id; the machine has no marks, and a
 * process that left the session, cleared its environment and lost its parent cannot be found.
 */
export type StopProof = 'never_began' | 'marked' | 'scanned'

export type StopOutcome =
  | { stopped: true; proof: StopProof }
  | { stopped: false; survivors: number[] }

/**
 * Commands that outlive this process.
 *
 * Contract. Everything is addressed by task id; the task's folder is the only truth, so that a
 * later process finds the same answers. Every method but `close` may be called at any time, any
 * number of times, by several processes at once. Failures of the world are thrown as
 * `ProcessFault`; nothing is retried inside but one hand-over to a spawner that died.
 * - `prepare` makes `tasks/<task_id>` (0700) and the command's files. Of a claimed folder it
 *   changes nothing.
 * - `start` resolves when the folder is claimed, by this call or an earlier one: after it,
 *   `observe` never says `absent`. Of concurrent starts exactly one runs the command.
 * - `place` names where a start is made now: the boot, and the tasks folder by its mark. A later
 *   `absent` proves that a task never began only where the place is still the same.
 * - `observe` reads and never waits, except up to a second for a claim that is half written, and
 *   200 ms for the last output of a command that died after its runner.
 * - `ended` resolves once the task is ended or lost, at once when it already is; it rejects with
 *   the signal's reason on abort, and with a fault for a task nobody started. The notice comes by
 *   the spawner's pipe; for a re-adopted task by a check every `ADOPTED_CHECK_MS`.
 * - `output` of a task that wrote nothing is empty text. `max_bytes` is at least 4.
 * - `output_at` is when the task last wrote anything, in milliseconds since 1970; null: it did not.
 * - `stdin_of` is how a task was prepared; `none` also for a task nobody prepared.
 * - `input` gives text to a running task that reads a pipe or a terminal, and with `end` ends its
 *   input behind it (a pipe is closed; a terminal is sent Ctrl-D). It waits for a command that has
 *   just begun, and for room. Whatever was not taken is a fault: `input_refused` when nothing was,
 *   `input_partly_taken` when its `taken_bytes` were; `input_ended` after an end; `input_too_long`
 *   over `INPUT_MAX_BYTES`, or for a line no terminal takes.
 * - `terminal_problem` says why this machine cannot give a command a terminal, or null. It is
 *   looked for once, in a process of its own.
 * - `confinement` says whether commands are shut in, tried once. `off`: nobody wants it.
 *   `unavailable` says why not where it was asked for, and every command is refused. `missing`
 *   says why not where nobody asked, and commands run as they would without it. `whom` is for those
 *   who start them: of `models` are the commands that say what they may touch.
 * - `stop` sends TERM to the whole tree (group, session, descendants, whoever carries the task's
 *   id in its environment or its mark), waits `grace_ms`, sends KILL, and scans again until nothing
 *   is left or two seconds have passed. `stopped: true` is that scan, and `proof` what it covers.
 *   A task that was prepared and never claimed is claimed by `stop`, so that it never starts. A
 *   runner that is held up before it begins the command is a survivor: the command may still come.
 * - `close` gives up the spawner and rejects what still waits with a fault; tasks go on. Calling
 *   anything but `observe` and `output` afterwards is a bug.
 */
export interface Processes {
  prepare(spec: CommandSpec): Promise<void>
  start(task_id: string): Promise<void>
  place(): StartPlace
  observe(task_id: string): Promise<TaskProcess>
  ended(task_id: string, signal: AbortSignal): Promise<TaskProcess>
  output(task_id: string, range: OutputRange): Promise<OutputText>
  output_at(task_id: string): number | null
  stdin_of(task_id: string): StdinMode
  input(task_id: string, text: string, options?: { end?: boolean }): Promise<void>
  terminal_problem(): Promise<string | null>
  confinement(): Promise<ConfinementState>
  stop(task_id: string, grace_ms: number): Promise<StopOutcome>
  close(): Promise<void>
}

/** What confined commands may connect to: all, nothing, or what patterns of hosts allow. */
export type Network = 'open' | 'none' | { allow: readonly string[] }

export type ConfinementState =
  | { state: 'off' }
  | { state: 'on'; network: Network; whom: 'everyone' | 'models' }
  | { state: 'unavailable'; why: string }
  | { state: 'missing'; why: string }

/** What was asked, as a name in the form of URLs; or why it is not reached, as a sentence. */
export type HostVerdict = { ok: true; name: string; port: number } | { ok: false; why: string }

/**
 * Which hosts commands of an agent may reach where a list says so. `judge` is asked for each
 * connection, `asked` is `name:port` as a client wrote it. It never rejects, and looks nothing up.
 */
export interface HostGate {
  judge(agent_id: string, asked: string): Promise<HostVerdict>
}

/**
 * A web page as text. `url` is where it was at last, behind redirects; `status` is HTTP's, of which
 * 400 and more are pages too. `cut`: there is more of it than is read.
 */
export type WebPage = {
  ok: true
  url: string
  status: number
  title: string | null
  text: string
  cut: boolean
}

/** Why a page was not read; `message` is one sentence for a model. */
export type WebFault = {
  ok: false
  code:
    | 'bad_url'
    | 'not_listed'
    | 'private_address'
    | 'unknown_name'
    | 'no_connection'
    | 'redirects'
    | 'not_text'
    | 'too_slow'
    | 'aborted'
    | 'no_reader'
  message: string
}

/**
 * Contract: `read` fetches a page of the public internet by GET and gives its text, HTML as
 * Markdown. No other address is ever dialled, whatever names and redirects say; nothing of ours is
 * sent along. Where hosts are listed for commands of the agent a page has to be on one of them, and
 * a redirect to another is not followed. What the world does wrong is a `WebFault`, so is an
 * aborted `signal`. It may be called again, and at once.
 */
export interface Web {
  read(url: string, signal: AbortSignal, agent_id: string): Promise<WebPage | WebFault>
}

/** A whole file. `size` equals `bytes.length`; `sha256` is hex; `mode` the permission bits. */
export type FileRead = {
  path: string
  bytes: Uint8Array
  size: number
  sha256: string
  updated_at: string
  mode: number
}

export type FileKind = 'file' | 'folder' | 'link' | 'other'
export type FileStat = { kind: FileKind; size: number; updated_at: string; mode: number }
export type FileEntry = { name: string; kind: FileKind }

/**
 * Files by absolute path. All but those `_within` know no policy: they are for the runtime's own
 * files. What a model names goes through `open_within` (contract: `OpenedPath` below).
 *
 * Contract. Failures are thrown as `FileFault`. Reading is repeatable; nothing is cached.
 * - `read` takes regular files only, and refuses more than `max_bytes` (default
 *   `FILE_READ_MAX_BYTES`) before reading. `follow: false` refuses a link as `not_regular`.
 *   `unlinked`: so many of the last names on the path are refused as `not_regular` when they are
 *   links; `write_atomic` then also makes missing folders among them.
 * - `write_atomic` replaces the whole file: temporary file in the same folder, fsync, rename, fsync
 *   of the folder. A reader sees the old bytes or the new; after a crash, too. `mode` is set
 *   exactly, whatever the umask (default: the mode of the file replaced, else 0600).
 * - `append` adds at the end, makes the file (0600) when missing, and does not fsync.
 * - `stat` looks at the path itself: a link is `link`. `list` is sorted by name.
 * - `make_folder` also makes missing parents; an existing folder is a success and keeps its mode.
 * - `exists` is false only when nothing has that name; a link to nowhere exists.
 * - `remove` deletes a file or a link, never a folder; a missing one is a success.
 * - `look_within` and `put_within` take a path that was recorded as a real one, under the same
 *   policy as `open_within` for writing: `denied` when a link leads to its folder by now. `put`
 *   replaces only what it was told to expect, bytes and mode, and loses nothing that anybody
 *   writes meanwhile; after a kill in between the next look finds the file in its place again.
 */
export interface Files {
  read(
    path: string,
    options?: { max_bytes?: number; follow?: boolean; unlinked?: number },
  ): Promise<FileRead>
  write_atomic(
    path: string,
    bytes: Uint8Array | string,
    mode?: number,
    options?: { unlinked: number },
  ): Promise<void>
  append(path: string, bytes: Uint8Array | string): Promise<void>
  hash(path: string): Promise<{ sha256: string; bytes: number }>
  stat(path: string, options?: { unlinked: number }): Promise<FileStat>
  list(folder: string): Promise<FileEntry[]>
  make_folder(path: string, mode?: number): Promise<void>
  exists(path: string): Promise<boolean>
  remove(path: string): Promise<void>
  open_within(roots: Roots, path: string, mode: PathMode): Promise<OpenedPath>
  look_within(roots: Roots, path: string): Promise<Standing>
  put_within(roots: Roots, path: string, expected: Standing, next: Standing): Promise<PutAnswer>
}

/**
 * What stands at a path itself: a link is a link, and its bytes are where it leads. `other`: a
 * folder, a device, or a file that is too large to be read.
 */
export type Standing =
  | { kind: 'none' }
  | { kind: 'file'; bytes: Uint8Array; mode: number }
  | { kind: 'link'; bytes: Uint8Array }
  | { kind: 'other' }

/**
 * Whether `next` stands there now. `aside`: the path beside it at which something stays that
 * somebody wrote meanwhile; null: nothing does.
 */
export type PutAnswer = { put: boolean; aside: string | null }

/**
 * Contract. `path` is the real path. `read` returns the file as it is now (`not_found` when a path
 * opened for writing has no file yet). `replace` and `remove` want mode `write`; with mode `read`
 * they are a bug. `replace` is atomic and durable and keeps the mode of the file it replaces (new
 * files: 0666, less the umask). The caller closes; closing twice is nothing.
 */
export interface OpenedPath {
  readonly path: string
  read(max_bytes?: number): Promise<FileRead>
  replace(bytes: Uint8Array | string): Promise<void>
  remove(): Promise<void>
  close(): Promise<void>
}

/** What stood at a path at one end of a command; `unkept`: something whose bytes nobody has. */
export type TreeEnd =
  | { kind: 'none' }
  | { kind: 'file'; bytes: Uint8Array; mode: number }
  | { kind: 'link'; bytes: Uint8Array }
  | { kind: 'unkept'; because: 'secret' | 'too_large' | 'too_many' | 'unreadable' }
export type TreeFile = { path: string; before: TreeEnd; after: TreeEnd }

/** `more`: files that changed too and are not told. `why`: one sentence without its point. */
export type TreeChanges =
  | { ok: true; files: readonly TreeFile[]; more: number }
  | { ok: false; why: string }

/**
 * What commands did to the git working tree that they ran in, whoever else wrote there meanwhile.
 *
 * Contract. `before` looks at the tree that a folder is in, ahead of the start of a task; in no
 * repository it does nothing. `changes` is the difference to now, the same question any number of
 * times, also of a later process; null: there was no look before, or it was forgotten. `forget`
 * ends it. `pending` names the tasks that were not forgotten. Only what `roots` let be written is
 * read. Bounded by number, bytes and time: past a bound, or where the disk refuses, the difference
 * is a sentence that says so. None of these rejects for what the world does.
 */
export interface Trees {
  before(task_id: string, workdir: string, roots: Roots): Promise<void>
  changes(task_id: string, roots: Roots): Promise<TreeChanges | null>
  forget(task_id: string): Promise<void>
  pending(): Promise<string[]>
}
