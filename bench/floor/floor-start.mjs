// The floor of a start: a bare script that loads what any such program needs, opens its database
// with FULL sync, commits once, and sends one request. Arguments: database, base URL, model name.
import { request } from 'node:http'
import { DatabaseSync } from 'node:sqlite'

const [path, base, model] = process.argv.slice(2)
const database = new DatabaseSync(path)
database.exec('pragma journal_mode = wal; pragma synchronous = full')
database.exec('create table if not exists events (n integer primary key, data text) strict')
database.exec("begin immediate; insert into events (data) values ('{}'); commit")
const outgoing = request(`${base}/chat/completions`, { method: 'POST' }, (incoming) => {
  incoming.resume()
  incoming.on('end', () => database.close())
})
outgoing.end(JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'go' }] }))
