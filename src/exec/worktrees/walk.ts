/**
 * Every file below a folder, with names as bytes (see `recordsOf`): what git does not list is
 * here too, empty folders and the insides of nested repositories. Reads only; follows no link.
 */
import type { BigIntStats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileFault } from '../files/file-fault.ts'

/** `path` is relative, in bytes. A folder is only there when it is empty. `mode`: permissions. */
export type Found = {
  path: string
  kind: 'file' | 'link' | 'folder' | 'special'
  mode: number
  size: number
}

/** The path for the disk: `root` is text, `path` is bytes. */
export const diskPath = (root: string, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')])

/** Bytes as a person reads them. */
export const shown = (path: string): string => Buffer.from(path, 'latin1').toString()

/**
 * What is below `root`, in no order. `skip` leaves out a path with everything below it. A folder
 * that does not exist holds nothing; one that is gone while we look is a fault (`not_found`).
 */
export async function walk(root: string, skip: (path: string) => boolean): Promise<Found[]> {
  const found: Found[] = []
  const open = ['']
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const names = await namesOf(root, folder)
    if (names.length === 0 && folder !== '') {
      found.push({ path: folder, kind: 'folder', mode: 0, size: 0 })
    }
    for (const name of names) {
      const path = folder === '' ? name : `${folder}/${name}`
      if (skip(path)) continue
      const stat = await statOf(root, path)
      if (stat.isDirectory()) {
        open.push(path)
        continue
      }
      const kind = stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'link' : 'special'
      found.push({ path, kind, mode: Number(stat.mode) & 0o7777, size: Number(stat.size) })
    }
  }
  return found
}

async function statOf(root: string, path: string): Promise<BigIntStats> {
  try {
    return await lstat(diskPath(root, path), { bigint: true })
  } catch (error) {
    throw fileFault(error, join(root, shown(path)))
  }
}

async function namesOf(root: string, folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder === '' ? root : diskPath(root, folder), 'buffer')
    return names.map((name) => name.toString('latin1'))
  } catch (error) {
    const fault = fileFault(error, join(root, shown(folder)))
    if (fault.code === 'not_found' && folder === '') return []
    throw fault
  }
}

/** Every file and folder below `root`, each folder before what is in it. */
export async function walkAll(root: string): Promise<{ path: string; isFolder: boolean }[]> {
  const all: { path: string; isFolder: boolean }[] = []
  const open = ['']
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const name of await namesOf(root, folder)) {
      const path = folder === '' ? name : `${folder}/${name}`
      const isFolder = (await statOf(root, path)).isDirectory()
      all.push({ path, isFolder })
      if (isFolder) open.push(path)
    }
  }
  return all
}
