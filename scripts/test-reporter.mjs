// Node's spec reporter without its closing counts: those go to file descriptor 3 as one JSON
// object, with each test that was skipped and why, so that scripts/test.mjs can print one summary
// for several runs. With TELL_FIRST_FAILURE set, the first failure is told at once in the words in
// which it will stand at the end, for who ends the run there.
import { writeSync } from 'node:fs'
import { relative } from 'node:path'
import { cwd, env } from 'node:process'
import { Readable } from 'node:stream'
import { spec } from 'node:test/reporters'

/** A line of Node's own summary: what is counted, and how many. */
const count = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([\d.]+)$/

const firstFailure = ({ name, file, line, column, details }) =>
  `✖ failing tests:\n\ntest at ${relative(cwd(), file)}:${line}:${column}\n` +
  `✖ ${name} (${details.duration_ms}ms)\nthe first failure was told\n`

/** Passes events on and keeps the counts and the skips back until the run is over. */
async function* withoutCounts(events) {
  const counts = {}
  const skips = []
  let isTold = env['TELL_FIRST_FAILURE'] === undefined
  for await (const event of events) {
    const counted = event.type === 'test:diagnostic' && count.exec(event.data.message)
    const { name, skip } = event.data
    if (event.type === 'test:pass' && skip !== undefined) skips.push(`${name}: ${skip}`)
    if (event.type === 'test:fail' && !isTold) {
      isTold = true
      writeSync(1, firstFailure(event.data))
    }
    if (counted) counts[counted[1]] = Number(counted[2])
    else yield event
  }
  writeSync(3, JSON.stringify({ counts, skips }))
}

export default async function* report(events) {
  yield* Readable.from(withoutCounts(events)).pipe(new spec())
}
