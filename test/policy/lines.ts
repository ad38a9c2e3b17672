/**
 * Lines of a shell from a grammar: wrappers, separators, quoting, and places where a command can
 * stand. Some of them run `forbid` and some do not; only bash knows.
 */

/** Whole numbers below `n`, from a seed. */
export type Draw = (n: number) => number

export function drawing(seed: number): Draw {
  let state = seed >>> 0
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n
  }
}

const programs = [
  ...['forbid', 'forbid', 'forbid', '"forbid"', "'forbid'", 'fo"rb"id', '\\forbid', 'for\\bid'],
  ...["$'forbid'", '$(echo forbid)', '`echo forbid`', '$P', '${P}', '"$P"', '{forbid,x}'],
  ...['"$STUBS/forbid"', '$STUBS/forbid', 'forb\\\nid', "$'\\x66orbid'", '${P:-x}', '~/forbid'],
  ...['./forb*', 'unforbid', 'echo', 'true', 'ls', 'forbid2', '"for"$E"bid"', '$E forbid'],
]
const args = [
  ...['', '', '', ' x', ' -f', " 'forbid'", ' "$(forbid y)"', ' <(forbid)', ' `forbid`', ' $((1))'],
  ...[' "a b"', ' *', ' >o', ' 2>&1', ' >o x', ' # forbid', ' {}', ' -- x', ' "${Z:-$(forbid)}"'],
]
const prefixes = [
  ...['', '', '', '', 'A=1 ', '>o ', '2>&1 ', '! ', 'A=$(forbid) ', '</dev/null ', 'A=1 B=2 '],
]
const wrappers = [
  ...['env ', 'env A=1 ', 'env -u X ', 'env -- ', 'env - PATH="$PATH" LOG="$LOG" ', 'nice '],
  ...['nice -n 5 ', 'nice -n5 ', 'nice -5 ', 'nohup ', 'timeout 5 ', 'timeout -k 1 5 '],
  ...['timeout --signal=KILL 5 ', 'time ', 'time -p ', 'stdbuf -oL ', 'stdbuf -o L ', 'command '],
  ...['command -p -- ', 'command -v ', 'exec ', 'exec -a z ', 'builtin ', 'setsid -w ', 'sudo '],
  ...['sudo -u root ', 'sudo A=1 ', 'unknownwrap ', 'ssh host ', 'npx ', 'echo a | xargs '],
  ...['echo a | xargs -n 1 ', 'echo a | xargs -I{} ', 'echo forbid | xargs ', 'coproc '],
  ...['/usr/bin/env ', 'env -S ', 'timeout 5 nice ', 'echo forbid | ', 'xargs -a /dev/null '],
]

/** Each has the line in place of `@`; in single quotes where it stands as `#`. */
const frames = [
  ...['(@)', '{ @\n}', 'if true; then @\nfi', 'for i in 1; do @\ndone', 'if @\nthen :; fi'],
  ...['while true; do @\nbreak; done', 'case x in x) @\n;; esac', 'f() { @\n}; f', 'echo "$(@\n)"'],
  ...['X=$(@\n)', '[[ -n $(@\n) ]]', 'echo "${X:-$(@\n)}"', 'cat <<E\n$(@\n)\nE', 'echo <(@\n)'],
  ...["bash -c '#'", "sh -c '#'", "bash -ec '#'", "bash -lc '#'", "eval '#'", "trap '#' EXIT"],
  ...["bash <<'E'\n@\nE", "bash -s <<< '#'", "echo '#' | bash", "bash -c 'eval \"$0\"' '#'"],
  ...["find . -maxdepth 0 -exec bash -c '#' \\;", 'ls() { @\n}; ls', "cat > o <<'E'\n@\nE"],
  ...[
    "echo '#'",
    'true # @',
    "shopt -s expand_aliases\nalias ls='#'\nls",
    'until @\ndo break; done',
  ],
  ...["env bash -c '#'", "timeout 5 sh -c '#'", "bash -c -- '#'", 'A=\'#\'; eval "$A"', ': "@"'],
  ...[
    "source /dev/stdin <<'E'\n@\nE",
    "bash -c '#' forbid x",
    "A='#'; $A",
    'select x in a; do @\ndone',
  ],
]
const separators = ['; ', ' && ', ' || ', ' | ', ' & ', '\n', ' |& ']

const pick = <T>(draw: Draw, of: readonly T[]): T => of[draw(of.length)] as T

function command(draw: Draw): string {
  const wrapped = Array.from({ length: draw(3) }, () => pick(draw, wrappers)).join('')
  const find = draw(12) === 0 ? ['find . -maxdepth 0 -exec ', ' {} \\;'] : ['', '']
  const called = `${pick(draw, programs)}${pick(draw, args)}`
  return `${pick(draw, prefixes)}${find[0]}${wrapped}${called}${find[1]}`
}

const quoted = (text: string) => text.replaceAll("'", String.raw`'\''`)

export function lineOf(draw: Draw): string {
  let line = Array.from({ length: 1 + draw(2) }, () => command(draw)).reduce(
    (left, right) => `${left}${pick(draw, separators)}${right}`,
  )
  for (let times = draw(3); times > 0; times -= 1) {
    const frame = pick(draw, frames)
    const inner = line
    line = frame.replace(/[@#]/, (sign) => (sign === '@' ? inner : quoted(inner)))
  }
  return draw(6) === 0 ? `P=forbid; E=; ${line}` : line
}
