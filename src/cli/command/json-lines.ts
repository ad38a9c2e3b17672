/**
 * Finds the line on which a key stands in a JSON text, so that an error can name it. The text has
 * been parsed before: this only walks it again, counting.
 */
export function lineOf(text: string, path: readonly PropertyKey[]): number {
  let at = 0
  let line = 1
  let found = 1
  const wanted = path.map(String)
  const here: string[] = []

  const space = () => {
    for (; at < text.length && /\s/.test(text.charAt(at)); at += 1) if (text[at] === '\n') line += 1
  }
  const string = (): string => {
    const from = at
    for (at += 1; at < text.length && text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1
    at += 1
    return JSON.parse(text.slice(from, at)) as string
  }
  const note = () => {
    if (here.length <= wanted.length && here.every((key, n) => key === wanted[n])) found = line
  }
  const value = () => {
    space()
    const char = text[at]
    if (char === '{' || char === '[') return members(char === '[')
    if (char === '"') return void string()
    while (at < text.length && !/[,\]}\s]/.test(text.charAt(at))) at += 1
  }
  const members = (isList: boolean) => {
    at += 1
    for (let index = 0; ; index += 1) {
      space()
      if (at >= text.length || text[at] === '}' || text[at] === ']') {
        at += 1
        return
      }
      if (text[at] === ',') {
        at += 1
        index -= 1
        continue
      }
      here.push(isList ? String(index) : string())
      note()
      space()
      if (!isList && text[at] === ':') at += 1
      value()
      here.pop()
    }
  }
  value()
  return found
}
