/**
 * Problem documents (RFC 9457): how every refusal and failure crosses a wire or a pipe. `type` is
 * stable and ends in the code; `detail` is one sentence, `hint` what to do about it.
 */
import { rejections, type RejectionCode } from '../domain/verdict.ts'

export type Problem = {
  type: string
  title: string
  status: number
  code: string
  detail: string
  hint: string | null
}

const isRejection = (code: string): code is RejectionCode => Object.hasOwn(rejections, code)

/** Status and hint come from the catalogue of rejections where the code is one of them. */
export function problemOf(
  code: string,
  detail: string,
  hint: string | null = null,
  status?: number,
): Problem {
  const known = isRejection(code) ? rejections[code] : null
  return {
    type: `urn:holon:problem:${code}`,
    title: code.replaceAll('_', ' '),
    status: status ?? known?.status ?? 500,
    code,
    detail,
    hint: hint ?? known?.hint ?? null,
  }
}
