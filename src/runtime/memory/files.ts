/**
 * The files of memories and notes, of agents and of the workspace of the one who asks, looked at
 * when somebody searches: what changed since it was indexed is read again, what is gone leaves the
 * index. Bounded, and honest about the bound.
 */
import { memoryFolders, workspaceMemory } from '../../domain/memory/reference.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import type { Files } from '../../exec/ports.ts'
import type { IndexKey, SearchIndex } from '../../ledger/search/port.ts'
import { agentHome } from '../home.ts'
import { MEMORY_FILE_MAX_BYTES } from './records.ts'

export type FilePorts = {
  home: string
  files: Pick<Files, 'stat' | 'list'>
  index: Pick<SearchIndex, 'stamps'>
}

/**
 * Entries of folders one search looks at, of all places together, whatever they are: a look at one
 * takes some microseconds.
 */
export const MEMORY_FILES_MOST = 2_000
/** Folders inside each other. */
const deepest = 8

export type MemoryFileChanges = {
  /** To be read: they are new, or not as they were. */
  changed: { agent_id: string; path: string; stamp: string }[]
  gone: IndexKey[]
  /** Why not every file was looked at; null: each was. */
  left_out: string | null
}

/** `agent_id` is whose the files are: of the files of a workspace, its path. */
type Place = { agent_id: string; folder: string; names: readonly string[] }

/** Of these agents, and of this workspace, last; null: of none. */
export async function lookAtFiles(
  ports: FilePorts,
  agents: readonly string[],
  workspace: string | null,
): Promise<MemoryFileChanges> {
  const looked: MemoryFileChanges = { changed: [], gone: [], left_out: null }
  const places: Place[] = agents.map((agent_id) => {
    return { agent_id, folder: agentHome(ports.home, agent_id), names: memoryFolders }
  })
  if (workspace !== null) {
    places.push({ agent_id: workspace, folder: workspace, names: [workspaceMemory] })
  }
  let room = MEMORY_FILES_MOST
  for (const { agent_id, folder, names } of places) {
    const found = new Map<string, string>()
    const look: Look = { ...ports, folder, found, room, large: 0 }
    for (const name of names) if (await isUnlinked(look, name)) await walk(look, name, 1)
    const known = await ports.index.stamps(agent_id)
    for (const [path, stamp] of found) {
      if (known.get(`file:${path}`) !== stamp) looked.changed.push({ agent_id, path, stamp })
    }
    room = look.room
    if (look.large > 0) {
      looked.left_out ??= `${look.large} files are over ${MEMORY_FILE_MAX_BYTES} bytes`
    }
    if (room <= 0) {
      looked.left_out = `only ${MEMORY_FILES_MOST} files were looked at`
      break
    }
    for (const ref of known.keys()) {
      if (!found.has(ref.slice('file:'.length))) looked.gone.push({ agent_id, ref })
    }
  }
  return looked
}

type Look = Pick<FilePorts, 'files'> & {
  folder: string
  found: Map<string, string>
  /** Entries that may still be looked at. */
  room: number
  large: number
}

/** No link on the way to a folder: what is above the last one is looked at here. */
async function isUnlinked({ files, folder }: Look, name: string): Promise<boolean> {
  const above = name.split('/').slice(0, -1)
  for (const [i] of above.entries()) {
    const path = `${folder}/${above.slice(0, i + 1).join('/')}`
    if ((await quietly(() => files.stat(path)))?.kind !== 'folder') return false
  }
  return true
}

/** Follows no link. A folder that goes while it is looked at has nothing in it. */
async function walk(look: Look, path: string, depth: number): Promise<void> {
  const { files, folder, found } = look
  const seen = await quietly(() => files.stat(`${folder}/${path}`))
  if (seen?.kind !== 'folder') return
  for (const { name, kind } of (await quietly(() => files.list(`${folder}/${path}`))) ?? []) {
    if (look.room <= 0) return
    look.room -= 1
    const inner = `${path}/${name}`
    if (kind === 'folder' && depth < deepest) await walk(look, inner, depth + 1)
    if (kind !== 'file') continue
    const file = await quietly(() => files.stat(`${folder}/${inner}`))
    if (file === null) continue
    if (file.size > MEMORY_FILE_MAX_BYTES) look.large += 1
    else found.set(inner, `${file.updated_at} ${file.size}`)
  }
}

async function quietly<T>(body: () => Promise<T>): Promise<T | null> {
  try {
    return await body()
  } catch (error) {
    if (error instanceof FileFault) return null
    throw error
  }
}
