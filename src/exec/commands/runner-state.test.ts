// The runner's state file, as a table: text in, facts out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseProcStat, parseRunnerState, type RunnerState } from './runner-state.ts'

const stat = (pid: number, started: number) =>
  `${pid} (a (b) c) S 1 ${pid} ${pid} 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 ${started} 4169728 414`
const claim = `holon-runner 1 proc boot-1 ${stat(10, 500)}\n`
const command = `command ${stat(11, 501)}\n`

const whole = {
  claim: 'whole',
  kind: 'proc',
  boot: 'boot-1',
  runner: { pid: 10, started: '500' },
  command: { pid: 11, started: '501' },
  session: null,
  mark: null,
  reader: null,
} as const
const exited = { how: 'exited', exit_status: 0, signal: null, problem: null } as const
const killed = { ...exited, how: 'signalled', exit_status: null, signal: 'SIGKILL' } as const

const cases: [string, string, RunnerState][] = [
  ['nothing', '', { claim: 'torn' }],
  ['a claim without its newline', claim.trimEnd(), { claim: 'torn' }],
  ['a claim without an identity', 'holon-runner 1 proc boot-1 x\n', { claim: 'torn' }],
  ['another format', 'holon-runner 2 x y z\n', { claim: 'foreign', format: '2' }],
  ['something else', 'hello\n', { claim: 'foreign', format: 'unknown' }],
  ['a claim', claim, { ...whole, command: null, end: null }],
  ['a command', claim + command, { ...whole, end: null }],
  [
    'a mark and what runs inside a terminal, which are no words of a death',
    `${claim}${command}mark 2305\nsession ${stat(12, 502)}\nexit 130\n`,
    {
      ...whole,
      session: { pid: 12, started: '502' },
      mark: '2305',
      end: { ...exited, exit_status: 130 },
    },
  ],
  [
    'readers one after the other, and the output that the second one missed',
    `${claim}reader ${stat(20, 510)}\n${command}reader ${stat(21, 511)}\n` +
      'lost stdout 7\nlost stderr 0\nexit 0\n',
    {
      ...whole,
      reader: { pid: 21, started: '511' },
      end: {
        ...exited,
        problem: 'output may be missing: stdout from byte 7 on, stderr from byte 0 on',
      },
    },
  ],
  ['a torn exit line', `${claim}${command}exit 0`, { ...whole, end: null }],
  ['an exit line that is not one', `${claim}${command}exit \n`, { ...whole, end: null }],
  ['an exit', `${claim}${command}exit 0\n`, { ...whole, end: exited }],
  [
    'a high exit status alone',
    `${claim}${command}exit 137\n`,
    { ...whole, end: { ...exited, exit_status: 137 } },
  ],
  [
    'a death named by bash',
    `${claim}${command}x: line 50: 11 Killed    ( begin )\nexit 137\n`,
    { ...whole, end: killed },
  ],
  ['a death named by sh', `${claim}${command}Killed\nexit 137\n`, { ...whole, end: killed }],
  [
    'a job list that names an exit',
    `${claim}${command}[1]+  Exit 137      begin\nexit 137\n`,
    { ...whole, end: { ...exited, exit_status: 137 } },
  ],
  [
    'a signal without a common name',
    `${claim}${command}Real-time signal 1\nexit 163\n`,
    { ...whole, end: { ...killed, signal: 'SIG35' } },
  ],
  [
    'a time limit',
    `${claim}${command}timeout\nTerminated\nexit 143\n`,
    { ...whole, end: { ...killed, how: 'timed_out', signal: 'SIGTERM' } },
  ],
  [
    'a failure to start',
    `${claim}${command}could_not_start workdir\nexit 126\n`,
    {
      ...whole,
      end: { how: 'could_not_start', exit_status: null, signal: null, problem: 'workdir' },
    },
  ],
  [
    'identities by ps',
    'holon-runner 1 ps - 10 Sat Nov 21 22:39:01 2026\n',
    {
      claim: 'whole',
      kind: 'ps',
      boot: '-',
      runner: { pid: 10, started: 'Sat Nov 21 22:39:01 2026' },
      command: null,
      session: null,
      mark: null,
      reader: null,
      end: null,
    },
  ],
]

for (const [name, text, expected] of cases) {
  test(`a state file with ${name}`, () => assert.deepEqual(parseRunnerState(text), expected))
}

test('a line of the process table that is cut, or of another shape, is no process', () => {
  const line = stat(10, 500)
  const found = { pid: 10, started: '500', state: 'S', parent: 1, group: 10, session: 10 }
  assert.deepEqual(parseProcStat(line), found)
  for (const other of [
    '',
    line.replaceAll(')', ''),
    line.replaceAll(/[()]/g, ''),
    line.replace(/^10/, 'x'),
    line.slice(0, line.indexOf(' 500')),
  ]) {
    assert.equal(parseProcStat(other), null, other)
  }
})

test('a death is named as both systems name it, and by its number where they differ', () => {
  const named = {
    1: 'SIGHUP',
    2: 'SIGINT',
    3: 'SIGQUIT',
    4: 'SIGILL',
    5: 'SIGTRAP',
    6: 'SIGABRT',
    7: 'SIG7',
    8: 'SIGFPE',
    9: 'SIGKILL',
    10: 'SIG10',
    11: 'SIGSEGV',
    13: 'SIGPIPE',
    14: 'SIGALRM',
    15: 'SIGTERM',
    16: 'SIG16',
  }
  const ended = (lines: string) => {
    const state = parseRunnerState(`${claim}${command}${lines}\n`)
    return state.claim === 'whole' ? state.end : state
  }
  for (const [number, signal] of Object.entries(named)) {
    const end = ended(`Killed\nexit ${128 + Number(number)}`)
    assert.deepEqual(end, { how: 'signalled', exit_status: null, signal, problem: null })
  }
  // Without a word of the shell it is an exit, and 128 is one in any case.
  assert.deepEqual(ended('exit 137'), { ...exited, exit_status: 137 })
  assert.deepEqual(ended('Killed\nexit 128'), { ...exited, exit_status: 128 })
  for (const word of ['[1]+  Done  x', '[1] Exit 3', '[12]-  Running x', 'timeout', 'no_room']) {
    const end = ended(`${word}\nexit 129`)
    assert.ok(end !== null && 'exit_status' in end, word)
    assert.equal(end.exit_status, 129, word)
  }
})
