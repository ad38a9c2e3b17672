/**
 * What a terminal wrote, as text to read: escape sequences and other control characters are left
 * out, and a line that was written over is shown as it stood at last. Pure. The file keeps every
 * byte. Cursor movement is not followed, so a full-screen program reads badly.
 */

/** In the order they are looked for: a string command up to its end, CSI, any other escape. */
const escapes = new RegExp(
  [
    String.raw`\x1b[\]PX^_][\s\S]*?(?:\x07|\x1b\\|$)`,
    String.raw`\x1b\[[0-?]*[ -/]*(?:[@-~]|$)`,
    String.raw`\x1b[ -/]*(?:[0-~]|$)`,
  ].join('|'),
  'g',
)
/** The line is empty from its beginning on. */
const clearsLine = new RegExp(String.raw`\r\x1b\[0?K|\x1b\[[12]K`, 'g')
/** Stands for it while the rest is taken out; as itself it means nothing. */
const CLEARED = '\0'
const controls = /[^\P{Cc}\t\n\r\b]/gu

export function terminalText(raw: string): string {
  return raw
    .replaceAll(CLEARED, '')
    .replace(clearsLine, CLEARED)
    .replace(escapes, '')
    .replace(/\r+\n/g, '\n')
    .split('\n')
    .map((line) => writtenOver(line.slice(line.lastIndexOf(CLEARED) + 1)))
    .join('\n')
}

/** A carriage return goes to the beginning, a backspace one back; what comes then is put over. */
function writtenOver(line: string): string {
  const text = line.replace(controls, '')
  if (!/[\r\b]/.test(text)) return text
  const shown: string[] = []
  let at = 0
  for (const char of text) {
    if (char === '\r') at = 0
    else if (char === '\b') at = Math.max(0, at - 1)
    else shown[at++] = char
  }
  return shown.join('')
}
