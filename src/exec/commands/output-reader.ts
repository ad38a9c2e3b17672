/**
 * The reader: puts what commands write into their output files. One program for all commands of a
 * spawner, because two readers for each command would cost more than most commands do. It outlives
 * the daemon, as its commands do, and ends when nobody can tell it of another one.
 *
 * A command writes into two pipes (`runner-script.ts`), so that no program can empty a file by
 * opening /dev/stdout anew, and none is killed or held up by another's death: should this program
 * die, what a command writes waits in its pipe for the next reader, and the state of the task says
 * from which byte on something may be missing.
 *
 * Arguments: the tasks folder, the kind of identity. A line of its input is the id of a task whose
 * pipes are there; it may come twice.
 */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { Socket } from 'node:net'
import { argv, env, pid } from 'node:process'
import { createInterface } from 'node:readline'
import { OUTPUT_AFTER_END_MS } from '../limits.ts'
import { isCode, type TaskFolder, taskFolder } from './task-folder.ts'

/** Bytes read at once. */
const PIECE_BYTES = 65_536
/** Pieces that a pipe can hold: a mebibyte is the most that a user may give it. */
const PIPE_PIECES = 16
const piece = Buffer.allocUnsafe(PIECE_BYTES)

const [tasks_folder = '', kind = ''] = argv.slice(2)
const me = identity()
const reading = new Set<string>()

createInterface({ input: process.stdin }).on('line', (id) => {
  if (reading.has(id)) return
  reading.add(id)
  try {
    read(taskFolder(tasks_folder, id), () => reading.delete(id))
  } catch (error) {
    // Its end came first, or its folder is gone: there is nothing to read.
    reading.delete(id)
    if (!isCode(error, 'ENOENT')) console.error(error)
  }
})

/** Pid and start time, in the words of the runner. */
function identity(): string {
  if (kind === 'proc') return readFileSync('/proc/self/stat', 'latin1').trim()
  const args = ['-o', 'lstart=', '-p', String(pid)]
  const started = execFileSync('ps', args, { encoding: 'utf8', env: { ...env, LC_ALL: 'C' } })
  return `${pid} ${started.trim()}`
}

/** Reads until nobody can write any more; `over` is called then. Throws when the pipes are gone. */
function read(folder: TaskFolder, over: () => void): void {
  const before = readFileSync(folder.state, 'utf8').includes('\nreader ')
  const { streams, hold, told } = open(folder)
  note(folder, `reader ${me}`)
  // What the one before had taken and not yet written died with it.
  if (before) for (const { name, file } of streams) lose(folder, name, file)

  let left = streams.length
  let held = true
  let drained = false
  const drain = () => {
    if (drained) return
    drained = true
    writeSync(told, 'drained\n')
  }
  const look = () => {
    if (left > 0 || held) return
    drain()
    for (const path of [folder.out, folder.err, folder.hold, folder.told]) remove(path)
    for (const { file } of streams) closeSync(file)
    closeSync(told)
    over()
  }
  const pipes = streams.map((stream) => {
    const keep = (bytes: Uint8Array) => {
      if (write(stream.file, bytes) || stream.lost) return
      stream.lost = true
      lose(folder, stream.name, stream.file)
    }
    return new Pipe(stream.pipe, keep, () => {
      left -= 1
      look()
    })
  })
  const takeAll = () => pipes.forEach((pipe) => pipe.take())
  const gone = new Pipe(
    hold,
    () => {},
    () => {
      held = false
      takeAll()
      writeSync(told, 'taken\n')
      look()
      // Whoever the command left behind may write for ever.
      if (left > 0) setTimeout(() => (takeAll(), drain()), OUTPUT_AFTER_END_MS)
    },
  )
  for (const pipe of [...pipes, gone]) pipe.read()
}

/** All of them, or none. */
function open(folder: TaskFolder) {
  const opened: number[] = []
  const at = (path: string, flags: number) => {
    const file = openSync(path, flags | constants.O_NONBLOCK, 0o600)
    opened.push(file)
    return file
  }
  const { O_RDONLY, O_RDWR, O_WRONLY, O_APPEND, O_CREAT } = constants
  try {
    const hold = at(folder.hold, O_RDONLY)
    const told = at(folder.told, O_RDWR)
    const streams = (['stdout', 'stderr'] as const).map((name) => ({
      name,
      pipe: at(name === 'stdout' ? folder.out : folder.err, O_RDONLY),
      file: at(folder[name], O_WRONLY | O_APPEND | O_CREAT),
      lost: false,
    }))
    return { streams, hold, told }
  } catch (error) {
    for (const file of opened) closeSync(file)
    throw error
  }
}

class Pipe {
  readonly #fd: number
  readonly #keep: (bytes: Uint8Array) => void
  readonly #end: () => void
  #ended = false

  constructor(fd: number, keep: (bytes: Uint8Array) => void, end: () => void) {
    this.#fd = fd
    this.#keep = keep
    this.#end = end
  }

  /** Reads to the end: first what is there, for of a pipe without a writer no end would be told. */
  read(): void {
    if (this.take() === 'end') {
      this.#ended = true
      closeSync(this.#fd)
      setImmediate(this.#end)
      return
    }
    const socket = new Socket({ fd: this.#fd, readable: true, writable: false })
    socket.on('data', this.#keep).on('error', () => {})
    socket.on('close', () => {
      this.#ended = true
      this.#end()
    })
  }

  /** All that was written until now: a pipe holds no more than this. */
  take(): 'end' | 'more' {
    for (let n = 0; n < PIPE_PIECES && !this.#ended; n += 1) {
      try {
        const count = readSync(this.#fd, piece)
        if (count === 0) return 'end'
        this.#keep(piece.subarray(0, count))
      } catch (error) {
        if (isCode(error, 'EAGAIN')) break
        throw error
      }
    }
    return 'more'
  }
}

/** False when the disk did not take all of it. */
function write(file: number, bytes: Uint8Array): boolean {
  try {
    for (let from = 0; from < bytes.length;) from += writeSync(file, bytes, from)
    return true
  } catch {
    return false
  }
}

function lose(folder: TaskFolder, name: 'stdout' | 'stderr', file: number): void {
  note(folder, `lost ${name} ${fstatSync(file).size}`)
}

function note(folder: TaskFolder, line: string): void {
  try {
    appendFileSync(folder.state, `${line}\n`)
  } catch {
    // On a full disk the runner says that output may be missing.
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // The folder went first.
  }
}
