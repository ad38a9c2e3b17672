/** What a task wrote, piece by piece, for who reads along; decoded at whole characters. */
import type { TaskId } from '../../domain/ids.ts'
import type { Processes } from '../../exec/ports.ts'
import { ProcessFault } from '../../exec/commands/process-fault.ts'
import type { TaskRange, TaskText } from '../ports.ts'

/** Null when no command of this id ever began. */
export async function taskText(
  processes: Processes,
  task_id: TaskId,
  { stream, offset, limit }: TaskRange,
): Promise<TaskText | null> {
  try {
    // Looked at first: an end seen before the read means that the read has everything.
    const process = await processes.observe(task_id)
    if (process.state === 'absent') return null
    const read = await processes.output(task_id, { stream, from: offset, max_bytes: limit })
    return {
      text: read.text,
      next_offset: read.from + read.bytes,
      size: process.output[`${stream}_bytes`],
      ended: process.state !== 'running',
    }
  } catch (error) {
    // An id that cannot be one: nothing of that name ever began.
    if (error instanceof ProcessFault && error.code === 'invalid_command') return null
    throw error
  }
}

/** The last of what a command without a terminal wrote, of both streams. */
export async function tailOf(
  processes: Processes,
  task_id: TaskId,
  max_bytes: number,
): Promise<string> {
  const read = (stream: 'stdout' | 'stderr') =>
    processes.output(task_id, { stream, max_bytes, tail: true })
  const [out, err] = await Promise.all([read('stdout'), read('stderr')])
  return [out.text, err.text].filter((text) => text.trim() !== '').join('\n')
}
