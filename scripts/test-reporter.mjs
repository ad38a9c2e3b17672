// Node's spec reporter without its closing counts: those go to file descriptor 3 as one JSON
// object, so that scripts/test.mjs can print one summary for several runs.
import { writeSync } from 'node:fs'
import { Readable } from 'node:stream'
import { spec } from 'node:test/reporters'

/** A line of Node's own summary: what is counted, and how many. */
const count = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([\d.]+)$/

/** Passes events on and keeps the counts back until the run is over. */
async function* withoutCounts(events) {
  const counts = {}
  for await (const event of events) {
    const counted = event.type === 'test:diagnostic' && count.exec(event.data.message)
    if (counted) counts[counted[1]] = Number(counted[2])
    else yield event
  }
  writeSync(3, JSON.stringify(counts))
}

export default async function* report(events) {
  yield* Readable.from(withoutCounts(events)).pipe(new spec())
}
