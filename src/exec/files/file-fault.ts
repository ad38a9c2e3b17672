/**
 * What can go wrong with a file: one typed error, with what a caller may do about it.
 */
export type FileFaultCode =
  | 'not_found'
  | 'is_folder'
  | 'not_regular'
  | 'denied'
  | 'disk_full'
  | 'read_only'
  | 'scarce'
  | 'too_large'
  | 'io'

export class FileFault extends Error {
  readonly code: FileFaultCode
  readonly path: string
  readonly retry: 'now' | 'later' | 'never'

  constructor(code: FileFaultCode, path: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'FileFault'
    this.code = code
    this.path = path
    this.retry = retryOf[code]
  }
}

const retryOf: Readonly<Record<FileFaultCode, 'now' | 'later' | 'never'>> = {
  not_found: 'never',
  is_folder: 'never',
  not_regular: 'never',
  denied: 'never',
  disk_full: 'later',
  read_only: 'never',
  scarce: 'later',
  too_large: 'never',
  io: 'later',
}

const scarce = 'the system is out of memory or open files: raise the limit or close something'

const known: Readonly<Record<string, [FileFaultCode, string]>> = {
  ENOENT: ['not_found', 'there is no such file or folder'],
  ENOTDIR: ['not_found', 'a part of the path is not a folder'],
  EISDIR: ['is_folder', 'it is a folder'],
  EEXIST: ['not_regular', 'something else has that name'],
  ELOOP: ['not_regular', 'it is a symbolic link, or links run in a circle'],
  ENXIO: ['not_regular', 'it is a device or a pipe'],
  ENODEV: ['not_regular', 'it is a device'],
  EACCES: ['denied', 'the system denies access'],
  EPERM: ['denied', 'the system denies access'],
  ENOSPC: ['disk_full', 'the disk is full'],
  EDQUOT: ['disk_full', 'the disk quota is used up'],
  EROFS: ['read_only', 'the file system is read-only'],
  EMFILE: ['scarce', scarce],
  ENFILE: ['scarce', scarce],
  ENOMEM: ['scarce', scarce],
  EFBIG: ['too_large', 'the file would be too large for this system'],
  ENAMETOOLONG: ['not_found', 'the path is too long for this system'],
}

/** Turns whatever `fs` threw into a fault; a fault passes unchanged. */
export function fileFault(error: unknown, path: string): FileFault {
  if (error instanceof FileFault) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  const [kind, says] = known[code] ?? ['io', `the system said ${code}`]
  return new FileFault(kind, path, `${path}: ${says}`, error)
}
