/**
 * What the words beside a completion are worth as its report. Most words are one. Short ones stand
 * as a report too, but the author may be asked whether there is more to say. An announcement of
 * what is still to come, in any language of the list, is none.
 */
import { announces, announcesEnd, sentencesOf } from './announcement.ts'
import { limits } from '../limits.ts'

export const reportVerdicts = ['whole', 'short', 'colon', 'announcement', 'nothing'] as const
export type ReportVerdict = (typeof reportVerdicts)[number]

export function judgeReport(text: string): ReportVerdict {
  const trimmed = text.trim()
  if (trimmed === '') return 'nothing'
  const isShort = trimmed.length < limits.short_report.value
  const sentences = sentencesOf(trimmed)
  const [first, ...more] = sentences
  const last = sentences.at(-1) ?? ''
  if (more.length === 0 && announces(first ?? '')) return 'announcement'
  // "Everything is in. Let me mark it complete."
  if (isShort && announces(last) && announcesEnd(last)) return 'announcement'
  if (/[:：]$/.test(trimmed)) return 'colon'
  return more.length === 0 && isShort ? 'short' : 'whole'
}

/** Whether the words are the report as they are, where nobody asks for others. */
export const isReport = (text: string): boolean => {
  const verdict = judgeReport(text)
  return verdict === 'whole' || verdict === 'short'
}

/** Whether they are the report where the author was asked for others and gave none. */
export const mayStand = (text: string): boolean => isReport(text) || judgeReport(text) === 'colon'

/** Of the words and the answer to the question for more: the report, or null for none. */
export function betterReport(text: string, answer: string): string | null {
  const [said, more] = [text.trim(), answer.trim()]
  const answered = judgeReport(more)
  const isMore = answered !== 'nothing' && answered !== 'announcement'
  if (!mayStand(said)) return isMore ? more : null
  return isMore && more.length >= said.length ? more : said
}
