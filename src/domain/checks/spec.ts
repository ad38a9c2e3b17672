/**
 * What an operator may ask for as checks of an item, checked whole before anything is stored: each
 * refusal names the check and what is wrong with it. Paths are looked at as text here; what the
 * file really is, the machine looks at when the check runs.
 */
import type { Check, CheckSpec, FileExpectation } from '../state/check.ts'
import { limits, type Limit } from '../limits.ts'
import { isRejection, no, overLimit, type Rejection } from '../rejection.ts'

/** As it crosses a wire: what may be left out is. */
export type CheckGiven =
  | {
      kind: 'command'
      name: string
      cmd: string
      workdir?: string | null | undefined
      timeout_ms?: number | undefined
    }
  | { kind: 'file'; name: string; path: string; expect: FileExpectation }
  | { kind: 'http'; name: string; url: string; status: number }
  | { kind: 'person'; name: string; question: string }

/** The checks as they will stand on the item, or the first that cannot. */
export function checksOf(
  given: readonly CheckGiven[],
  workspace: string,
): { ok: true; checks: readonly Check[] } | Rejection {
  if (given.length > limits.checks.value) return overLimit(limits.checks, given.length)
  const checks: Check[] = []
  const names = new Set<string>()
  for (const one of given) {
    const spec = specOfGiven(one, workspace)
    if (isRejection(spec)) return spec
    if (names.has(spec.name)) return wrong(spec.name, 'is there twice: each name stands once')
    names.add(spec.name)
    checks.push({ ...spec, run: null })
  }
  return { ok: true, checks }
}

const checkName = /^[a-z0-9][a-z0-9._-]{0,63}$/

function specOfGiven(given: CheckGiven, workspace: string): CheckSpec | Rejection {
  const { name } = given
  if (!checkName.test(name)) {
    return wrong(name, 'is no name: small letters, digits, dot, dash and underscore, at most 64')
  }
  switch (given.kind) {
    case 'command': {
      const { cmd, workdir = null, timeout_ms = limits.check_usual.value } = given
      return (
        unfitText(name, 'its command', cmd, limits.check_cmd) ??
        (workdir === null ? null : unfitPath(name, workdir, workspace)) ??
        unfitTime(name, timeout_ms) ?? { kind: 'command', name, cmd, workdir, timeout_ms }
      )
    }
    case 'file': {
      const { path } = given
      const unfit = unfitPath(name, path, workspace) ?? unfitExpectation(name, given.expect)
      return unfit ?? { kind: 'file', name, path, expect: given.expect }
    }
    case 'http': {
      const { url, status } = given
      if (!Number.isInteger(status) || status < 100 || status > 599) {
        return wrong(name, `${status} is no HTTP status`)
      }
      return unfitUrl(name, url) ?? { kind: 'http', name, url, status }
    }
    case 'person': {
      const { question } = given
      const unfit = unfitText(name, 'its question', question, limits.reason)
      return unfit ?? { kind: 'person', name, question }
    }
  }
}

const wrong = (name: string, what: string): Rejection =>
  no('check_invalid', `Check "${name.slice(0, 100)}" ${what}.`)

function unfitText(name: string, what: string, text: string, limit: Limit): Rejection | null {
  if (text.trim() === '') return wrong(name, `cannot be run: ${what} is empty`)
  if (text.includes('\0')) return wrong(name, `cannot be run: ${what} has a NUL character`)
  return text.length > limit.value ? overLimit(limit, text.length) : null
}

function unfitTime(name: string, ms: number): Rejection | null {
  if (!Number.isInteger(ms) || ms < 1) {
    return wrong(name, `cannot be run: ${ms} is no time limit in whole milliseconds above zero`)
  }
  return ms > limits.check_time.value ? overLimit(limits.check_time, ms) : null
}

/** Inside the workspace as it is written; a link that leads out is met when it is opened. */
function unfitPath(name: string, path: string, workspace: string): Rejection | null {
  const unfit = unfitText(name, 'its path', path, limits.path)
  if (unfit) return unfit
  if (/[\n\r]/.test(path)) return wrong(name, 'cannot be run: its path has a line break')
  const whole = path.startsWith('/') ? path : `${workspace}/${path}`
  const root = plain(workspace)
  const real = plain(whole)
  if (real === root || real.startsWith(root === '/' ? '/' : `${root}/`)) return null
  return wrong(name, `cannot be run: ${path} is outside the workspace ${workspace}`)
}

/** An absolute path without `.` and `..`. */
function plain(path: string): string {
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue
    if (name === '..') names.pop()
    else names.push(name)
  }
  return `/${names.join('/')}`
}

function unfitExpectation(name: string, expect: FileExpectation): Rejection | null {
  if ('exists' in expect) return null
  if ('sha256' in expect) {
    if (/^[0-9a-f]{64}$/.test(expect.sha256)) return null
    return wrong(name, 'wants a SHA-256, which is 64 hexadecimal digits in small letters')
  }
  if (expect.contains === '') return wrong(name, 'looks for an empty text')
  const { length } = expect.contains
  return length > limits.reason.value ? overLimit(limits.reason, length) : null
}

function unfitUrl(name: string, text: string): Rejection | null {
  const unfit = unfitText(name, 'its URL', text, limits.check_url)
  if (unfit) return unfit
  if (!URL.canParse(text)) return wrong(name, `cannot be run: ${clipped(text)} is no URL`)
  const { protocol, username, password } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') {
    return wrong(name, `cannot be run: ${clipped(text)} is neither http nor https`)
  }
  if (username !== '' || password !== '') {
    return wrong(name, 'cannot be run: its URL names a user; everybody who reads the item sees it')
  }
  return null
}

const clipped = (text: string): string => (text.length <= 100 ? text : `${text.slice(0, 99)}…`)
