/**
 * The files that a policy is made of: read whole or not at all, never through a link, and refused
 * whole where a rule, or an example in it, does not hold.
 */
import { constants } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { PolicyRefused } from '../../cli/command/policy-ports.ts'
import { lineOf } from '../../cli/command/json-lines.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import { readHandle } from '../../exec/files/whole-file.ts'
import { wrongExample } from '../../domain/policy/examples.ts'
import type { ReadSyntax } from '../../domain/shell/syntax.ts'
import { isShallow } from '../../protocol/records/records.ts'
import { readPolicyValue, type WrittenPolicy } from '../../protocol/policy-file.ts'

/** Bytes of a file of rules: a thousand of them with their words. */
const LARGEST = 256 * 1024
/** Brackets within brackets; the schema has 5. */
const DEEPEST = 16
/** Files whose rules are kept: the home's, and one of each workspace. */
const FILES = 200

type PolicyOwner = 'home' | 'repository'

export const homePolicyPath = (home: string): string => join(home, 'policy.json')
export const repositoryPolicyPath = (root: string): string => join(root, '.holon', 'policy.json')

/** Whether the home has a policy, readable or not. */
export const policyIsThere = (home: string): Promise<boolean> =>
  lstat(homePolicyPath(home)).then(
    () => true,
    () => false,
  )

/** `text`: of the file, null where there is none. */
export type PolicyFile = { ok: true; policy: WrittenPolicy; text: string | null } | PolicyRefused

export const nothingWritten: PolicyFile & { ok: true } = {
  ok: true,
  policy: { preset: null, otherwise: {}, rules: [] },
  text: null,
}

export type ReadPolicyFile = (path: string, from: PolicyOwner) => Promise<PolicyFile>

/**
 * Reads a file as it is at each call; one that is not there says nothing. A text that was good is
 * not tried again while it stays.
 */
export function policyFiles(read: ReadSyntax): ReadPolicyFile {
  const good = new Map<string, { text: string; policy: WrittenPolicy }>()
  return async (path, from) => {
    const found = await textOf(path, from)
    if (found === null) return nothingWritten
    if ('why' in found) return { ok: false, file: path, line: null, why: found.why }
    const key = `${from} ${path}`
    const known = good.get(key)
    if (known?.text === found.text) return { ok: true, ...known }
    const file = policyIn(found.text, path, from, read)
    if (file.ok) {
      if (good.size >= FILES) good.clear()
      good.set(key, { text: found.text, policy: file.policy })
    }
    return file
  }
}

/** What the text of a file says, once every example in it holds. */
function policyIn(text: string, path: string, from: PolicyOwner, read: ReadSyntax): PolicyFile {
  const refused = (why: string, line: number | null = null): PolicyRefused => ({
    ok: false,
    file: path,
    line,
    why,
  })
  if (!isShallow(text, DEEPEST)) return refused(`it is nested more than ${DEEPEST} deep`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const message = error instanceof Error ? error.message : 'it is no JSON'
    const line = Number(/\(line (\d+)/.exec(message)?.[1] ?? text.split('\n').length)
    return refused(message.replace(/, "[\s\S]*$/, ''), line)
  }
  const line = (at: readonly PropertyKey[]) => lineOf(text, [...at])
  const policy = readPolicyValue(value, from, { file: path, line })
  if (!policy.ok)
    return refused(`${policy.at.map(String).join('.')}: ${policy.why}`, line(policy.at))
  for (const { rule, examples } of policy.policy.rules) {
    const wrong = wrongExample(rule, examples, read)
    if (wrong !== null) {
      return refused(wrong, rule.source.from === 'preset' ? null : rule.source.line)
    }
  }
  return { ok: true, policy: policy.policy, text }
}

async function textOf(
  path: string,
  from: PolicyOwner,
): Promise<{ text: string } | { why: string } | null> {
  try {
    if (from === 'repository') {
      const folder = await lstat(dirname(path))
      if (!folder.isDirectory()) return { why: `${dirname(path)} is a link, and none is followed` }
    }
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
    const handle = await open(path, flags)
    try {
      const { bytes } = await readHandle(handle, path, LARGEST)
      return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
    } finally {
      await handle.close()
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (['ENOENT', 'ENOTDIR', 'not_found'].includes(code)) return null
    if (code === 'ELOOP') return { why: 'it is a link, and none is followed' }
    if (error instanceof FileFault) return { why: error.message }
    return { why: error instanceof Error ? error.message : String(error) }
  }
}
