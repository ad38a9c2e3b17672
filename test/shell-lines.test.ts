/** What a line runs, as values, from the tree that the real parser makes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ShellCommand } from '../src/domain/shell/command.ts'
import { commandsOf } from '../src/domain/shell/commands.ts'
import { wordText } from '../src/domain/shell/words.ts'
import { openShellParser } from '../src/exec/shell/parser.ts'

const { read } = await openShellParser({ monotonic: () => performance.now() })

/** A command in one text: words, `…` for what is not known, and what is known of it. */
function shown(command: ShellCommand): string {
  const words = command.argv.map((word) => (typeof word === 'string' ? word : `${word.starts}…`))
  const { folder, env_names, redirects, wrapped_by } = command
  return [
    words.join(' '),
    ...(command.certain ? [] : [`? ${command.doubt}`]),
    ...(wrapped_by.length > 0 ? [`by ${wrapped_by.join(' ')}`] : []),
    ...(env_names.length > 0 ? [`env ${env_names.join(' ')}`] : []),
    ...(folder === null ? [] : [`in ${typeof folder === 'string' ? folder : '…'}`]),
    ...redirects.map(({ op, to }) => `${op} ${typeof to === 'string' ? to : '…'}`),
  ].join(' | ')
}

const table: readonly (readonly [string, readonly string[]])[] = [
  ['git push origin v2', ['git push origin v2']],
  ['"g"it pu\\sh \'a b\' "c d"', ['git push a b c d']],
  ['A=1 B=2 env C=3 nice -n 5 ls', ['ls | by env nice | env A B C']],
  [
    'timeout -k 5 60 bash -lc "cd a && ls; pwd"',
    ['cd a | by timeout bash', 'ls | by timeout bash | in a', 'pwd | by timeout bash | in …'],
  ],
  ['sudo -u me ls', ['sudo -u me ls', 'ls | by sudo']],
  ["ssh host 'cd x; ls'", ['ssh host cd x; ls', 'cd x | by ssh | in …', 'ls | by ssh | in …']],
  ['find . -name "*.ts" -exec rm {} +', ['find . -name *.ts -exec rm {} +', 'rm … | by find']],
  ['ls | xargs -n 1 rm', ['ls', 'rm … | by xargs']],
  ['command -v git', ['command -v git']],
  ['git -C sub status', ['git -C sub status | in sub']],
  ['ls > out 2>&1 x', ['ls x | write out']],
  ['> out ls', ['ls | write out']],
  ['cat <<E >> log\n$(pwd)\nE', ['pwd', 'cat | append log']],
  ['echo "$(date)" `id` <(ls)', ['date', 'id', 'ls', 'echo … … …']],
  ['(cd a && ls) && pwd', ['cd a', 'ls | in a', 'pwd']],
  ['cd a || ls', ['cd a', 'ls | in …']],
  ['cd a && cd b && ls', ['cd a', 'cd b | in a', 'ls | in a/b']],
  ['while ls; do cd ..; done', ['ls | in …', 'cd .. | in …']],
  ['rm ~/x *.log {a,b} "$X/y"', ['rm /… … … …']],
  ['$X y', ['… y | ? unknown_program']],
  ['eval "git push"', ['eval git push | ? runs_text', 'git push | ? runs_text | by eval']],
  ['cat x | sh', ['cat x', 'sh | ? runs_text']],
  ['PATH=/x ls', ['ls | ? environment | env PATH']],
  ['f() { ls; }; f', ['ls | ? redefined', 'f | ? redefined']],
  ['env -S "git push"', ['env -S git push | ? unknown_wrapper']],
  ['git st', ['git st | ? unknown_wrapper']],
  ['ls "', ['ls | ? unparsed']],
  ['fo\\\no', ['fo o | ? unparsed']],
  ['X=1', []],
  ['# ls', []],
]

test('each line is the commands that it runs', () => {
  const found = table.map(([line]) => [line, commandsOf(line, read).map(shown)])
  assert.deepEqual(found, table)
})

test('lines within lines end at a depth, in doubt', () => {
  let line = 'ls'
  for (let times = 0; times < 12; times += 1) line = `bash -c ${JSON.stringify(line)}`
  const commands = commandsOf(line, read)
  assert.deepEqual(
    commands.map(shown).map((one) => one.split(' | by')[0]),
    [' | ? too_deep'],
  )
})

/** What of a line is in doubt, where it is another part than the command that is judged first. */
const doubtful: readonly (readonly [string, string])[] = [
  ['date +%s%3N; echo $((e-s))', '$((e-s))'],
  ['echo $(whoami); eval "$CMD"; python3 x', 'eval …'],
  ['date; . ./env.sh', '. ./env.sh'],
  ['ls; PATH=/tmp/x make', 'PATH'],
  ['ls; f() { rm x; }; f', 'f() { rm x; }'],
  ['ls; echo ${x@P}', '${x@P}'],
  ['ls; alias ls=rm', 'alias ls=rm'],
  ['ls; [[ x -eq 1 ]]', '[[ x -eq 1 ]]'],
  ["ls; x='a[$(id)]'", "x='a[$(id)]'"],
  ['ls (', 'the line'],
]

test('a doubt about a line names the part that makes it', () => {
  for (const [line, part] of doubtful) {
    const [first] = commandsOf(line, read)
    assert.equal(first?.certain === false && first.in_doubt, part, line)
  }
  const [, own] = commandsOf('ls; "$X" y', read)
  assert.equal(own?.certain === false && own.in_doubt, null, 'the command itself')
})

test('what is below ~ is shown as the line has it', () => {
  const lines = ['cat ~/x "~/y" ~ada/z a~ ~/"a b"', 'ls > ~/out']
  const shownIn = lines.map((line) => {
    const [command] = commandsOf(line, read)
    return [...(command?.argv ?? []), ...(command?.redirects ?? []).map(({ to }) => to)].map(
      wordText,
    )
  })
  assert.deepEqual(shownIn, [
    ['cat', '~/x', "'~/y'", '~ada/z', "'a~'", '~/"a b"'],
    ['ls', '~/out'],
  ])
})
