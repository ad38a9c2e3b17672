/** Patterns of paths: `*` and `?` stay in one folder, `**` goes through any number of them. */

/** Whether the whole text fits. A file below a folder that fits does not fit by that. */
export function matchGlob(pattern: string, text: string): boolean {
  return fits(pattern.split('/'), text.split('/'), 0, 0)
}

function fits(pattern: readonly string[], parts: readonly string[], p: number, t: number): boolean {
  const piece = pattern[p]
  if (piece === undefined) return t === parts.length
  if (piece !== '**') {
    const part = parts[t]
    return part !== undefined && fitsPiece(piece, part) && fits(pattern, parts, p + 1, t + 1)
  }
  if (pattern[p + 1] === '**') return fits(pattern, parts, p + 1, t)
  for (let at = t; at <= parts.length; at += 1) if (fits(pattern, parts, p + 1, at)) return true
  return false
}

/** The last star takes one character more whenever what is behind it does not fit. */
function fitsPiece(piece: string, part: string): boolean {
  let [p, t, star, taken] = [0, 0, -1, 0]
  while (t < part.length) {
    if (piece[p] === '*') {
      ;[star, taken] = [p, t]
      p += 1
    } else if (p < piece.length && (piece[p] === '?' || piece[p] === part[t])) {
      p += 1
      t += 1
    } else if (star >= 0) {
      taken += 1
      ;[p, t] = [star + 1, taken]
    } else return false
  }
  while (piece[p] === '*') p += 1
  return p === piece.length
}
