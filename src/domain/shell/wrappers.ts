/**
 * Programs that run another one, as data: how their own arguments end and the other's begin. What
 * stands here is opened; a program that is known to run others in another way is in `closed`.
 */

export type Wrapper = {
  /** Options with a value in the next word, or joined. */
  values: readonly string[]
  switches: readonly string[]
  /** Words of its own before the program: a duration, a host. */
  operands: number
  /** Whether `NAME=value` before the program sets a variable. */
  assigns?: true
  /** It adds arguments that come from elsewhere. */
  adds?: true
  /** What is behind it is one text for a shell, its words joined by a gap. */
  joins?: true
  /** Options with which it runs nothing. */
  looks?: readonly string[]
}

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '')

const wrapper = (values: string, switches: string, more: Partial<Wrapper> = {}): Wrapper => ({
  values: words(values),
  switches: words(switches),
  operands: 0,
  ...more,
})

export const wrappers: Readonly<Record<string, Wrapper>> = {
  env: wrapper('-u --unset', '-i --ignore-environment - -0 --null -v --debug', { assigns: true }),
  nice: wrapper('-n --adjustment', '-5 -10 -15 -19'),
  ionice: wrapper('-c --class -n --classdata', '-t --ignore'),
  nohup: wrapper('', ''),
  setsid: wrapper('', '-c --ctty -f --fork -w --wait'),
  time: wrapper('-f --format -o --output', '-p --portability -v --verbose -a --append -q --quiet'),
  timeout: wrapper(
    '-k --kill-after -s --signal',
    '--preserve-status --foreground -f -v --verbose -p',
    { operands: 1 },
  ),
  stdbuf: wrapper('-i --input -o --output -e --error', ''),
  xargs: wrapper(
    `-a --arg-file -d --delimiter -E -I -L --max-lines -n --max-args -P --max-procs -s
    --max-chars --process-slot-var`,
    '-0 --null -o --open-tty -p --interactive -r --no-run-if-empty -t --verbose -x --exit',
    { adds: true },
  ),
  sudo: wrapper(
    '-u --user -g --group -h --host -p --prompt -C --close-from -T --command-timeout -r -t',
    `-A --askpass -b --background -E --preserve-env -H --set-home -n --non-interactive -P -S
    --stdin`,
    { assigns: true, looks: ['-l', '--list', '-v', '--validate', '-k', '-K', '-V', '--version'] },
  ),
  doas: wrapper('-u', '-n', { looks: ['-L'] }),
  command: wrapper('', '-p', { looks: ['-v', '-V'] }),
  builtin: wrapper('', ''),
  exec: wrapper('-a', '-c -l'),
  ssh: wrapper(
    '-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w',
    '-4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -tt -V -v -X -x -Y -y',
    { operands: 1, joins: true },
  ),
  npx: wrapper('-p --package -w --workspace', '-y --yes --no --no-install -q --quiet --ws'),
}

/** Words behind these are a program too, where the first are these. */
export const wrappingWords: readonly { argv: readonly string[]; as: string }[] = [
  { argv: ['npm', 'exec'], as: 'npx' },
  { argv: ['npm', 'x'], as: 'npx' },
]

/** Known to run what they are given in a way that is not opened. */
export const closed: ReadonlySet<string> = new Set(
  words(`parallel watch script su runuser chroot nsenter unshare setarch flock systemd-run at batch
  busybox toybox firejail bwrap proot fakeroot unbuffer expect screen tmux strace ltrace gdb
  entr chrt taskset numactl start-stop-daemon daemonize dbus-run-session xvfb-run rlwrap`),
)
