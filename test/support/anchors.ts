/** The headings of a Markdown page as the anchors that links name. */

/** The text without fenced and indented code, where a bracket is no link and `#` no heading. */
export const proseOf = (text: string): string =>
  text
    .replace(/^(`{3,})[^\n]*\n[\s\S]*?^\1[ \t]*$/gm, '')
    .replace(/(^|\n\n)(?: {4,}[^\n]*\n?)+/g, '$1')

/** The anchor of a heading, as GitHub makes it; a second one of the same name gets `-1`. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of proseOf(text).matchAll(/^#{1,6} +(.+)$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-')
    let anchor = slug
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`
    anchors.add(anchor)
  }
  return anchors
}
