import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { without } from '../../testing/programs.ts'
import {
  lastingPath,
  launchdLabel,
  launchdPlist,
  serviceFileName,
  serviceName,
  systemdUnit,
} from './autostart-files.ts'

const file = {
  name: 'holon',
  command: ['/opt/node 26/bin/node', '/opt/holon/bin/holon.mjs'],
  home: '/var/lib/my "home" 100%',
  log_path: '/var/lib/my "home" 100%/daemon.log',
  path: '/usr/bin:/opt/$x',
}

test('a unit starts this very program, leaves commands alone, and stays stopped', () => {
  const lines = systemdUnit(file, '~/x').split('\n')
  const of = (name: string) => lines.filter((line) => line.startsWith(`${name}=`))
  assert.deepEqual(
    [...of('ExecStart'), ...of('Environment'), ...of('KillMode'), ...of('Restart')],
    [
      String.raw`ExecStart="/opt/node 26/bin/node" "/opt/holon/bin/holon.mjs" "serve" "--log-file" ` +
        String.raw`"/var/lib/my \"home\" 100%%/daemon.log"`,
      String.raw`Environment="HOLON_HOME=/var/lib/my \"home\" 100%%"`,
      'Environment="PATH=/usr/bin:/opt/$x"',
      'KillMode=process',
      'Restart=on-failure',
    ],
  )
})

test('a dollar of a word is no variable to systemd', () => {
  const unit = systemdUnit({ ...file, command: ['/opt/$HOME/node'] }, '~/x')
  assert.match(unit, /^ExecStart="\/opt\/\$\$HOME\/node" "serve"/m)
})

test('a property list is well-formed XML with every text escaped', (t) => {
  const lacking = without('python3')
  if (lacking !== false) return t.skip(lacking)
  const folder = mkdtempSync(join(tmpdir(), 'holon-plist-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'a.plist')
  const odd = {
    name: 'holon&<x>',
    command: ['/n&<>'],
    home: '/a&b<c>',
    log_path: '/l&b<c>',
    path: '/p&b<c>',
  }
  writeFileSync(path, launchdPlist(odd))
  const read =
    'import plistlib,json,sys;d=plistlib.load(open(sys.argv[1],"rb"));print(json.dumps(d))'
  const ran = spawnSync('python3', ['-c', read, path], { encoding: 'utf8' })
  assert.equal(ran.status, 0, ran.stderr)
  const parsed = JSON.parse(ran.stdout) as Record<string, unknown>
  assert.deepEqual(
    [
      parsed['Label'],
      parsed['ProgramArguments'],
      parsed['EnvironmentVariables'],
      parsed['StandardOutPath'],
      parsed['StandardErrorPath'],
      parsed['AbandonProcessGroup'],
    ],
    [
      launchdLabel('holon&<x>'),
      [...odd.command, 'serve', '--log-file', odd.log_path],
      { HOLON_HOME: odd.home, PATH: odd.path },
      odd.log_path,
      odd.log_path,
      true,
    ],
  )
})

test('the usual home is called holon, another by its last folder', () => {
  const names: [home: string, name: string][] = [
    ['/u/holon', 'holon'],
    ['/u/work', 'holon-work'],
    ['/srv/My Agents/', 'holon-my-agents'],
    ['/other/holon', 'holon-home'],
    ['/', 'holon-home'],
  ]
  assert.deepEqual(
    names.map(([home]) => [home, serviceName(home, '/u/holon')]),
    names,
  )
  assert.deepEqual(
    [serviceFileName('systemd', 'holon'), serviceFileName('launchd', 'holon')],
    ['holon.service', 'dev.holon.holon.plist'],
  )
})

test('the examples are what is printed today', () => {
  const home = '/home/you/.local/state/holon'
  const you = {
    name: 'holon',
    command: ['/opt/holon/node_modules/.bin/node', '/opt/holon/bin/holon.mjs'],
    home,
    log_path: `${home}/daemon.log`,
    path: '/usr/local/bin:/usr/bin:/bin',
  }
  const folder = join(import.meta.dirname, '..', '..', '..', 'examples', 'service')
  const kept = ['holon.service', 'dev.holon.holon.plist'].map((name) =>
    readFileSync(join(folder, name), 'utf8'),
  )
  assert.deepEqual(kept, [
    systemdUnit(you, '~/.config/systemd/user/holon.service'),
    launchdPlist(you),
  ])
})

test('a service is given no folder that goes with the shell that printed it', () => {
  const lasting = ['/usr/bin', '/srv/a/.local/bin', '/opt/node 26/bin', '/tmpfiles/bin']
  const passing = [
    '/srv/a/.npm/_npx/5f3c/node_modules/.bin',
    '/srv/a/project/node_modules/.bin',
    '/srv/a/.npm/bin',
    '/tmp/person/bin',
    '/tmp',
    '/var/tmp/x',
    '/private/t/x',
    'node_modules/.bin',
    '',
  ]
  const mixed = passing.flatMap((one, n) => [one, lasting[n % lasting.length] ?? ''])
  assert.equal(lastingPath(mixed.join(':'), '/private/t'), lasting.join(':'))
  assert.equal(lastingPath(passing.join(':'), '/private/t'), '/usr/local/bin:/usr/bin:/bin')
})
