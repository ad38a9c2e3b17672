/**
 * The relay: stands inside the sandbox of one command, listens on its loopback, and hands what
 * comes to the door of the daemon, a socket in a folder of its own. It outlives the daemon as its
 * command does, and ends with the sandbox. It decides nothing; what the daemon refuses is written
 * to the errors of the command as well, because most programs do not show it.
 *
 * Arguments: port, path of the socket, most refusals to tell. On descriptor 3 it says that it
 * listens. It stands alone in the sandbox: it imports nothing of ours.
 */
import { closeSync, writeSync } from 'node:fs'
import { connect, createServer } from 'node:net'

const [port = '', door = '', most = ''] = process.argv.slice(2)
const told = new Set<string>()

/** Each text once, without what a terminal would obey. */
function tell(text: string): void {
  const line = text.replace(/[^\x20-\x7e]/g, '?')
  if (line === '' || told.has(line) || told.size >= Number(most)) return
  told.add(line)
  process.stderr.write(`holon: ${line}\n`)
}

const absent =
  'no connection: the daemon of Holon, which makes it, is not there; when it is back, try again'
const unavailable = `HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n${absent}\n`

const server = createServer({ allowHalfOpen: true }, (client) => {
  const daemon = connect({ path: door, allowHalfOpen: true })
  /** Without a word of it there is still a place for one of ours. */
  const gone = () => {
    if (daemon.bytesRead > 0) return void client.end()
    if (client.destroyed || client.writableEnded) return
    tell(absent)
    client.resume().end(unavailable)
  }
  daemon.once('connect', () => client.pipe(daemon).pipe(client, { end: false }))
  daemon.once('data', (bytes: Buffer) => {
    // An answer that refuses is one piece, its words the last of it.
    const [head = '', words = ''] = bytes.toString('latin1').split('\r\n\r\n')
    if (!head.startsWith('HTTP/1.1 200 ')) tell(words.trim())
  })
  daemon.on('end', gone).on('error', gone)
  daemon.on('close', () => client.destroySoon())
  client.on('error', () => daemon.destroy()).on('close', () => daemon.destroy())
})

// Whoever reads the errors of the command may be gone.
process.stderr.on('error', () => {})

server.listen(Number(port), '127.0.0.1', () => {
  writeSync(3, 'ready')
  closeSync(3)
})
