/**
 * What a yes may stand for beyond once: choices are made from the action, from narrow to broad,
 * and whether one covers another action. Nothing is offered of what runs other things: a shell, an
 * interpreter, a program that calls other machines, a wrapper, a program that the agent can write.
 */
import { canonical } from '../canonical.ts'
import { isOfAgents, type ActionBody, type ActionCommand, type Area } from '../policy/action.ts'
import type { ActionPart } from '../policy/part.ts'
import { readArguments } from '../shell/arguments.ts'
import { grammars } from '../shell/grammars.ts'
import { callers, interpreters, shells, textRunners } from '../shell/names.ts'
import { closed, wrappers } from '../shell/wrappers.ts'
import type { Grantable, GrantScope, LikeCommand } from '../state/grant.ts'

/** How a command begins, and how many words behind that stay as they are. */
type Likeness = {
  first: readonly string[]
  fixed: number
  /** Options whose value is words for people, or a number of lines. */
  texts: readonly string[]
}

const likeness = (text: string, fixed = 0, texts = ''): Likeness => ({
  first: text.split(' '),
  fixed,
  texts: texts.split(' '),
})

const forPeople = '-t --title -b --body -l --label -L --limit --json'

/** Of programs whose grammar is known; what stands here runs nothing that it is given. */
const likes: Readonly<Record<string, readonly Likeness[]>> = {
  git: ['push', 'fetch', 'pull'].map((verb) => likeness(verb, 1)),
  npm: [likeness('view')],
  kubectl: [likeness('get', 1), likeness('describe', 1), likeness('logs', 0, '--tail')],
  gh: [
    ...['view', 'list', 'create', 'checks'].map((verb) => likeness(`pr ${verb}`, 0, forPeople)),
    ...['view', 'list', 'create'].map((verb) => likeness(`issue ${verb}`, 0, forPeople)),
    ...['view', 'list', 'watch'].map((verb) => likeness(`run ${verb}`, 0, forPeople)),
  ],
}

/** What may be offered for an action, of which these parts are asked about; null: only once. */
export function grantableOf(
  action: ActionBody,
  lifts: readonly ActionPart[] | null,
): Grantable | null {
  if (lifts === null || lifts.length === 0) return null
  if (action.commands.length === 0 || !action.commands.every(mayStand)) return null
  return { like: likeOf(action, lifts) }
}

/** Whether the command is what it says, whenever it runs, and runs nothing else. */
function mayStand({ argv, program, certain, cwd, wrapped_by, env_names }: ActionCommand): boolean {
  if (!certain || cwd === null || wrapped_by.length > 0 || env_names.length > 0) return false
  const [name] = argv
  if (typeof name !== 'string' || !argv.every((word) => typeof word === 'string')) return false
  switch (program.kind) {
    case 'builtin':
      return !runsOthers(name)
    case 'absent':
      return false
    case 'found':
      return isOfMachine(program.area) && !runsOthers(name) && !runsOthers(program.real_path)
  }
}

const isOfMachine = (area: Area): boolean => !isOfAgents(area) && area !== 'git'

function runsOthers(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const plain = name.toLowerCase().replace(/[-\d.]+$/, '')
  return [name, plain].some(
    (one) =>
      shells.has(one) ||
      interpreters.has(one) ||
      callers.has(one) ||
      textRunners.has(one) ||
      closed.has(one) ||
      Object.hasOwn(wrappers, one),
  )
}

/** Where one command is asked about, and nothing else: how that begins. */
function likeOf(action: ActionBody, lifts: readonly ActionPart[]): LikeCommand | null {
  const { confined, origin } = action
  const [part] = lifts
  if (part?.kind !== 'run' || lifts.length > 1) return null
  const { argv, program, cwd } = part.command
  const [name, ...args] = argv.filter((word) => typeof word === 'string')
  if (name === undefined || program.kind !== 'found' || cwd === null) return null
  const given = wordsOf(argv)
  const known = Object.hasOwn(likes, name) ? (likes[name] ?? []) : []
  const found = known.find(({ first }) => startsWith(given, first))
  if (found === undefined || given.length < found.first.length + found.fixed) return null
  const flags = args.filter((arg) => arg.startsWith('-'))
  if (!flags.every((flag) => found.texts.includes(flag) || !takesValue(name, flag))) return null
  const words = given.slice(0, found.first.length + found.fixed)
  const program_path = program.real_path
  const like = { program: program_path, name, words, flags, cwd: cwd.real_path, confined, origin }
  return isLike(like, part, action) ? like : null
}

/** Whether its value, which would be free, decides what is done, or may. */
function takesValue(name: string, flag: string): boolean {
  const grammar = grammars[name]
  if (grammar === undefined) return true
  return grammar.values.includes(flag) || !grammar.switches.includes(flag)
}

const wordsOf = (argv: ActionCommand['argv']): string[] =>
  readArguments(argv).words.filter((word) => typeof word === 'string')

const startsWith = (words: readonly string[], first: readonly string[]): boolean =>
  first.every((word, at) => words[at] === word)

/** Whether it answers for all that is asked about the action. */
export function covers(
  scope: GrantScope,
  action: ActionBody,
  lifts: readonly ActionPart[] | null,
): boolean {
  if (grantableOf(action, lifts) === null || lifts === null) return false
  switch (scope.kind) {
    case 'same_for_item':
      return isOnNoLess(scope.action.origin, action) && isSameEffect(scope.action, action)
    case 'like_for_item':
    case 'like_for_agent':
      return (
        isOnNoLess(scope.like.origin, action) &&
        lifts.every((part) => isLike(scope.like, part, action))
      )
  }
}

/** What was allowed on the words of those inside is not for what comes from outside. */
const isOnNoLess = (given: ActionBody['origin'], { origin }: ActionBody): boolean =>
  origin !== 'external' || given === 'external'

/** Whosever words it is on. */
export function isSameEffect(a: ActionBody, b: ActionBody): boolean {
  const bare = (action: ActionBody) => canonical({ ...action, origin: null, sha256: null })
  return bare(a) === bare(b)
}

/** No address, no other place, no pattern, and nothing that a word of git does to a name. */
const isName = /^(?!\.{1,2}(\/|$))[\w./=,#-]+$/

function isLike(like: LikeCommand, part: ActionPart, { confined }: ActionBody): boolean {
  if (part.kind !== 'run' || (like.confined && !confined)) return false
  const { argv, program, cwd, redirects } = part.command
  if (argv[0] !== like.name || program.kind !== 'found' || redirects.length > 0) return false
  if (program.real_path !== like.program || cwd?.real_path !== like.cwd) return false
  const words = wordsOf(argv)
  if (!startsWith(words, like.words)) return false
  if (words.slice(like.words.length).some((word) => !isName.test(word))) return false
  const shown = readArguments([like.name, ...like.words, ...like.flags]).flags
  const flags = argv.filter((word) => typeof word === 'string' && word.startsWith('-'))
  // As they stand, none more and none less: without `--dry-run` it would be done. And as a word of
  // the program can mean one: `+main` forces.
  return (
    flags.every((flag) => like.flags.some((one) => one === flag)) &&
    like.flags.every((flag) => flags.includes(flag)) &&
    [...readArguments(argv).flags].every((flag) => shown.has(flag))
  )
}
