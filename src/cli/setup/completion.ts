/**
 * `holon completion <shell>`: a script for bash, zsh or fish, made of the same tree of commands
 * that parses them, so that it knows every command and every flag and nothing else.
 */
import type { Command } from 'commander'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** What may come behind `path`, with what each is for. */
type Place = { path: string; words: { word: string; about: string }[] }

export function completionScript(program: Command, shell: Shell): string {
  const places = placesOf(program, '')
  switch (shell) {
    case 'bash':
      return bash(places)
    case 'zsh':
      return zsh(places)
    case 'fish':
      return fish(places)
  }
}

function placesOf(command: Command, path: string): Place[] {
  const below = command.commands.map((one) => ({ word: one.name(), about: one.description() }))
  const flags = [...globalFlags(command), ...command.options].flatMap(({ long, description }) =>
    long === undefined || long === null ? [] : [{ word: long, about: description }],
  )
  const words = [...below, ...flags, { word: '--help', about: 'print this help' }]
  const unique = words.filter(({ word }, at) => words.findIndex((one) => one.word === word) === at)
  const deeper = command.commands.flatMap((one) => placesOf(one, `${path} ${one.name()}`.trim()))
  return [{ path, words: unique }, ...deeper]
}

/** Those of the program, which every command takes. */
const globalFlags = (command: Command): Command['options'] => {
  let root = command
  while (root.parent !== null) root = root.parent
  return root === command ? [] : root.options.filter(({ long }) => long !== '--version')
}

const wordsOf = ({ words }: Place): string => words.map(({ word }) => word).join(' ')

/** The path is found by following the words as long as they name commands; flags are skipped. */
const follow = (places: readonly Place[], quote: (path: string) => string): string =>
  places
    .filter(({ path }) => path !== '')
    .map(({ path }) => `      ${quote(path)}) at=$try ;;`)
    .join('\n')

function bash(places: readonly Place[]): string {
  const quote = (path: string) => `'${path}'`
  const cases = places.map((place) => `    ${quote(place.path)}) words='${wordsOf(place)}' ;;`)
  return `# Completion of holon for bash: source it, or put it where bash-completion looks.
_holon() {
  local current=\${COMP_WORDS[COMP_CWORD]} at='' try word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) continue ;; esac
    try="\${at:+$at }$word"
    case $try in
${follow(places, quote)}
    esac
  done
  case $at in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _holon holon
`
}

function zsh(places: readonly Place[]): string {
  const quote = (path: string) => `'${path}'`
  const cases = places.map(({ path, words }) => {
    const list = words.map(({ word, about }) => `'${word}:${about.replaceAll(/[':]/g, ' ')}'`)
    return `    ${quote(path)}) choices=(${list.join(' ')}) ;;`
  })
  return `#compdef holon
# Completion of holon for zsh: put it as _holon into a folder of $fpath, or source it.
_holon() {
  local at='' try one
  local -a choices
  for one in "\${(@)words[2,CURRENT-1]}"; do
    case $one in -*) continue ;; esac
    try="\${at:+$at }$one"
    case $try in
${follow(places, quote)}
    esac
  done
  case $at in
${cases.join('\n')}
  esac
  _describe 'holon' choices || _files
}
if [ "$funcstack[1]" = _holon ]; then _holon "$@"; else compdef _holon holon; fi
`
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, words }) =>
    words.map(({ word, about }) => {
      const text = about.replaceAll("'", ' ')
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`
      return `complete -c holon -n "__holon_at '${path}'" ${what} -d '${text}'`
    }),
  )
  const paths = places.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`]))
  return `# Completion of holon for fish: put it into ~/.config/fish/completions/holon.fish.
set -g __holon_paths ${paths.join(' ')}
function __holon_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; and continue
        set -l try (string trim "$at $word")
        contains -- $try $__holon_paths; and set at $try
    end
    test "$at" = "$argv[1]"
end
${lines.join('\n')}
`
}
