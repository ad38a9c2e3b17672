/**
 * `holon doctor`: whether home, secrets, ledger, daemon, wakes and model are well, each with what
 * to do; and with `--verify`, whether the rows equal the fold of the events. Exit 1 when something
 * is not.
 */
import { failureSentence } from '../../client/api.ts'
import { readAgents } from '../../client/home-reads.ts'
import { glyph, painted, type Mark } from '../../present/text/marks.ts'
import { safeLine } from '../../present/text/safe.ts'
import { since } from '../../present/text/span.ts'
import { padEnd } from '../../present/text/width.ts'
import type { Config } from '../../protocol/config.ts'
import { conservation } from '../../protocol/views/conservation.ts'
import { readConfig } from '../command/config-file.ts'
import {
  hookChecks,
  invariantCheck,
  keyChecks,
  ok,
  policyCheck,
  type DoctorCheck,
} from './doctor-checks.ts'
import { printJson, printLines, reading, zoneOf, type Context } from '../command/context.ts'
import { asFailure, exits, tokenExplained, type Exit } from '../command/failure.ts'
import { failureOf } from '../command/records.ts'
import { sandboxCheckOf, type Guards } from '../command/guards.ts'
import { modelSetting, tilde } from '../command/settings.ts'
import { smallWindow } from '../command/small-window.ts'

export async function doctor(context: Context, options: { verify?: boolean }): Promise<Exit> {
  const checks: DoctorCheck[] = []
  checks.push(...(await homeChecks(context)))
  const { check, config } = await configCheck(context)
  checks.push(check, ...(await keyChecks(context, config)))
  checks.push(...(await secretChecks(context, config)))
  try {
    const guards = await context.ports.guards(context.home.value, config)
    checks.push({ name: 'sandbox', ...sandboxCheckOf(guards) })
    checks.push(...(await ledgerChecks(context, { config, guards }, options.verify === true)))
  } catch (error) {
    const failure = asFailure(error)
    if (failure === null) throw error
    const { detail, hint } = failure.problem
    checks.push({ level: 'fail', name: 'ledger', says: detail, do: hint })
  }
  const failed = checks.filter(({ level }) => level === 'fail').length
  if (context.flags.json === true) printJson(context, { checks })
  else printLines(context, text(context, checks, options.verify === true))
  return failed > 0 ? exits.failed : exits.done
}

const marks = { ok: 'done', warn: 'unknown', fail: 'failed' } as const satisfies Record<
  string,
  Mark
>

function text(context: Context, checks: readonly DoctorCheck[], verified: boolean): string[] {
  const { ink } = context
  const wide = Math.max(...checks.map(({ name }) => name.length))
  const lines = checks.flatMap(({ level, name, says, do: remedy }) => {
    const head = `${glyph(marks[level], ink)} ${padEnd(level, 4)}  ${padEnd(name, wide)}  `
    const line = painted(`${head}${safeLine(says)}`, marks[level], ink)
    return remedy === null ? [line] : [line, `${' '.repeat(wide + 10)}do: ${safeLine(remedy)}`]
  })
  const count = (level: DoctorCheck['level']) =>
    checks.filter((check) => check.level === level).length
  const parts = [
    `${count('ok')} ok`,
    ...(count('warn') === 0 ? [] : [`${count('warn')} to look at`]),
    ...(count('fail') === 0 ? [] : [`${count('fail')} failed`]),
  ]
  const hint = verified ? '' : '; holon doctor --verify refolds the ledger'
  return [...lines, parts.join(', ') + hint]
}

async function homeChecks(context: Context): Promise<DoctorCheck[]> {
  const { ports, home } = context
  const name = tilde(ports, home.value)
  const facts = await ports.home_facts(home.value)
  if (!facts.exists) return [ok('home', `${name} is not made yet: the first run makes it`)]
  if (!facts.is_folder) {
    const says = `${name} is a file, not a folder`
    return [{ level: 'fail', name: 'home', says, do: 'choose another with --home or HOLON_HOME' }]
  }
  const mode = facts.mode === null ? '' : `, 0${facts.mode.toString(8)}`
  const free = facts.free_bytes === null ? '' : `, ${gigabytes(facts.free_bytes)} free`
  const checks: DoctorCheck[] = []
  const open = facts.mode !== null && (facts.mode & 0o077) !== 0
  checks.push(
    open
      ? {
          level: 'fail',
          name: 'home',
          says: `${name} can be read by others${mode}`,
          do: `chmod 700 ${name}`,
        }
      : ok('home', `${name}${mode}${free}`),
  )
  if (facts.free_bytes !== null && facts.free_bytes < lowDisk) {
    const says = `only ${gigabytes(facts.free_bytes)} are free`
    checks.push({
      level: 'warn',
      name: 'disk',
      says,
      do: 'make room: a full disk stops every turn',
    })
  }
  return checks
}

/** Bytes of free disk below which somebody should look. */
const lowDisk = 1024 ** 3

const gigabytes = (bytes: number): string =>
  bytes < 1024 ** 3 ? `${Math.round(bytes / 1024 ** 2)} MB` : `${Math.round(bytes / 1024 ** 3)} GB`

async function configCheck(context: Context): Promise<{ check: DoctorCheck; config: Config }> {
  const { ports, home } = context
  try {
    const { config, path } = await readConfig(ports, home.value)
    const model = modelSetting(ports, undefined, config, tilde(ports, path))
    const says = 'no model is set; runbooks need none'
    const remedy = 'give --model provider/model, set HOLON_MODEL, or: holon config set model …'
    const small = smallWindow(config, model.value)
    const larger = 'set a model with a larger window, or correct models.….context_window'
    return {
      config,
      check:
        model.value === null
          ? { level: 'warn', name: 'model', says, do: remedy }
          : small === null
            ? ok('model', `${model.value}, from ${model.source}`)
            : { level: 'warn', name: 'model', says: small, do: larger },
    }
  } catch (error) {
    const failure = asFailure(error)
    if (failure === null) throw error
    const { detail, hint } = failure.problem
    return { config: {}, check: { level: 'fail', name: 'config', says: detail, do: hint } }
  }
}

/** Files with secrets that others can read, and secrets that enable nothing. */
async function secretChecks({ ports, home }: Context, config: Config): Promise<DoctorCheck[]> {
  const problems = await ports.secret_problems(home.value, config)
  return problems.map(({ message, hint }) => {
    return { level: 'fail', name: 'secret', says: message, do: hint }
  })
}

/** Who owns the home: its daemon, a run, or nobody. */
async function ownerCheck(context: Context): Promise<DoctorCheck> {
  const { ports, home } = context
  const [owner, pid] = await Promise.all([
    ports.owner(home.value),
    ports.daemon.running(home.value),
  ])
  if (owner === null) return ok('daemon', 'not running; holon start keeps agents alive')
  const zone = zoneOf(context)
  if (owner.pid !== pid) {
    return ok('owner', `a holon run, pid ${owner.pid}, since ${since(owner.owner_since, zone)}`)
  }
  const found = await ports.daemon.api(home.value)
  if (found === null) return ok('daemon', `pid ${pid} is starting, or stopping`)
  const { started_at, url } = found.address
  const says = `pid ${pid}, up ${since(started_at, zone)}, ${url}`
  const ready = await found.api.get('/readyz')
  if (!ready.ok) {
    const why = failureSentence(ready.failure)
    return { level: 'fail', name: 'daemon', says: `${says}, not ready: ${why}`, do: 'holon logs' }
  }
  const read = await found.api.get('/agents', { limit: 1 })
  if (read.ok) return ok('daemon', says)
  const { has_control_token } = ports.environment
  const { detail, hint } = tokenExplained(failureOf(read.failure), has_control_token).problem
  return { level: 'fail', name: 'daemon', says: `${says}: ${detail}`, do: hint }
}

function ledgerChecks(
  context: Context,
  { config, guards }: { config: Config; guards: Guards },
  verify: boolean,
): Promise<DoctorCheck[]> {
  return reading(context, async (reader, moment) => {
    const stats = await reader.stats()
    const policy = await policyCheck(reader, guards)
    if (stats.schema === 0) return [policy, ok('ledger', 'none yet')]
    const size = `${(stats.bytes / 1024 ** 2).toFixed(1)} MB`
    const checks = [policy, ok('ledger', `schema ${stats.schema}, ${stats.events} events, ${size}`)]
    checks.push(await ownerCheck(context))
    const views = await readAgents(reader, moment)
    const lost = views.flatMap((view) => conservation(view))
    checks.push(
      lost.length === 0
        ? ok('wakes', 'every accepted message is accounted for')
        : {
            level: 'fail',
            name: 'wakes',
            says: lost.join('; '),
            do: 'this is a bug of holon: keep the home and report it',
          },
    )
    const workspaces = views.map(({ agent }) => agent.workspace.root)
    checks.push(...(await hookChecks(context, config, workspaces)))
    checks.push(await invariantCheck(reader, verify))
    if (!verify) return checks
    const report = await reader.verify()
    const [first, ...rest] = report.problems
    checks.push(
      first === undefined
        ? ok('verify', `${report.events} events fold to the ${report.rows} rows stored`)
        : {
            level: 'fail',
            name: 'verify',
            says: `${first}${rest.length === 0 ? '' : `; and ${rest.length} more`}`,
            do: 'keep this home, bring back a backup with holon restore <backup>, and report it',
          },
    )
    return checks
  })
}
