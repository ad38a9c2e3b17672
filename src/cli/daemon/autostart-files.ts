/**
 * The files that let the system's service manager run the daemon at login: a systemd user unit, or
 * a launchd property list. Pure text. Both leave commands running when the daemon stops, as a kill
 * would, and neither starts it again when it was told to stop.
 */

export type ServiceFile = {
  /** The name under which the manager knows it. */
  name: string
  /** Absolute: the program and the words that make it `holon`. */
  command: readonly string[]
  home: string
  log_path: string
  /** The PATH that commands of agents search. */
  path: string
}

export const launchdLabel = (name: string): string => `dev.holon.${name}`

export const serviceFileName = (platform: 'systemd' | 'launchd', name: string): string =>
  platform === 'systemd' ? `${name}.service` : `${launchdLabel(name)}.plist`

/** Within double quotes of a unit: backslash, quote and dollar escape, `%` begins a specifier. */
const quoted = (word: string): string =>
  `"${word.replaceAll(/[\\"]/g, '\\$&').replaceAll('$', '$$$$').replaceAll('%', '%%')}"`

/** Assignments are not searched for variables: a dollar stands for itself. */
const assigned = (name: string, value: string): string =>
  `"${name}=${value.replaceAll(/[\\"]/g, '\\$&').replaceAll('%', '%%')}"`

/** The value of `append:` runs to the end of the line, unquoted. */
const plain = (path: string): string => path.replaceAll('%', '%%')

const keys = 'Keys in your shell do not reach it: name files in providers.<id>.api_key_file.'

/** `place`: where the file belongs, as a person writes it. */
export function systemdUnit(file: ServiceFile, place: string): string {
  const { name, command, home, log_path, path } = file
  const words = [...command, 'serve', '--log-file', log_path].map(quoted).join(' ')
  return `# Save it as ${place}, then: systemctl --user enable --now ${name}.service
# Without a login it starts with: loginctl enable-linger. ${keys}
[Unit]
Description=Holon, long-lived agents
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=exec
ExecStart=${words}
Environment=${assigned('HOLON_HOME', home)}
Environment=${assigned('PATH', path)}
StandardOutput=append:${plain(log_path)}
StandardError=append:${plain(log_path)}
# Commands of agents outlive the daemon and are found again by the next one.
KillMode=process
TimeoutStopSec=20
Restart=on-failure
RestartSec=2
# Wrong usage, and a home that another process owns, are not mended by trying again.
RestartPreventExitStatus=2 4

[Install]
WantedBy=default.target
`
}

const doctype =
  '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" ' +
  '"http://www.apple.com/DTDs/PropertyList-1.0.dtd">'

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

export function launchdPlist(file: ServiceFile): string {
  const { name, command, home, log_path, path } = file
  const words = [...command, 'serve', '--log-file', log_path]
  const place = `~/Library/LaunchAgents/${serviceFileName('launchd', name)}`
  return `<?xml version="1.0" encoding="UTF-8"?>
${doctype}
<!-- Save it as ${place}, then: launchctl load -w ${place}
     ${keys} -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${escaped(launchdLabel(name))}</string>
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    <string>${escaped(word)}</string>`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>HOLON_HOME</key>
    <string>${escaped(home)}</string>
    <key>PATH</key>
    <string>${escaped(path)}</string>
  </dict>
  <key>StandardOutPath</key>
  <string>${escaped(log_path)}</string>
  <key>StandardErrorPath</key>
  <string>${escaped(log_path)}</string>
  <key>Umask</key>
  <integer>63</integer>
  <!-- Commands of agents outlive the daemon and are found again by the next one. -->
  <key>AbandonProcessGroup</key>
  <true/>
  <key>ExitTimeOut</key>
  <integer>20</integer>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
</dict>
</plist>
`
}

/** `holon` for the usual home; another home gets a name of its own, from its last folder. */
export function serviceName(home: string, usualHome: string): string {
  if (home === usualHome) return 'holon'
  const last = home.split(/[\\/]/).findLast((part) => part !== '') ?? ''
  const slug = last
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  return slug === '' || slug === 'holon' ? 'holon-home' : `holon-${slug}`
}

/**
 * The folders of a `PATH` that are still there when the shell that had it is gone: none of a runner
 * of packages, of a project, or of the temporary folder.
 */
export function lastingPath(path: string, temporary: string): string {
  const isBelow = (folder: string): boolean =>
    [temporary, '/tmp', '/var/tmp'].some((base) => `${folder}/`.startsWith(`${base}/`))
  const passing = /(?:^|\/)(?:_npx|node_modules|\.npm)(?:\/|$)/
  const kept = path
    .split(':')
    .filter((folder) => folder.startsWith('/') && !isBelow(folder) && !passing.test(folder))
  return kept.length === 0 ? '/usr/local/bin:/usr/bin:/bin' : [...new Set(kept)].join(':')
}
