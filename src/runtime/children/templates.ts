/**
 * Templates of agents: folders `templates/<name>/` of the home. What stands there (`AGENTS.md`,
 * skills, notes) is copied into the home of a new agent; `agent.json` has its defaults.
 */
import { z } from 'zod'
import { isAgentId } from '../../domain/ids.ts'
import { no, type Rejection } from '../../domain/rejection.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import { isFolder } from '../folder.ts'
import type { HostPorts } from '../ports.ts'

type TemplatePorts = Pick<HostPorts, 'home' | 'files'>

/** Files of a template, and how deep they may lie: more is no template. */
const filesMax = 200
const depthMax = 6
const fileBytes = 262_144

const defaultsFile = 'agent.json'
const defaults = () =>
  z.strictObject({
    model: z.string().min(1).optional(),
    fallback_model: z.string().min(1).optional(),
  })
export type TemplateDefaults = z.infer<ReturnType<typeof defaults>>

const folderOf = (home: string, name: string): string => `${home}/templates/${name}`

/** A template is named as an agent may be. */
export async function hasTemplate({ home, files }: TemplatePorts, name: string): Promise<boolean> {
  return isAgentId(name) && isFolder(files, folderOf(home, name))
}

/** What `agent.json` says; nothing where there is none. */
export async function templateDefaults(
  { home, files }: TemplatePorts,
  name: string,
): Promise<{ ok: true; defaults: TemplateDefaults } | Rejection> {
  const path = `${folderOf(home, name)}/${defaultsFile}`
  if (!(await files.exists(path))) return { ok: true, defaults: {} }
  const wrong = (what: string) => no('template_invalid', `${path}: ${what}`)
  try {
    const text = new TextDecoder().decode((await files.read(path)).bytes)
    const parsed = defaults().safeParse(JSON.parse(text))
    if (parsed.success) return { ok: true, defaults: parsed.data }
    return wrong(parsed.error.issues.map((issue) => issue.message).join('; '))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof FileFault) return wrong(error.message)
    throw error
  }
}

/** Copies regular files only; what the home has already stays as it is. */
export async function copyTemplate(
  { home, files }: TemplatePorts,
  name: string,
  to: string,
): Promise<void> {
  let left = filesMax
  const copy = async (from: string, into: string, depth: number): Promise<void> => {
    for (const entry of await files.list(from)) {
      const [source, target] = [`${from}/${entry.name}`, `${into}/${entry.name}`]
      if (entry.kind === 'folder' && depth < depthMax) {
        await files.make_folder(target, 0o700)
        await copy(source, target, depth + 1)
      }
      const isDefaults = depth === 0 && entry.name === defaultsFile
      if (entry.kind !== 'file' || isDefaults || left === 0) continue
      left -= 1
      if (await files.exists(target)) continue
      const { bytes, mode } = await files.read(source, { max_bytes: fileBytes, follow: false })
      await files.write_atomic(target, bytes, mode)
    }
  }
  await copy(folderOf(home, name), to, 0)
}
