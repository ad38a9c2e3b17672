/** A process that carries out jobs of the crash matrix, several at a time; `main.ts` forks it. */
import { carryOut, type Job } from './jobs.ts'

process.on('message', ({ id, job }: { id: number; job: Job }) => {
  carryOut(job).then(
    (done) => process.send?.({ id, done }),
    (error: unknown) => process.send?.({ id, failed: String((error as Error).stack ?? error) }),
  )
})
