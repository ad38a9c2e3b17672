/**
 * `holon backup|restore|retention|token`: keeping a home, moving it, making it smaller, and
 * changing the key to it.
 */
import { Holon } from '../../client/holon.ts'
import type { RouteAnswer, RouteInput } from '../../client/routes.ts'
import { counted } from '../../present/lines/call-line.ts'
import { safe, safeLine } from '../../present/text/safe.ts'
import { clock } from '../../present/text/span.ts'
import { problemOf } from '../../protocol/problem.ts'
import type { NewRetention, UpkeepEnd } from '../../protocol/upkeep.ts'
import { readConfig } from '../command/config-file.ts'
import { printJson, printLines, zoneOf, type Context } from '../command/context.ts'
import { CliFailure, exitOf, exits, inShell, noHome, usage, type Exit } from '../command/failure.ts'
import { failureOf } from '../command/records.ts'
import { expand, tilde } from '../command/settings.ts'

/** Milliseconds that upkeep of a large home may take at a daemon. */
const patience_ms = 3_600_000

/** A copy of the home as it is at one moment, while whoever owns it goes on. */
export async function backup(
  context: Context,
  folder: string,
  options: { withSecrets?: boolean },
): Promise<Exit> {
  const { ports, home } = context
  const asked = {
    to: ports.absolute(expand(ports, folder)),
    with_secrets: options.withSecrets === true,
  }
  const done =
    (await atDaemon(context, 'POST /upkeep/backup', asked)) ??
    (await ports.upkeep.backup(home.value, asked))
  if (done === null) {
    throw noHome(home.value)
  }
  if (!done.ok) throw notDone(done)
  const made = done.value
  if (context.flags.json === true) {
    printJson(context, made)
    return exits.done
  }
  printLines(context, [
    safe(made.path),
    `${counted(made.files, 'file')}, ${megabytes(made.bytes)}, up to event ${made.last_global_seq}`,
    ...made.not_included.map(({ path, reason }) => safeLine(`without ${path}: ${reason}`)),
  ])
  return exits.done
}

/** What the daemon refuses, and what is refused here, is one failure with one exit code. */
function notDone({ code, message, hint }: UpkeepEnd<never> & { ok: false }): CliFailure {
  const problem = inShell(problemOf(code, message, hint ?? null))
  return new CliFailure(exitOf(problem), problem)
}

/** The answer of the daemon that serves the home; null when none does, or it only starts. */
async function atDaemon<R extends 'POST /upkeep/backup' | 'POST /upkeep/retention'>(
  { ports, home }: Context,
  route: R,
  body: RouteInput<R>['body'],
): Promise<{ ok: true; value: RouteAnswer<R> } | null> {
  const found = await ports.daemon.api(home.value)
  if (found === null) return null
  const answer = await new Holon(found.api).ask(route, { body } as RouteInput<R>, { patience_ms })
  if (!answer.ok) throw failureOf(answer.failure)
  return answer
}

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`

/** Into a home that is empty or not there. */
export async function restore(context: Context, from: string): Promise<Exit> {
  const { ports, home } = context
  const source = ports.absolute(expand(ports, from))
  await mustBeBackup(context, source)
  const { exists, is_folder } = await ports.home_facts(home.value)
  if (exists && !is_folder) {
    const hint = 'name a folder that is empty or not there with --home'
    throw usage('home_is_file', `${home.value} is a file, not a folder`, hint)
  }
  const restored = await ports.upkeep.restore(source, home.value)
  if (context.flags.json === true) {
    printJson(context, restored)
    return exits.done
  }
  const { manifest, moved_from } = restored
  printLines(context, [
    `${safeLine(tilde(ports, restored.home))} is as it was ` +
      `${clock(manifest.made_at, zoneOf(context))}, event ${manifest.last_global_seq}`,
    ...(moved_from === null ? [] : [safeLine(`it was in ${moved_from} before`)]),
    'do    holon doctor --verify, then holon start',
  ])
  return exits.done
}

async function mustBeBackup({ ports }: Context, source: string): Promise<void> {
  const hint = 'name the folder that holon backup printed, like …/holon-backup-20260102T030405.678Z'
  if (!(await ports.folder_exists(source))) {
    throw usage('no_backup', `there is no folder ${source}`, hint)
  }
  // Whether it is there: what it says is read with the rest.
  const manifest = await ports.read_text(`${source}/manifest.json`, 1)
  if (manifest.ok || manifest.why !== 'not_found') return
  throw usage('no_backup', `${source} is no backup: it has no manifest.json`, hint)
}

export type RetentionOptions = { before?: string; keepDays?: string; dryRun?: boolean }

const day = 86_400_000

/** Takes what ended before a time. The owner does it: the daemon, or else this process. */
export async function retention(context: Context, options: RetentionOptions): Promise<Exit> {
  const dry_run = options.dryRun === true
  const body = { ...horizonOf(context, options), dry_run }
  const answer = await atDaemon(context, 'POST /upkeep/retention', body)
  const done = answer === null ? await retainHere(context, body) : answer.value
  if (context.flags.json === true) {
    printJson(context, done)
    return exits.done
  }
  const rows = Object.entries(done.rows).map(([table, count]) => counted(count, nounOf(table)))
  const verb = dry_run ? 'would go' : 'are gone'
  printLines(context, [
    `${counted(done.events, 'event')} and ${rows.join(', ') || 'no rows'} ${verb}: ` +
      `what ended before ${clock(done.before, zoneOf(context))}`,
    `${counted(done.blobs, 'blob')}, ${megabytes(done.bytes)}; ` +
      'the file keeps its size and uses it again',
  ])
  return exits.done
}

/** `work item` of `work_items`. */
const nounOf = (table: string): string => table.replaceAll('_', ' ').replace(/s$/, '')

/** Without a daemon, and when nobody else owns the home. */
async function retainHere(context: Context, { dry_run, ...asked }: NewRetention) {
  const { ports, home } = context
  const owner = await ports.owner(home.value)
  if (owner !== null) {
    const detail = `process ${owner.pid} owns this home, and only its owner can make it smaller`
    const hint = 'a holon run is at work, or a daemon is starting: try again after it'
    throw new CliFailure(exits.owned, problemOf('owned', detail, hint, 503))
  }
  if (!(await ports.home_facts(home.value)).exists) {
    throw noHome(home.value)
  }
  const [{ config }, rules] = await Promise.all([
    readConfig(ports, home.value),
    import('../../protocol/upkeep.ts'),
  ])
  const configured = config.retention?.keep_days ?? null
  const before = rules.horizonOf(asked, configured, zoneOf(context).now)
  if (!before.ok) throw notDone(before)
  return ports.upkeep.retain(home.value, { before: before.value, dry_run })
}

function horizonOf(
  { ports }: Context,
  { before, keepDays }: RetentionOptions,
): Omit<NewRetention, 'dry_run'> {
  if (before !== undefined && keepDays !== undefined) {
    throw usage('two_horizons', '--before and --keep-days exclude each other', 'give one of them')
  }
  if (keepDays !== undefined) {
    if (/^\d{1,4}$/.test(keepDays) && Number(keepDays) >= 8 && Number(keepDays) <= 3_660) {
      return { keep_days: Number(keepDays) }
    }
    const hint = 'give a number of days from 8 to 3660; --before takes any time'
    throw usage('bad_number', `--keep-days ${keepDays} is no number of days to keep`, hint)
  }
  if (before === undefined) return {}
  const [, days] = /^(\d{1,5})d$/.exec(before) ?? []
  const now = ports.clock.now()
  const ms = days === undefined ? momentOf(before) : now - Number(days) * day
  if (Number.isNaN(ms)) {
    throw usage('bad_time', `--before ${before} is no time`, 'write it like 90d or 2026-01-01')
  }
  if (ms > now) {
    const hint = 'name a time that is past, like 90d or 2026-01-01'
    throw usage('horizon_invalid', `--before ${before} is still to come`, hint)
  }
  return { before: new Date(ms).toISOString() }
}

/** A date, or a date and time; not what else a `Date` makes of a text. */
const momentOf = (text: string): number =>
  /^\d{4}-\d{2}-\d{2}(T|$)/.test(text) ? Date.parse(text) : Number.NaN

/** The old token is worthless from the next request on, also for a daemon that runs. */
export async function rotateToken(context: Context): Promise<Exit> {
  const { ports, home } = context
  if (ports.environment.has_control_token) {
    const hint = 'change HOLON_CONTROL_TOKEN where it is set'
    throw usage('token_from_environment', 'the token comes from the environment', hint)
  }
  if (!(await ports.home_facts(home.value)).exists) {
    throw noHome(home.value)
  }
  await ports.upkeep.rotate_token(home.value)
  if (context.flags.json === true) printJson(context, { rotated: true })
  else {
    const path = safeLine(`${tilde(ports, home.value)}/control-token`)
    printLines(context, [`a new token is in ${path}; the old one no longer holds`])
  }
  return exits.done
}
