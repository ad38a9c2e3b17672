/** Worker processes that take jobs in turn, each some at a time, and are gone at the end. */
import { fork } from 'node:child_process'
import { join } from 'node:path'
import type { Done, Job } from './jobs.ts'

/** Jobs a worker has at once: most of a life is waiting for the disk and for commands. */
const atOnce = 3

type Waiting = { job: Job; resolve: (done: Done) => void; reject: (error: Error) => void }

export function openPool(size: number) {
  const queue: Waiting[] = []
  const under = new Map<number, Waiting>()
  let last = 0
  const workers = Array.from({ length: size }, () => {
    const child = fork(join(import.meta.dirname, 'worker.ts'))
    const worker = { child, busy: 0 }
    child.on('message', (said: { id: number; done?: Done; failed?: string }) => {
      const one = under.get(said.id)
      under.delete(said.id)
      worker.busy -= 1
      if (said.done) one?.resolve(said.done)
      else one?.reject(new Error(said.failed ?? 'it failed'))
      feed()
    })
    child.on('exit', (code) => {
      for (const { reject } of under.values()) reject(new Error(`a worker ended with ${code}`))
    })
    return worker
  })
  function feed(): void {
    for (const worker of workers) {
      for (; worker.busy < atOnce && queue.length > 0; worker.busy += 1) {
        const next = queue.shift() as Waiting
        last += 1
        under.set(last, next)
        worker.child.send({ id: last, job: next.job })
      }
    }
  }
  return {
    run: (job: Job): Promise<Done> =>
      new Promise((resolve, reject) => {
        queue.push({ job, resolve, reject })
        feed()
      }),
    close(): void {
      for (const { child } of workers) {
        child.removeAllListeners('exit')
        child.kill()
      }
    },
  }
}
