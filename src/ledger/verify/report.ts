/**
 * What `verify` has found so far: counts, and sentences, of which it keeps the first hundred.
 */
import type { VerifyReport } from '../port.ts'

/** Sentences kept; more say nothing new about what to do. */
export const mostProblems = 100

export class Report {
  events = 0
  rows = 0
  readonly #problems: string[] = []
  #more = 0

  add(problem: string): void {
    if (this.#problems.length < mostProblems) this.#problems.push(problem)
    else this.#more++
  }

  finish(): VerifyReport {
    const problems = [...this.#problems]
    if (this.#more > 0) problems.push(`and ${this.#more} more`)
    return { ok: problems.length === 0, events: this.events, rows: this.rows, problems }
  }
}
