/**
 * The fuzz of the HTTP API at any length, by hand: `npm run fuzz -- --cases 20000 --seed 1`; with
 * the word `parsers`, that of what reads foreign text. The figures are the last thing it prints; it
 * exits 1 when something should not be.
 */
import { parseArgs } from 'node:util'
import { ownScope } from './crash/scenario.ts'
import { fuzz } from './support/http/fuzz.ts'
import { bound_ms, tryReader } from './support/parser-fuzz.ts'
import { readers } from './support/parser-readers.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { cases: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
})
const [what = 'http'] = positionals
if (what !== 'http' && what !== 'parsers') {
  console.error('usage: npm run fuzz -- [http|parsers] [--cases 20000] [--seed 1]')
  process.exit(2)
}

const { cases, seed } = { cases: Number(values.cases), seed: Number(values.seed) }
if (what === 'parsers') process.exitCode = (await fuzzParsers(cases, seed)) === 0 ? 0 : 1
else process.exitCode = await fuzzHttp(cases, seed)

/** The code to end with. Told to stop it ends early, and leaves no process and no folder behind. */
async function fuzzHttp(requests: number, from: number): Promise<number> {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const scope = ownScope()
  const began = performance.now()
  try {
    const { complaints, broken, ...figures } = await fuzz(scope, requests, from, stop.signal)
    for (const one of [...complaints, ...broken]) console.error(one)
    const ms = Math.round(performance.now() - began)
    const found = { complaints: complaints.length, broken: broken.length, ms }
    console.log(JSON.stringify({ ...figures, ...found }))
    return complaints.length + broken.length > 0 || stop.signal.aborted ? 1 : 0
  } finally {
    await scope.close()
  }
}

/** How many complaints there were. */
async function fuzzParsers(texts: number, from: number): Promise<number> {
  let complaints = 0
  for (const reader of readers) {
    const tried = await tryReader(reader, texts, from)
    for (const one of tried.complaints) console.error(one)
    complaints += tried.complaints.length
    const { cases: done, slowest_ms, slowest_length } = tried
    console.log(
      `${reader.name}: ${done} texts, ${slowest_ms} ms at most (${slowest_length} letters)`,
    )
  }
  console.log(`seed ${from}, bound ${bound_ms} ms of processor time: ${complaints} complaints`)
  return complaints
}
