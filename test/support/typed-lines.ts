/**
 * The lines that a page of the documentation gives a reader to type: of its blocks of shell, and of
 * indented code that calls Holon or a tool beside it. What a line says behind `#` belongs to it.
 */

export type TypedLine = { readonly page: string; readonly at: number; readonly text: string }

const calls =
  /^(?:\$ )?(?:npx |npm |holon |curl |docker |export |touch |git |systemctl |launchctl )/

/** A line without its prompt, and with the lines that a backslash joins to it. */
const joined = (lines: readonly { at: number; text: string }[]) =>
  lines.reduce<{ at: number; text: string }[]>((before, { at, text }) => {
    const last = before.at(-1)
    if (last?.text.endsWith('\\') !== true) return [...before, { at, text }]
    return [...before.slice(0, -1), { at: last.at, text: last.text.slice(0, -1) + text.trim() }]
  }, [])

export function typedLines(page: string, markdown: string): TypedLine[] {
  let fence: { marks: string; language: string } | null = null
  let goesOn = false
  const found = markdown.split('\n').flatMap((line, index) => {
    const text = line.trim()
    const [, marks = '', language = ''] = /^(`{3,})(\w*)$/.exec(text) ?? []
    if (fence === null && marks !== '') fence = { marks, language }
    else if (fence !== null && marks === fence.marks && language === '') fence = null
    else if (fence !== null) return fence.language === 'sh' ? [{ at: index + 1, text }] : []
    else if (/^ {4}/.test(line) && (goesOn || calls.test(text))) {
      goesOn = text.endsWith('\\')
      return [{ at: index + 1, text }]
    }
    return []
  })
  return joined(found)
    .filter(({ text }) => text !== '')
    .map(({ at, text }) => ({ page, at, text: text.replace(/^\$ /, '') }))
}
