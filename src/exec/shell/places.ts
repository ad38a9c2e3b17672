/**
 * Where paths and programs of an agent's commands really are, on this machine and at this moment:
 * links are followed, names are searched as the command's own shell would.
 */
import { accessSync, constants, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import type { ActionProgram, Area } from '../../domain/policy/action.ts'
import type { ActionPlaces } from '../../domain/policy/build.ts'
import { areasOf, type AreaFacts } from '../files/path-policy.ts'

/** `search`: the PATH of the command. What was looked up is kept as long as the object. */
export function placesOf(facts: AreaFacts & { search: string }): ActionPlaces {
  const { workspace, home } = facts
  const areaOf = areasOf({ ...facts, workspace: realOf(workspace).real, home: realOf(home).real })
  const found = new Map<string, ActionProgram>()
  const placed = new Map<string, { real_path: string; area: Area }>()
  const folders: Folders = new Map()
  const place = (path: string) => {
    const known = placed.get(path)
    if (known !== undefined) return known
    const { real: real_path } = realOf(resolve(path), folders)
    const made = { real_path, area: areaOf(real_path) }
    placed.set(path, made)
    return made
  }
  const searched = (name: string, folder: string): string | null => {
    const folders = facts.search.split(':').map((one) => resolve(folder, one))
    return folders.map((one) => join(one, name)).find(canRun) ?? null
  }
  const isFixed = facts.search.split(':').every(isAbsolute)
  const look = (name: string, folder: string): ActionProgram => {
    const path = name.includes('/') ? resolve(folder, name) : searched(name, folder)
    if (path === null || !canRun(path)) return { kind: 'absent' }
    const { real_path, area } = place(path)
    if (!name.includes('/')) return { kind: 'found', real_path, area, by: 'search' }
    const usual = searched(basename(name), folder)
    const isSame = usual !== null && place(usual).real_path === real_path
    return { kind: 'found', real_path, area, by: isSame ? 'search' : 'path' }
  }
  return {
    place,
    program(name, folder) {
      const key = isFixed && !name.includes('/') ? name : `${folder}\0${name}`
      const known = found.get(key) ?? look(name, folder)
      found.set(key, known)
      return known
    },
  }
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** As many links as the kernel follows: what is written through more is written nowhere. */
const LINKS = 40

type Place = { real: string; isThere: boolean }

/** Folders that were found before. */
type Folders = Map<string, Place>

/**
 * Of what is not there: the real folder that it would be in. A link to what is not there is where
 * the link leads, since a write through it makes the file there.
 */
function realOf(path: string, known: Folders = new Map(), left = LINKS): Place {
  const above = dirname(path)
  const before = known.get(above)
  let mayBeLink = before === undefined || before.isThere
  try {
    // An error for each file that an agent has yet to write takes longer than all the rest.
    mayBeLink &&= lstatSync(path, { throwIfNoEntry: false }) !== undefined
    if (mayBeLink) return { real: realpathSync.native(path), isThere: true }
  } catch {
    if (above === path) return { real: path, isThere: true }
  }
  const folder = before ?? realOf(above, known, left)
  known.set(above, folder)
  const real = join(folder.real, basename(path))
  const target = mayBeLink && left > 0 ? linkedTo(real) : null
  if (target === null) return { real, isThere: false }
  return realOf(resolve(folder.real, target), new Map(), left - 1)
}

/** Null: it is no link, or cannot be looked at. */
function linkedTo(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}
