/**
 * Where each setting comes from: flag, then environment, then configuration, then default. Every
 * command that needs one asks here, and `config show` prints the same answers.
 */
import type { Config } from '../../protocol/config.ts'
import type { LogLevel } from '../../ports/daemon.ts'
import { logLevels } from './daemon-ports.ts'
import { usage } from './failure.ts'
import type { CliPorts } from './ports.ts'

export type SettingSource = string

export type Setting<T> = { value: T; source: SettingSource }

/** Flags that every command takes. */
export type GlobalFlags = {
  home?: string
  json?: boolean
  utc?: boolean
  wide?: boolean
  plain?: boolean
  quiet?: boolean
  color?: boolean
  ascii?: boolean
}

export function homeSetting(ports: CliPorts, flag: string | undefined): Setting<string> {
  if (flag !== undefined) return { value: ports.absolute(expand(ports, flag)), source: '--home' }
  const { holon_home } = ports.environment
  if (holon_home !== undefined && holon_home !== '') {
    return { value: ports.absolute(expand(ports, holon_home)), source: 'HOLON_HOME' }
  }
  return { value: ports.default_home, source: 'default' }
}

export type ModelSetting = Setting<string | null>

/** What is asked for now, without what an agent has stored: see `run/target.ts` for that. */
export function modelSetting(
  ports: CliPorts,
  flag: string | undefined,
  config: Config,
  configFile: string,
): ModelSetting {
  if (flag !== undefined) return { value: flag, source: '--model' }
  const { holon_model } = ports.environment
  if (holon_model !== undefined && holon_model.trim() !== '') {
    return { value: holon_model.trim(), source: 'HOLON_MODEL' }
  }
  if (config.model !== undefined) return { value: config.model, source: configFile }
  return { value: null, source: 'default' }
}

/** The least important lines a daemon logs. Throws for a word that is no level. */
export function logLevelSetting(
  { environment: { holon_log } }: Pick<CliPorts, 'environment'>,
  flag: string | undefined,
  config: Config,
  configFile: string,
): Setting<LogLevel> {
  if (flag !== undefined)
    return { value: levelOf(`--log-level ${flag}`, flag), source: '--log-level' }
  const given = holon_log?.trim() ?? ''
  if (given !== '') return { value: levelOf(`HOLON_LOG=${given}`, given), source: 'HOLON_LOG' }
  if (config.log_level !== undefined) return { value: config.log_level, source: configFile }
  return { value: 'info', source: 'default' }
}

function levelOf(said: string, text: string): LogLevel {
  const level = logLevels.find((one) => one === text)
  if (level !== undefined) return level
  throw usage('bad_level', `${said} is no level`, `the levels are ${logLevels.join(', ')}`)
}

/** `~` and `~/…` name the user's home folder. */
export const expand = (ports: Pick<CliPorts, 'user_home'>, path: string): string =>
  path === '~' || path.startsWith('~/') ? `${ports.user_home}${path.slice(1)}` : path

/** The reverse, for people. */
export const tilde = (ports: Pick<CliPorts, 'user_home'>, path: string): string =>
  path === ports.user_home || path.startsWith(`${ports.user_home}/`)
    ? `~${path.slice(ports.user_home.length)}`
    : path
