/**
 * Where paths and programs of an agent's commands really are, on this machine and at this moment:
 * links are followed, names are searched as the command's own shell would.
 */
import { accessSync, constants, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import type { ActionProgram, Area } from '../../domain/policy/action.ts'
import type { ActionPlaces } from '../../domain/policy/build.ts'
import { areaOf, type AreaFacts } from '../files/path-policy.ts'

/** `search`: the PATH of the command. What was looked up is kept as long as the object. */
export function placesOf(facts: AreaFacts & { search: string }): ActionPlaces {
  const real = { ...facts, workspace: realOf(facts.workspace), home: realOf(facts.home) }
  const found = new Map<string, ActionProgram>()
  const placed = new Map<string, { real_path: string; area: Area }>()
  const folders = new Map<string, string>()
  const place = (path: string) => {
    const known = placed.get(path)
    if (known !== undefined) return known
    const real_path = realOf(resolve(path), folders)
    const made = { real_path, area: areaOf(real, real_path) }
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

/**
 * Of what is not there: the real folder that it would be in. A link to what is not there is where
 * the link leads, since a write through it makes the file there. `known`: folders found before.
 */
function realOf(path: string, known: Map<string, string> = new Map(), left = LINKS): string {
  const above = dirname(path)
  let mayBeLink = true
  try {
    // An error for each file that an agent has yet to write takes longer than all the rest.
    mayBeLink = lstatSync(path, { throwIfNoEntry: false }) !== undefined
    if (mayBeLink || above === path) return realpathSync.native(path)
  } catch {
    if (above === path) return path
  }
  const folder = known.get(above) ?? realOf(above, known, left)
  known.set(above, folder)
  const target = mayBeLink && left > 0 ? linkedTo(join(folder, basename(path))) : null
  if (target === null) return join(folder, basename(path))
  return realOf(resolve(folder, target), new Map(), left - 1)
}

/** Null: it is no link, or cannot be looked at. */
function linkedTo(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}
