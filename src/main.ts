/**
 * The program: the only place that reads the environment and joins the rooms. It hands the command
 * line its ports; a room is loaded when a command first needs it, so that a run reaches its first
 * request without the reads, the door or the schemas.
 */
import { stat, statfs } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { isatty } from 'node:tty'
import { nearest } from './models/nearest.ts'
import packageJson from '../package.json' with { type: 'json' }
import type { CliPorts, HomeReader, OwnedHome, RunSettings, TextRead } from './cli/ports.ts'
import { main } from './cli/program.ts'
import type { DoorAddress } from './client/operator.ts'
import { systemClock, systemIds } from './exec/clock.ts'
import { FileFault } from './exec/file-fault.ts'
import { systemFiles } from './exec/files.ts'
import type { LedgerReads } from './ledger/port.ts'
import type { Model, Usage as ModelUsage } from './models/model.ts'
import type { ProviderSetting } from './models/open-model.ts'

process.umask(0o077)

const env = process.env
const clock = systemClock()
const ids = systemIds()
const files = systemFiles()
const userHome = homedir()

const stateFolder = env['XDG_STATE_HOME']
const defaultHome = join(
  stateFolder !== undefined && isAbsolute(stateFolder)
    ? stateFolder
    : join(userHome, '.local', 'state'),
  'holon',
)
const doorPath = (home: string) => join(home, 'door.json')
const tokenPath = (home: string) => join(home, 'control-token')

async function readText(path: string, max_bytes: number): Promise<TextRead> {
  try {
    const { bytes } = await files.read(path, { max_bytes })
    if (bytes.includes(0)) return { ok: false, why: 'binary' }
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    if (error instanceof TypeError) return { ok: false, why: 'binary' }
    if (!(error instanceof FileFault)) throw error
    return { ok: false, why: whyUnread(error.code) }
  }
}

function whyUnread(code: FileFault['code']): Extract<TextRead, { ok: false }>['why'] {
  switch (code) {
    case 'not_found':
    case 'denied':
    case 'is_folder':
    case 'not_regular':
    case 'too_large':
      return code
    case 'disk_full':
    case 'read_only':
    case 'io':
      return 'io'
  }
}

async function openReader(home: string): Promise<HomeReader | null> {
  const [{ openReader }, { LedgerFault }] = await Promise.all([
    import('./ledger/open.ts'),
    import('./ledger/port.ts'),
  ])
  let reader: LedgerReads
  try {
    reader = await openReader(home)
  } catch (error) {
    if (!(error instanceof LedgerFault && error.code === 'no_home')) throw error
    const found = await stat(home).catch(() => null)
    if (found === null || found.isDirectory()) return null
    const says = `${home} is a file, not a folder: choose another home with --home or HOLON_HOME`
    throw new LedgerFault('io', says, 'never', { cause: error })
  }
  const { describePlan } = await import('./exec/plan-file.ts')
  return {
    ...reader,
    plan: ({ plan_artifact: { path, good_sha256 } }) => {
      const path_ = good_sha256 === null ? null : reader.blobPath(good_sha256)
      return describePlan(
        files,
        path,
        good_sha256 === null ? undefined : { sha256: good_sha256, path: path_ },
      )
    },
  }
}

async function readToken(home: string): Promise<string | null> {
  const given = env['HOLON_CONTROL_TOKEN']?.trim()
  if (given) return given
  const read = await readText(tokenPath(home), 4_096)
  return read.ok ? read.text.trim() : null
}

/** Where the owner's door is. What a dead owner left behind names another process. */
async function readDoor(home: string) {
  const owner = await ownerOf(home)
  const read = await readText(doorPath(home), 4_096)
  const token = await readToken(home)
  if (!read.ok || token === null || owner === null) return null
  try {
    const address = JSON.parse(read.text) as DoorAddress
    return address.pid === owner.pid ? { address, token } : null
  } catch {
    return null
  }
}

async function ownerOf(home: string) {
  const { ownerOf } = await import('./ledger/owner.ts')
  return ownerOf(home)
}

/** Models by name, each opened once. Keys come from files, the environment and nowhere else. */
async function modelsOf(config: RunSettings['config']) {
  const [{ openModel }, data, { keptAliveFetch }] = await Promise.all([
    import('./models/open-model.ts'),
    import('./models/model-data.ts'),
    import('./models/fetch.ts'),
  ])
  const fetching = keptAliveFetch()
  const opened = new Map<string, Model>()
  const settings = {
    providers: (config.providers ?? {}) as Record<string, ProviderSetting>,
    env,
    read_file: async (path: string) => new TextDecoder().decode((await files.read(path)).bytes),
  }
  const ports = {
    clock,
    fetch: fetching.fetch,
    runbook: async () => (await import('./models/runbook/runbook-model.ts')).runbookModel(),
  }
  return {
    async open(id: string) {
      const known = opened.get(id)
      if (known) return { ok: true as const, model: known }
      const found = await openModel(id, settings, ports)
      if (!found.ok) return { ok: false as const, ...found.rejection }
      opened.set(id, found.model)
      return found
    },
    facts: (id: string) => data.modelFacts(id),
    price: (id: string, usage: ModelUsage) => data.priceOf(usage, id),
    close: () => fetching.close(),
  }
}

/**
 * Keeps the heap near what is in use. Left alone, V8 lets the space for young objects grow to 16 MB
 * and more, and the old one to several times what a run keeps: a quarter of a long run's memory,
 * for nothing. Both are read when a space would grow, so they may be set while the program runs.
 */
function keepHeapSmall(): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=50')
}

async function own({ home, config }: RunSettings): Promise<OwnedHome> {
  const [{ openLedger }, { createHost }, { createProcesses }, models] = await Promise.all([
    import('./ledger/open.ts'),
    import('./runtime/host.ts'),
    import('./exec/processes.ts'),
    modelsOf(config),
  ])
  const ledger = await openLedger(home, {
    clock_now: () => clock.now(),
    mint: (prefix) => ids.mint(prefix),
  })
  const processes = createProcesses({
    tasks_folder: join(home, 'tasks'),
    clock,
    parent_env: env,
    pass: config.environment ?? [],
  })
  const host = createHost({
    home,
    ledger,
    clock,
    ids,
    files,
    processes,
    models,
    environment: {},
    user_home: userHome,
    has_listener: false,
  })
  let door: Promise<{ close(): Promise<void> }> | null = null
  return {
    host,
    agents: () => ledger.agents(),
    events: (after) => ledger.events({ after, limit: 500 }),
    last_global_seq: () => ledger.lastGlobalSeq(),
    open_model: async (id) => {
      const found = await models.open(id)
      return found.ok ? { ok: true } : found
    },
    async open_door() {
      // The first request is out by now: loading what sets a flag costs the start nothing.
      keepHeapSmall()
      door ??= openHomeDoor(home, host)
      await door
    },
    async output_bytes(task_id) {
      const seen = await processes.observe(task_id)
      return seen.state === 'absent' ? null : seen.output.stdout_bytes + seen.output.stderr_bytes
    },
    async close(how) {
      try {
        await (await door)?.close()
        await host.close(how)
      } finally {
        await processes.close()
        models.close()
        await ledger.close()
      }
    },
  }
}

/** Lets other terminals in: the token when there is none yet, the server, and its address. */
async function openHomeDoor(home: string, host: OwnedHome['host']) {
  const [{ openDoor }, { checkAgainst, tokenBytes }] = await Promise.all([
    import('./http/door.ts'),
    import('./http/token.ts'),
  ])
  if ((await readToken(home)) === null) {
    await files.write_atomic(tokenPath(home), `${ids.token(tokenBytes)}\n`, 0o600)
  }
  const door = await openDoor({
    act: (command) => host.act(command),
    token_is_valid: checkAgainst(() => readToken(home)),
  })
  const address: DoorAddress = { pid: process.pid, port: door.port }
  await files.write_atomic(doorPath(home), `${JSON.stringify(address)}\n`, 0o600)
  return {
    async close() {
      await files.remove(doorPath(home))
      await door.close()
    },
  }
}

const interruptions = new Set<() => void>()
const interrupted = () => {
  for (const listener of interruptions) listener()
}

/** One line with a prompt. Its own Ctrl-C is an interrupt of the whole program. */
function ask(prompt: string, signal: AbortSignal) {
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const { createInterface } = process.getBuiltinModule('node:readline')
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt })
  const done = (line: string | null) => {
    resolve(line)
    lines.close()
  }
  lines.on('line', done)
  lines.on('close', () => done(null))
  lines.on('SIGINT', interrupted)
  signal.addEventListener('abort', () => done(null), { once: true })
  lines.prompt()
  return { answer: promise, redraw: () => lines.prompt(true) }
}

async function readStdin(max_bytes: number): Promise<string | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Uint8Array)
    bytes += (chunk as Uint8Array).length
    if (bytes > max_bytes) break
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    return null
  }
}

async function modeOf(path: string): Promise<number | null> {
  return (await files.exists(path)) ? (await files.stat(path)).mode : null
}

const ports: CliPorts = {
  version: packageJson.version,
  environment: {
    holon_home: env['HOLON_HOME'],
    holon_model: env['HOLON_MODEL'],
    no_color: env['NO_COLOR'],
    force_color: env['FORCE_COLOR'],
    term: env['TERM'],
    locale: [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((value) => value),
  },
  user_home: userHome,
  default_home: defaultHome,
  working_folder: process.cwd(),
  terminal: {
    stdin: isatty(0),
    stdout: isatty(1),
    stderr: isatty(2),
    columns: () => process.stdout.columns || process.stderr.columns || 0,
  },
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  clock,
  read_text: readText,
  read_stdin: readStdin,
  async write_private(path, text) {
    const [{ makeHomeFolder }, { guarded }] = await Promise.all([
      import('./ledger/home-folder.ts'),
      import('./ledger/fault.ts'),
    ])
    const folder = join(path, '..')
    await guarded(`Making the folder ${folder}`, () => makeHomeFolder(folder))
    await files.write_atomic(path, text, 0o600)
  },
  folder_exists: (path) =>
    stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    ),
  absolute: (path) => resolve(path),
  nearest: (name, known) => nearest(name, known),
  async check_runbook(text) {
    const { parseRunbook } = await import('./models/runbook/parse.ts')
    const parsed = parseRunbook(text)
    return parsed.ok ? [] : parsed.errors
  },
  open_reader: openReader,
  owner: ownerOf,
  door: readDoor,
  own,
  async home_facts(home) {
    if (!(await files.exists(home))) {
      return { exists: false, is_folder: false, mode: null, token_mode: null, free_bytes: null }
    }
    const disk = await statfs(home)
    return {
      exists: true,
      is_folder: (await stat(home)).isDirectory(),
      mode: await modeOf(home),
      token_mode: await modeOf(tokenPath(home)),
      free_bytes: disk.bavail * disk.bsize,
    }
  },
  ask,
  on_interrupt(listener) {
    if (interruptions.size === 0) process.on('SIGINT', interrupted)
    interruptions.add(listener)
    return () => {
      interruptions.delete(listener)
      if (interruptions.size === 0) process.off('SIGINT', interrupted)
    }
  },
}

// Whoever reads our output may stop reading: that ends the output, not in an error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}

const exit = await main(process.argv.slice(2), ports)
process.stdout.write('', () => process.exit(exit))
