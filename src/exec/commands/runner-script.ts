/**
 * The shell that starts commands and outlives the daemon: one detached spawner per daemon reads a
 * task id per line and forks a runner for each (a fork of a 3 MB shell, where forking the daemon
 * itself would block it for milliseconds). It runs in bash (`set -m` keeps SIGINT working for what
 * it starts in the background) and in any POSIX sh.
 *
 * A task's folder has five files, `FORMAT` is their version: `command` (the program), `run`
 * (settings and environment, sourced), `state` (below), `stdout`, `stderr`. A command writes into
 * pipes, from which one reader for all commands of a spawner (`output-reader.ts`) fills the last
 * two, so that a program which opens /dev/stdout anew cannot empty them; in a terminal there are no
 * pipes. Input adds what `input.ts` tells, and confinement a script by which the shell runs the
 * program. `state` is made by one noclobber write, which is the claim, and then only appended to:
 *
 *   holon-runner 1 <kind> <boot id> <identity of the runner>     exclusive: the claim
 *   reader <identity of the reader>                              it has opened the pipes
 *   lost <stdout or stderr> <byte>                               output from there on is missing
 *   command <identity of the command>                            just before its exec
 *   mark <number>                                                its processes carry this mark
 *   session <identity>                                           what runs inside a terminal
 *   could_not_start <what> | timeout | no_room | <what the shell says of a death by signal>
 *   exit <status>                                                written last, whole, or not there
 *
 * An identity is /proc/self/stat (kind `proc`), or pid and start time by `ps` (kind `ps`). A line
 * counts only when it ends in a newline. The exit line goes to a file that already has its block,
 * so a full disk does not lose it; `no_room` says that the disk was full when the command ended.
 * The command gets its own session where `setsid` exists, else its
 * own group: a KILL of the group does not reach the runner, which stays to write the exit line.
 *
 * The mark is a limit on the time of real-time processes, a number of the task's own so high that
 * it limits nothing. A child inherits it through fork, exec, setsid and `env -i`, and loses it only
 * by setting that very limit, so a stop finds by it whoever cut every other tie (`stop.ts`). Under
 * another Holon's mark none is set: that one stays whole.
 */
import {
  KEEPER_CHECK_SECONDS,
  OUTPUT_CAP_BYTES,
  OUTPUT_HEAD_BYTES,
  TIMEOUT_GRACE_SECONDS,
} from '../limits.ts'

export const FORMAT = 1

/** Bytes that must find room at the end of a command: more than is left of a file's last block. */
const ROOM_BYTES = 16_384

/** How processes are told apart across pid reuse. */
export type IdentityKind = 'proc' | 'ps'

const identify: Record<IdentityKind, string> = {
  // A redirection of a builtin is opened by the subshell itself, so `self` is the subshell.
  proc: `
boot=-
{ IFS= read -r boot; } </proc/sys/kernel/random/boot_id
identify() { { IFS= read -r me; } </proc/self/stat; }`,
  ps: `
boot=-
identify() {
  me=$(exec sh -c 'echo $PPID')
  me="$me $(LC_ALL=C ps -o lstart= -p "$me")"
}`,
}

const runner = `
say() {  # a daemon that died has closed the pipe: that must not kill the runner
  trap '' PIPE
  printf '%s\\n' "$*" >&3
  trap - PIPE
}

could_not_start() { printf 'could_not_start %s\\n' "$1" >>"$d/state"; exit 126; }

room() {  # the settings are of no use any more: their file tells whether a block can be had
  printf '%${ROOM_BYTES}s' '' >>"$d/run"
  had=$?
  : >"$d/run"
  return "$had"
}

# Of a command's pipes out and err are what it writes, hold is open until its runner has seen its
# end, and by told its reader answers. The runner has each open in both directions, and so has the
# command its own: no pipe is at its end, and no writer killed, because there is no reader yet.
pipes() {
  case $stdin in
    none) mkfifo "$d/out" "$d/err" "$d/hold" "$d/told" ;;
    pipe) mkfifo "$d/out" "$d/err" "$d/hold" "$d/told" "$d/stdin.new" "$d/end" ;;
    terminal) mkfifo "$d/stdin.new" "$d/end" ;;
  esac 2>/dev/null || return
  [ "$stdin" != terminal ] || return 0
  command exec 6<>"$d/hold" 7<>"$d/told" 8<>"$d/out" 9<>"$d/err" || return
  piped=1
  trap '' PIPE
  printf '%s\\n' "$1" >&4
  trap - PIPE
}

# Without its folder a runner has no reader any more, and nothing to wait for.
heard() {
  until [ "$word" = "$1" ]; do
    IFS= read -r $patience word <&7 || [ -e "$d/told" ] || return
  done
}

# Returns when all that was written before the end, and a moment after it, is in the files. What is
# in a pipe is lost when nobody has it open: the runner has, until a reader says that it took it.
read_out() {
  word= patience=
  [ -n "$BASH_VERSION" ] && patience='-t 5'
  exec 4>&- 6>&-
  heard taken
  exec 8>&- 9>&-
  heard drained
}

begin() {
  identify
  printf 'command %s\\n' "$me" >&2
  if [ -n "$marks" ] && command ulimit -R "$mark" 2>/dev/null; then
    printf 'mark %s\\n' "$mark" >&2
  fi
  case $stdin in
    none) command exec >&8 2>&9 </dev/null ;;
    pipe) command exec >&8 2>&9 <"$d/stdin.new" ;;
    terminal) command exec >>"$d/stdout" 2>>"$d/stderr" </dev/null ;;
  esac || could_not_start output
  exec 6>&- 7>&- 8>&- 9>&-
  cd -- "$workdir" || could_not_start workdir
  [ -x "$shell" ] || could_not_start shell
  if [ "$stdin" = terminal ]; then set -- "$node" "$terminal" "$d" "$shell" "$caps" "$kind"
  else
    eval "$caps" || could_not_start caps
    set -- "$shell" \${confined:+"$d/confined"} "$d/command"
  fi
  [ -n "$setsid" ] && set -- "$setsid" "$@"
  give
  exec "$@"
}

keep() {  # holds the writing end of the command's input until it is told to let go
  exec 5<>"$d/end" 4>"$d/stdin.new" || exit 1
  mv "$d/stdin.new" "$d/stdin"
  patience= leader=
  [ -n "$BASH_VERSION" ] && patience='-t ${KEEPER_CHECK_SECONDS}'
  until read -r $patience word <&5; do
    while read -r word pid rest; do [ "$word" = command ] && leader=$pid; done <"$d/state"
    [ -e "/proc/$leader" ] || kill -0 "$leader" || exit 0
  done
}

# A TERM that comes between the start of the sleep and its name leaves no sleep behind.
doze() {
  nap=
  sleep "$1" & nap=$!
  [ -z "$over" ] || { kill "$nap"; exit 0; }
  wait "$nap"
}

# Whether the number of a command is another process's by now; what is gone is nobody's: as long as
# its group lives no other process can have the number.
stranger() {
  case $kind in
    proc)
      { IFS= read -r now; } <"/proc/$leader/stat" || return 1
      set -- \${now##*) }
      shift 19
      now=$1
      set -- \${began##*) }
      shift 19
      began_at=$1 ;;
    ps)
      now=$(LC_ALL=C ps -o lstart= -p "$leader") || return 1
      began_at=\${began#* } ;;
  esac
  [ "$now" != "$began_at" ]
}

signal() {
  stranger && exit 0
  kill "-$1" -- "-$leader" || kill "-$1" "$leader"
}

watchdog() {
  nap= over=
  trap 'over=1; [ -z "$nap" ] || { kill "$nap"; exit 0; }' TERM
  doze "$timeout"
  leader=
  while IFS= read -r line; do
    case $line in
      'command '*) began=\${line#command } leader=\${began%% *} ;;
      'exit '*) exit 0 ;;
    esac
  done <"$d/state"
  printf 'timeout\\n' >>"$d/state"
  [ -n "$leader" ] || exit 0
  signal TERM
  kill -CONT -- "-$leader"
  doze ${TIMEOUT_GRACE_SECONDS}
  signal KILL
}

runner() {
  d=$tasks/$1
  identify
  set -C
  if ! { printf 'holon-runner ${FORMAT} %s\\n' "$kind $boot $me" >"$d/state"; } 2>/dev/null; then
    say refused "$1"
    exit 0
  fi
  set +C
  say claimed "$1"
  exec 2>>"$d/state"
  set +m
  ready= workdir= timeout= stdin=none mark= caps= confined= dog= keeper= status= piped=
  [ -r "$d/run" ] && . "$d/run"
  if [ "$ready" != 1 ]; then (could_not_start settings)
  elif ! pipes "$1"; then (could_not_start pipes)
  else
    if [ -n "$timeout" ]; then watchdog 3>&- 4>&- 6>&- 7>&- 8>&- 9>&- 2>/dev/null & dog=$!; fi
    if [ "$stdin" = pipe ]; then keep 3>&- 4>&- 6>&- 7>&- 8>&- 9>&- 2>/dev/null & keeper=$!; fi
    if [ -n "$setsid" ]; then
      (begin) 3>&- 4>&-
      status=$?
    else
      set -m
      begin 3>&- 4>&- &
      set +m
      wait "$!"
      status=$?
      jobs
    fi
  fi
  exec 2>/dev/null
  [ -n "$dog" ] && kill "$dog"
  [ -n "$keeper" ] && kill "$keeper"
  [ -n "$piped" ] && read_out
  room || printf 'no_room\\n' >>"$d/state"
  [ "$stdin" = none ] || rm -f "$d/stdin" "$d/stdin.new" "$d/end"
  printf 'exit %s\\n' "\${status:-126}" >>"$d/state"
  say ended "$1"
  exit 0
}`

// After the daemon is gone nobody else looks at the sizes: the spawner stays as long as a runner
// of its own lives, and empties what grew over the cap behind the part that is always kept.
const guard = `
prune() {
  jobs >/dev/null
  left=
  for one in $live; do kill -0 "\${one#*:}" && left="$left $one"; done
  live=$left
}

guard() {
  cd "$tasks" || exit 0
  while prune; [ -n "$live" ]; do
    sleep 1
    files=
    for one in $live; do files="$files \${one%%:*}/stdout \${one%%:*}/stderr"; done
    for over in $(find $files -size +${OUTPUT_CAP_BYTES / 1024}k); do
      dd if=/dev/null of="$over" bs=1024 seek=${OUTPUT_HEAD_BYTES / 1024}
      printf '\\n[output dropped here: over the limit of ${OUTPUT_CAP_BYTES} bytes]\\n' >>"$over"
    done
  done
} 2>/dev/null`

const main = `
live= count=0
while IFS= read -r id; do
  runner "$id" </dev/null &
  live="$live $id:$!"
  jobs >/dev/null
  count=$((count + 1))
  [ $((count % 32)) -eq 0 ] && prune
done
exec 3>&- </dev/null
guard`

/**
 * The program of the shell that becomes the spawner: it reads the script from its input, up to a
 * line that is a dot, and goes on as that. As an argument the script would stand whole in the
 * process list, once for the spawner and for each runner; in a file an agent could change it.
 * `IFS` is a space, a tab and a newline: without the first two it is the newline.
 */
export const spawnerLoader =
  'p=; while IFS= read -r l && [ "$l" != . ]; do p="$p$l${IFS#??}"; done; eval "$p"'

/**
 * What the loader reads. Arguments, in order: tasks folder, shell of the commands, path of `setsid`
 * or empty. A line that is written to descriptor 4 reaches the reader: the id of a task whose pipes
 * are there.
 */
export function spawnerScript(kind: IdentityKind): string {
  const start = `
exec 3>&1 >/dev/null 2>/dev/null
unset p l
set -m
tasks=$1 shell=$2 setsid=$3 kind=${kind} marks=
[ "$(command ulimit -R)" = unlimited ] && marks=1
cd "$tasks" || exit 1`
  return [start, identify[kind], runner, guard, main, '.\n'].join('\n')
}
