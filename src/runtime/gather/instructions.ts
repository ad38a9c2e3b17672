/**
 * Finds what an agent is told about how work is done: `AGENTS.md` of its home, and of each folder
 * from the top of the repository down to its workspace, with `CLAUDE.md` where a folder has none
 * (docs/spec/context.md#order). Read anew for every turn. Nothing that is named in a file is
 * followed.
 */
import { contextLimits } from '../../context/limits.ts'
import type { Instruction } from '../../context/sections/instructions.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import { instructionRoots } from '../../exec/files/path-policy.ts'
import type { Files } from '../../exec/ports.ts'
import { agentHome } from '../home.ts'
import { readText, type TextFiles, type TextRead } from './text-file.ts'

/** Whose instructions and skills are looked for, and where. */
export type InstructionPlace = {
  /** Of the whole of Holon, absolute. */
  home: string
  user_home: string
  agent_id: string
  /** The folder the agent works in, absolute. */
  workspace: string
}

export type InstructionFiles = TextFiles & Pick<Files, 'list'>

const names = ['AGENTS.md', 'CLAUDE.md']

/** Farthest first. Of files that are the same, or say the same, the nearest one is loaded. */
export async function readInstructions(
  files: InstructionFiles,
  place: InstructionPlace,
): Promise<Instruction[]> {
  const { home, agent_id } = place
  const own = agentHome(home, agent_id)
  const up = await foldersUp(files, place)
  const roots = instructionRoots({ ...place, top: up.at(-1) ?? place.workspace })
  const folders = [...new Set([...up, own])]
  const found = await Promise.all(
    folders.map((folder) => inFolder((path) => readText(files, roots, path, maxBytes), folder)),
  )
  return instructionsOf(found.flat()).toReversed()
}

const maxBytes = contextLimits.instruction_file.value

type Found = { path: string; read: TextRead }

/** The first name that is there and can be read; of those that cannot be, the first is told of. */
async function inFolder(
  read: (path: string) => Promise<TextRead | null>,
  folder: string,
): Promise<Found[]> {
  const wrong: Found[] = []
  for (const name of names) {
    const path = `${folder === '/' ? '' : folder}/${name}`
    const found = await read(path)
    if (found?.ok) return [...wrong, { path, read: found }]
    if (found !== null && wrong.length === 0) wrong.push({ path, read: found })
  }
  return wrong
}

/** From the workspace up to the top of its repository; only itself where it is in none. */
async function foldersUp(
  files: Pick<Files, 'exists' | 'stat'>,
  { workspace, home }: InstructionPlace,
): Promise<string[]> {
  const folders: string[] = []
  let folder = workspace
  while (folders.length < contextLimits.instruction_folders.value && folder !== home) {
    folders.push(folder)
    if (await isTop(files, folder)) return folders
    const above = folder.slice(0, folder.lastIndexOf('/'))
    if (above === '') break
    folder = above
  }
  return [workspace]
}

/** A `.git` that is a file leads to a repository; a folder is one only with something in it. */
async function isTop(files: Pick<Files, 'exists' | 'stat'>, folder: string): Promise<boolean> {
  const git = `${folder}/.git`
  try {
    if (!(await files.exists(git))) return false
    return (await files.stat(git)).kind === 'file' || (await files.exists(`${git}/HEAD`))
  } catch (error) {
    // A folder that cannot be looked into is the top of nothing.
    if (error instanceof FileFault) return false
    throw error
  }
}

/** `found` nearest first. */
function instructionsOf(found: readonly Found[]): Instruction[] {
  const seen = new Map<string, string>()
  return found.map(({ path, read }): Instruction => {
    const { bytes } = read
    if (!read.ok) return { state: 'unusable', path, bytes, notice: read.notice }
    const as = seen.get(read.real_path) ?? seen.get(read.sha256)
    if (as !== undefined) return { state: 'same', path, bytes: read.bytes, as }
    seen.set(read.real_path, path).set(read.sha256, path)
    return {
      state: 'loaded',
      path,
      bytes: read.bytes,
      text: read.text,
      notice: includesNotice(read.text),
    }
  })
}

/** A line that is a path behind `@`: other programs put the file in its place. */
const include = /^[ \t]*@(?=\S*[./])\S+[ \t]*$/gm

function includesNotice(text: string): string | null {
  const count = text.match(include)?.length ?? 0
  if (count === 0) return null
  const lines = count === 1 ? 'one line is' : `${count} lines are`
  return `${lines} a path behind "@": such files are not put in, read them where they matter`
}
