/** The examples of the help as a shell would take them apart: words, without what comes behind. */

/** What `holon` is given by an example line: no remark, pipe or redirection, and no quotes. */
export function wordsOf(example: string): string[] {
  const [line = ''] = example.replace(/^source <\((.*)\)$/, '$1').split(/ {3,}| \| | > /)
  const words = line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)
  return [...words].map(([, single, double, bare]) => single ?? double ?? bare ?? '').slice(1)
}
