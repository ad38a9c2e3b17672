/**
 * The floor of a round: what the machine must do in any case, in one bare loop per agent. A request
 * to the model process with a body as long as ours, the whole answer read, one commit, the command
 * by `sh`, another commit, both with FULL sync. Argument: `FloorSpec` as JSON.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { DatabaseSync } from 'node:sqlite'

/** `opening` and `each`: bytes of the first request, and those that every round adds. */
export type FloorSpec = {
  database: string
  base_url: string
  models: readonly string[]
  rounds: number
  opening: number
  each: number
}

const spec = JSON.parse(process.argv[2] ?? '') as FloorSpec
const database = new DatabaseSync(spec.database)
database.exec('pragma journal_mode = wal; pragma synchronous = full')
database.exec('create table events (n integer primary key, data text) strict')
const insert = database.prepare('insert into events (data) values (?)')
const agent = new Agent({ keepAlive: true, maxSockets: 64 })

function commit(data: unknown): void {
  database.exec('begin immediate')
  insert.run(JSON.stringify(data))
  database.exec('commit')
}

async function ask(body: string): Promise<string> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const url = `${spec.base_url}/chat/completions`
  const outgoing = request(url, { agent, method: 'POST', headers })
  outgoing.end(body)
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

async function loop(model: string): Promise<void> {
  const content = 'x'.repeat(spec.opening)
  const messages = [{ role: 'user', content }]
  const said = 'y'.repeat(Math.max(0, spec.each - 60))
  // Two more that run nothing, as long as ours takes to make and pick its item.
  for (let round = -1; round <= spec.rounds; round++) {
    const answer = await ask(JSON.stringify({ model, stream: true, messages }))
    if (round < 1) continue
    commit({ round, answer })
    const child = spawn('sh', ['-c', `true # ${round}`], { stdio: 'ignore' })
    const [exit_status] = (await once(child, 'exit')) as [number]
    commit({ round, exit_status })
    messages.push({ role: 'tool', content: said })
  }
  await ask(JSON.stringify({ model, stream: true, messages }))
}

await Promise.all(spec.models.map(loop))
agent.destroy()
database.close()
