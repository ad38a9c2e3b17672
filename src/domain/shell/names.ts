/** Names that mean something to the shell, as data. */

/** Commands of the shell itself that run no other: their program is not looked for. */
export const builtins: ReadonlySet<string> = new Set(
  `: [ alias bg break cd continue declare dirs disown echo exit export false fg getopts hash help
  jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift
  shopt suspend test times true type typeset ulimit umask unalias unset wait`.split(/\s+/),
)

/**
 * Programs of whose arguments none is the name of a program that they run: there it is a word. Of
 * any other program a rule asks whether what stands behind it is what the rule is about.
 */
export const speakers: ReadonlySet<string> = new Set(
  `${[...builtins].join(' ')} basename cat cp cut date df diff dirname du egrep fgrep file grep head
  ln ls mkdir mktemp mv printenv realpath rg rm rmdir seq sleep stat tail tee touch tr tree uname
  uniq wc which whoami git npm gh sort sed awk gawk jq yq tar zip unzip gzip gunzip sha256sum md5sum
  find base64 od xxd hexdump strings less more cmp comm join paste fold fmt nl split csplit shuf
  tac rev
  test expr id groups hostname uptime ps free lsof kill pkill chmod chown chgrp install rsync curl
  wget node deno python python3 pytest ruby perl php java javac tsc oxlint oxfmt eslint prettier
  vitest jest mocha cargo rustc go gofmt gcc g++ clang cc ld make cmake mvn gradle dotnet pip pip3
  yarn pnpm sqlite3 psql mysql apt apt-get dpkg brew systemctl journalctl bubblewrap holon`.split(
    /\s+/,
  ),
)

/** Run a text or a file that they are given; without the version behind their names. */
export const interpreters: ReadonlySet<string> = new Set(
  `node nodejs deno bun tsx ts-node python pypy ruby perl php lua luajit java jshell groovy scala
  tclsh wish rscript julia guile racket sbcl erl elixir iex ghci osascript pwsh powershell awk gawk
  mawk nawk sed make gmake just psql mysql mariadb sqlite vim vi ex emacs ed dc bc m4 gdb`.split(
    /\s+/,
  ),
)

/** Speak to whatever machine they are told. */
export const callers: ReadonlySet<string> = new Set(
  `curl wget ssh scp sftp rsync nc ncat netcat socat telnet ftp lftp http https xh aria`.split(
    /\s+/,
  ),
)

/** Run what they are given as text, or change what is run later in the line. */
export const textRunners: ReadonlySet<string> = new Set(
  `eval source . trap fc bind complete compgen enable coproc history`.split(/\s+/),
)

/** Give the name of a program another meaning. */
export const redefiners: ReadonlySet<string> = new Set(['alias', 'hash'])

/** Builtins that take the name of a variable, which may hold a subscript that is run. */
export const assigners: ReadonlySet<string> = new Set(
  `read mapfile readarray printf getopts declare typeset export local readonly unset let test [
  wait`.split(/\s+/),
)

export const shells: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'dash',
  'zsh',
  'ksh',
  'mksh',
  'ash',
  'rbash',
  'fish',
  'csh',
  'tcsh',
])

/** Variables that decide which program runs, or what it loads. */
export function decidesWhatRuns(name: string): boolean {
  return exactly.has(name) || beginnings.some((start) => name.startsWith(start))
}

const exactly: ReadonlySet<string> = new Set(
  `PATH ENV BASH_ENV IFS CDPATH HOME SHELL SHELLOPTS BASHOPTS BASH_CMDS BASH_ALIASES PS0 PS1 PS4
  PROMPT_COMMAND FPATH FCEDIT EDITOR VISUAL PAGER BROWSER MANPAGER LESSOPEN LESSCLOSE SSH_ASKPASS
  SUDO_ASKPASS RUBYOPT RUBYLIB XDG_CONFIG_HOME XDG_CONFIG_DIRS MAKEFLAGS JAVA_TOOL_OPTIONS
  CLASSPATH PERLLIB GCONV_PATH POSIXLY_CORRECT TZDIR`.split(/\s+/),
)
const beginnings = [
  ...[
    'LD_',
    'DYLD_',
    'GIT_',
    'NODE_',
    'PYTHON',
    'PERL5',
    'BASH_FUNC_',
    'npm_config_',
    'NPM_CONFIG_',
  ],
]

/** Shells whose lines are read as bash reads them. */
export const likeBash: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'dash',
  'ksh',
  'mksh',
  'ash',
  'rbash',
])

/** Commands of git that run nothing they are given; any other word may be an alias of anything. */
export const gitCommands: ReadonlySet<string> = new Set(
  `add am annotate apply archive blame branch bundle cat-file check-attr check-ignore
  check-ref-format
  checkout cherry cherry-pick clean clone commit commit-tree config count-objects describe diff
  diff-files diff-index diff-tree fetch for-each-ref format-patch fsck gc grep hash-object help init
  log ls-files ls-remote ls-tree maintenance merge merge-base merge-tree mv name-rev notes pack-refs
  prune pull push range-diff rebase reflog remote repack replace request-pull reset restore rev-list
  rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status stripspace
  submodule switch symbolic-ref tag update-index update-ref var verify-commit verify-tag version
  whatchanged worktree write-tree`.split(/\s+/),
)

/** Settings of git that name no program, as the beginning of their names. */
export const gitSettings: readonly string[] = [
  ...['user.', 'color.', 'advice.', 'log.', 'init.defaultbranch', 'commit.gpgsign=false'],
  ...['core.quotepath', 'core.autocrlf', 'diff.renames', 'pull.rebase', 'pull.ff', 'safe.'],
]

/** Options of git, or of one of its commands, that name a program. */
export const gitRunners: readonly string[] = [
  ...['--exec', '-x', '--upload-pack', '--receive-pack', '--exec-path', '--config-env', '--extcmd'],
  ...[
    '--open-files-in-pager',
    '-O',
    '--ext-diff',
    '--textconv',
    '--sendmail-cmd',
    '--edit-description',
  ],
]

/** A program of the machine's own by its path is what it is by its name. */
export const usualPath = /^(\/usr(\/local)?)?\/s?bin\//
