/**
 * The fuzz of the HTTP API at any length, by hand: `node test/http-fuzz.ts --cases 20000 --seed 1`.
 * Its figures are the last thing it prints; it exits 1 when something should not be.
 */
import { test } from 'node:test'
import { parseArgs } from 'node:util'
import { fuzz } from './support/http-fuzz.ts'

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
})

void test('a fuzz of the HTTP API', async (t) => {
  const from = performance.now()
  const { complaints, broken, ...figures } = await fuzz(
    t,
    Number(values.cases),
    Number(values.seed),
  )
  for (const one of [...complaints, ...broken]) console.error(one)
  const ms = Math.round(performance.now() - from)
  const found = { complaints: complaints.length, broken: broken.length, ms }
  process.on('exit', () => console.log(JSON.stringify({ ...figures, ...found })))
  if (complaints.length + broken.length > 0) throw new Error('it found something')
})
