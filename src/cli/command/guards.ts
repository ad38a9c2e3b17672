/**
 * What keeps the agents of a home in, and what is said of it: by the first run, by `holon doctor`
 * and by `holon init`. Pure, and one place, so that the three never say different things.
 */
import type { HomeAge, PresetName } from '../../protocol/records/policy-record.ts'
import type { PolicyStanding } from './policy-ports.ts'

/** What confined commands may connect to. */
type GuardNetwork = 'open' | 'none' | { allow: readonly string[] }

/**
 * `unavailable`: it was asked for, and no command runs. `missing`: nobody asked, this machine
 * cannot, and commands run without it. `whom`: of `everyone`, or of agents with a language model.
 */
export type SandboxState =
  | { state: 'off'; because: 'chosen' | 'existing_home' }
  | { state: 'on'; network: GuardNetwork; whom: 'everyone' | 'models' }
  | { state: 'unavailable'; why: string }
  | { state: 'missing'; why: string }

export type Guards = {
  age: HomeAge
  sandbox: SandboxState
  policy:
    | { is: 'none' }
    | { is: 'in_force'; preset: PresetName }
    | { is: 'refused'; refused: PolicyStanding }
}

export type GuardCheck = { level: 'ok' | 'warn' | 'fail'; says: string; do: string | null }

/** Hosts of a list that are named; of more the number is. */
const NAMED = 3

/** What commands may connect to, in words. */
export function networkWords(network: GuardNetwork): string {
  if (network === 'open') return 'with an open network'
  if (network === 'none') return 'without a network'
  const { allow } = network
  const more = allow.length > NAMED ? ` and ${allow.length - NAMED} more` : ''
  return `with the network of ${allow.slice(0, NAMED).join(', ')}${more}`
}

export const mendPolicy = 'correct the file: none of its rules counts until all of it holds'

type Refused = Pick<PolicyStanding, 'file' | 'line' | 'why' | 'in_force'>

/** Which file is refused, where in it, and why. */
export const refusalWords = ({ file, line, why }: Omit<Refused, 'in_force'>): string =>
  `${line === null ? file : `${file} line ${line}`} is refused: ${why}`

/** What is said of a policy.json that is refused, wherever a person looks. */
export function refusedWords({ in_force, ...refusal }: Refused): string {
  const until =
    in_force === null
      ? 'everything is asked until it holds'
      : `the last good rules stay in force until it holds (${in_force})`
  return `${refusalWords(refusal)}; ${until}`
}

export const presetWords: Readonly<Record<PresetName, string>> = {
  watch: 'all is asked about but what only looks',
  work: 'pushes, publishing and programs that speak to other machines are asked about',
  alone: 'nobody is asked: what would be asked about is refused',
  open: 'nothing is asked about but what is in doubt',
}

/** Where nothing is asked about. */
const unasked = 'nothing that an agent does is asked about'

const asOfPolicy = ({ policy }: Guards): string => {
  switch (policy.is) {
    case 'none':
      return unasked
    case 'in_force':
      return `${presetWords[policy.preset]} (preset ${policy.preset})`
    case 'refused':
      return refusedWords(policy.refused)
  }
}

/**
 * One line at the head of the first run of an agent with a language model; null where the operator
 * has chosen, or the home does what it did.
 */
export function firstRunLine(guards: Guards): string | null {
  const { sandbox } = guards
  switch (sandbox.state) {
    case 'on':
      if (sandbox.whom === 'everyone') return null
      return `its commands are confined, ${networkWords(sandbox.network)}; ${asOfPolicy(guards)}`
    case 'missing':
      return (
        `! its commands are not confined: ${sandbox.why}. Here ${asOfPolicy(guards)}; ` +
        'holon init asks how to go on'
      )
    case 'unavailable':
    case 'off':
      return null
  }
}

const bubblewrap = 'on Debian: sudo apt install bubblewrap'

export function sandboxCheckOf({ sandbox }: Guards): GuardCheck {
  switch (sandbox.state) {
    case 'off': {
      const says = 'commands are not confined: they run as you, with your files and your network'
      const shut = 'holon config set sandbox.network open (or none) shuts them in'
      return sandbox.because === 'chosen'
        ? { level: 'warn', says: `${says}, as you chose`, do: `${shut}; SECURITY.md` }
        : {
            level: 'warn',
            says: `${says}; this home was made before they were, and keeps what it does`,
            do: `choose: ${shut}, holon config set sandbox off leaves it; SECURITY.md`,
          }
    }
    case 'on': {
      const whose = sandbox.whom === 'everyone' ? 'commands' : 'commands of agents with a model'
      return {
        level: 'ok',
        says: `${whose} are confined, ${networkWords(sandbox.network)}`,
        do: null,
      }
    }
    case 'unavailable':
      return {
        level: 'fail',
        says: `no command runs: ${sandbox.why}`,
        do: `${bubblewrap}; or: holon config set sandbox off`,
      }
    case 'missing':
      return {
        level: 'warn',
        says: `commands are not confined, and cannot be here: ${sandbox.why}`,
        do: `${bubblewrap}; or choose: holon init`,
      }
  }
}

/** `open`: agents of which nothing is asked, by their own preset. */
export function policyCheckOf(guards: Guards, open: readonly string[]): GuardCheck {
  const { policy } = guards
  if (policy.is === 'refused') {
    return { level: 'fail', says: refusedWords(policy.refused), do: mendPolicy }
  }
  const says = asOfPolicy(guards)
  if (open.length > 0) {
    return {
      level: 'warn',
      says: `${says}; not so for ${open.join(', ')}, on preset open`,
      do: `holon agents configure ${open[0]} --preset work`,
    }
  }
  const isOpen = policy.is === 'none' || policy.preset === 'open'
  const remedy = 'write {"preset": "work"} into policy.json: docs/concepts/policy.md'
  return { level: isOpen ? 'warn' : 'ok', says, do: isOpen ? remedy : null }
}

/** What `holon init` says of commands; the first goes on behind the number of its step. */
export function initLines(guards: Guards): readonly string[] {
  const { sandbox } = guards
  const asked = asOfPolicy(guards)
  switch (sandbox.state) {
    case 'on':
      return [
        `commands of ${sandbox.whom === 'everyone' ? 'all agents' : 'an agent with a model'} are ` +
          `confined, ${networkWords(sandbox.network)}`,
        `${asked}; holon policy show`,
        sandbox.network === 'none'
          ? 'with a network: holon config set sandbox.network open'
          : 'without a network: holon config set sandbox.network none',
      ]
    case 'unavailable':
      return [`commands none runs: ${sandbox.why}`]
    case 'missing':
      return [`commands cannot be confined here: ${sandbox.why}`, asked]
    case 'off':
      return [
        'commands run as you, with your files and your network',
        asked,
        'shut in, with a network: holon config set sandbox.network open',
        'shut in, without one: holon config set sandbox.network none',
        'a daemon that runs knows it after holon stop, then holon start',
      ]
  }
}

/** Whether `holon init` asks how to go on: nobody chose yet, and this machine cannot confine. */
export const asksHowToGoOn = ({ sandbox, policy }: Guards, hasPolicyFile: boolean): boolean =>
  sandbox.state === 'missing' && !hasPolicyFile && policy.is === 'in_force'
