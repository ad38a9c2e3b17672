/**
 * The report predicate: whether assistant text beside a completion is a report (contracts 2).
 * It refuses only empty text, text that ends in a colon, and a lone sentence that announces what
 * is still to come; anything else is a report.
 */

/** Openings that announce instead of reporting. */
export const announcements = ['I will', "I'll", 'I’ll', 'Let me', 'Now I'] as const

export type ReportVerdict =
  | { report: true }
  | { report: false; because: 'empty' | 'ends_in_colon' | 'announcement' }

export function isReport(text: string): ReportVerdict {
  const trimmed = text.trim()
  if (trimmed === '') return { report: false, because: 'empty' }
  if (/[:：]$/.test(trimmed)) return { report: false, because: 'ends_in_colon' }
  if (isOneSentence(trimmed) && announces(trimmed)) {
    return { report: false, because: 'announcement' }
  }
  return { report: true }
}

const announces = (text: string): boolean =>
  announcements.some((opening) => {
    const head = text.slice(0, opening.length)
    const next = text.charAt(opening.length)
    return head.toLowerCase() === opening.toLowerCase() && !/[\p{L}\p{N}]/u.test(next)
  })

const isOneSentence = (text: string): boolean =>
  !text.includes('\n') && !/[.!?…]["')\]]*\s+\S/u.test(text)
