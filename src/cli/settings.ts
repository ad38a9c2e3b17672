/**
 * Where each setting comes from: flag, then environment, then configuration, then default. Every
 * command that needs one asks here, and `config show` prints the same answers.
 */
import type { Config } from '../protocol/config.ts'
import type { CliPorts } from './ports.ts'

export type Source = string

export type Setting<T> = { value: T; source: Source }

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

/** What is asked for now, without what an agent has stored: see `run-target.ts` for that. */
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

/** `~` and `~/…` name the user's home folder. */
export const expand = (ports: Pick<CliPorts, 'user_home'>, path: string): string =>
  path === '~' || path.startsWith('~/') ? `${ports.user_home}${path.slice(1)}` : path

/** The reverse, for people. */
export const tilde = (ports: Pick<CliPorts, 'user_home'>, path: string): string =>
  path === ports.user_home || path.startsWith(`${ports.user_home}/`)
    ? `~${path.slice(ports.user_home.length)}`
    : path
