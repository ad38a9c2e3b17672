/**
 * Hosts in every form that a client may write, through the proxy of confined commands with the
 * list and the rules of a home: only names that are allowed are looked up, and only addresses that
 * were checked are dialled.
 */
import assert from 'node:assert/strict'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { systemClock } from '../src/exec/clock.ts'
import type { Net } from '../src/exec/hosts/net.ts'
import { carry } from '../src/exec/hosts/proxy.ts'
import { hostGate } from '../src/main/homes/sandbox.ts'
import { serveLoopback } from '../src/testing/http/loopback.ts'
import { serveTls } from '../src/testing/http/proxy.ts'

const listed = [
  'api.provider.test:443',
  '*.github.test:443',
  'bücher.example:443',
  'any.example',
  ...['rebinds', 'inside', 'mixed', 'metadata', 'carrier', 'six', 'six-inside', 'translated'].map(
    (name) => `${name}.example:443`,
  ),
  'nowhere.example:443',
  'plain.example:443',
]

/** What a look-up answers each time; every other name is on the public internet. */
const addresses: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'rebinds.example': [['93.184.216.34'], ['127.0.0.1']],
  'inside.example': [['10.0.0.7']],
  'mixed.example': [['93.184.216.34', '192.168.1.1']],
  'metadata.example': [['169.254.169.254']],
  'carrier.example': [['100.64.0.1']],
  'six.example': [['2606:2800:220:1::1']],
  'six-inside.example': [['fd00::1']],
  'translated.example': [['64:ff9b::7f00:1']],
  'nowhere.example': [[]],
  // A server that speaks no TLS there.
  'plain.example': [['93.184.216.80']],
}

/** `reached`: the server behind it answered. `other`: it was shut after the words of the client. */
type Outcome = 'reached' | 'other' | number
/** `server`: what the hello names; absent, the name that was asked for. `words`: not TLS at all. */
type Form = { asked: string; gives: Outcome; server?: string | null; words?: string }

const reached = (asked: string, more: Partial<Form> = {}): Form => ({
  asked,
  gives: 'reached',
  ...more,
})
const other = (asked: string, more: Partial<Form>): Form => ({ asked, gives: 'other', ...more })
const not = (gives: number, ...all: string[]): Form[] => all.map((asked) => ({ asked, gives }))

const api = 'api.provider.test'
const forms: readonly Form[] = [
  reached(`${api}:443`),
  reached(`${api}:0443`),
  reached('API.Provider.TEST:443', { server: api }),
  reached(`${api}.:443`, { server: api }),
  reached('\uff41pi.provider.test:443', { server: api }),
  reached('api\u3002provider.test:443', { server: api }),
  reached('a\u00adpi.provider.test:443', { server: api }),
  reached('raw.github.test:443'),
  reached('a.b.github.test:443'),
  reached('bücher.example:443', { server: 'xn--bcher-kva.example' }),
  reached('BÜCHER.example:443', { server: 'xn--bcher-kva.example' }),
  reached('xn--bcher-kva.example:443'),
  reached('any.example:8443'),
  reached('any.example:9418', { words: 'GET / HTTP/1.0\r\n\r\n' }),
  reached('six.example:443'),
  reached('rebinds.example:443'),
  // Names that only look like one of them.
  ...not(403, 'github.test:443', 'evilgithub.test:443', 'github.test.evil.example:443'),
  ...not(403, 'evil.example:443', `${api}.evil.example:443`, `evil-${api}:443`, `x.${api}:443`),
  ...not(403, '\u0430pi.provider.test:443', 'xn--pi-7tb.provider.test:443', '*.github.test:443'),
  ...not(403, 'provider.test:443', 'test:443', '-x.github.test:443', 'b\u0131cher.example:443'),
  ...not(403, `${'a'.repeat(64)}.github.test:443`, `${'a.'.repeat(125)}github.test:443`),
  // Other ports, and none.
  ...not(403, `${api}:80`, `${api}:8443`, `${api}:22`, `${api}:0`, `${api}:65979`, `${api}:-443`),
  ...not(403, api, `${api}:`, `:443`, `${api}:443x`, `${api}:+443`, `${api}:443:443`),
  // What a URL would take for something else.
  ...not(403, `user@${api}:443`, `${api}@evil.example:443`, `evil.example@${api}:443`),
  ...not(403, `${api}#.evil.example:443`, `${api}?.evil.example:443`, `${api}/.evil.example:443`),
  ...not(403, `${api}\\.evil.example:443`, `https://${api}:443`, `//${api}:443`),
  ...not(403, `api%2eprovider.test:443`, `${api}%00.evil.example:443`, `${api}\0.evil.example:443`),
  ...not(403, 'api..provider.test:443', `.${api}:443`, `${api}..:443`),
  // Addresses, however they are written.
  ...not(403, '127.0.0.1:443', '0x7f.1:443', '0x7f000001:443', '2130706433:443', '127.1:443'),
  ...not(403, '017700000001:443', '0:443', '\uff11\uff12\uff17.0.0.1:443', '127.0.0.1.:443'),
  ...not(403, '[::1]:443', '[::ffff:127.0.0.1]:443', '[fe80::1%25eth0]:443', '::1:443'),
  ...not(403, '93.184.216.34:443', '[2606:2800:220:1::1]:443', '169.254.169.254:80'),
  ...not(403, 'localhost:443', 'localhost.:7777', 'metadata.google.internal:80'),
  // Names that lead inside, or nowhere.
  ...not(403, 'inside.example:443', 'mixed.example:443', 'metadata.example:443'),
  ...not(403, 'carrier.example:443', 'six-inside.example:443', 'translated.example:443'),
  ...not(502, 'nowhere.example:443'),
  ...not(400, `${api} :443`, `${api}\t:443`, ''),
  // What the client then says to another server.
  other(`${api}:443`, { server: 'evil.example' }),
  other('raw.github.test:443', { server: 'gist.github.test' }),
  other(`${api}:443`, { server: null }),
  other('plain.example:443', { words: 'GET / HTTP/1.0\r\nhost: evil.example\r\n\r\n' }),
  other('any.example:8443', { server: 'evil.example' }),
]

async function proxyOf(t: TestContext) {
  const { port: plain } = await serveLoopback(t, (_, answer) => answer.end('reached'))
  const secure = await serveTls(t, plain)
  const lookedUp: string[] = []
  const dialled: string[] = []
  const net: Net = {
    resolve: async (name) => {
      const before = lookedUp.filter((one) => one === name).length
      lookedUp.push(name)
      return addresses[name]?.[before] ?? ['93.184.216.34']
    },
    connect: (address, port) => {
      dialled.push(`${address} ${port}`)
      const to = port === 9418 || address.endsWith('.80') ? plain : secure
      return connect({ host: '127.0.0.1', port: to, allowHalfOpen: true })
    },
  }
  const gate = hostGate(listed, async () => ({ ok: true, rules: [] }))
  const judge = (asked: string) => gate.judge('main', asked)
  const clients = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (client) => {
    clients.add(client)
    void carry(client, { judge, net, clock: systemClock() })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.after(() => {
    for (const client of clients) client.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { lookedUp, dialled, port }
}

/** What comes of one form: asks, and then says hello to whom it says. */
async function tried(port: number, { asked, server, words }: Form): Promise<Outcome> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => socket.destroy())
  const status = await answerTo(socket, asked)
  if (status !== 200) return status
  const name = server === undefined ? asked.replace(/:\d+$/, '') : server
  const to =
    words === undefined
      ? connectTls({
          socket,
          rejectUnauthorized: false,
          ...(name === null ? {} : { servername: name }),
        })
      : socket
  to.on('error', () => to.destroy())
  to.write(words ?? 'GET / HTTP/1.0\r\n\r\n')
  const got = await textOf(to)
  socket.destroy()
  return got.endsWith('reached') ? 'reached' : 'other'
}

function answerTo(socket: Socket, asked: string): Promise<number> {
  socket.write(`CONNECT ${asked} HTTP/1.1\r\nhost: whatever\r\n\r\n`)
  return new Promise((resolve) => {
    socket.once('data', (bytes) => resolve(Number(bytes.toString().split(' ')[1])))
    socket.once('close', () => resolve(0))
  })
}

function textOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (bytes) => (text += bytes.toString()))
    socket.once('close', () => resolve(text))
  })
}

test('only hosts that are allowed are looked up, and what was checked is dialled', async (t) => {
  assert.ok(forms.length >= 64)
  const { lookedUp, dialled, port } = await proxyOf(t)
  for (const form of forms) {
    lookedUp.length = 0
    dialled.length = 0
    const label = JSON.stringify(form)
    assert.equal(await tried(port, form), form.gives, label)
    const at = Number(/\d+$/.exec(form.asked)?.[0])
    const to = addresses[form.asked.split(':')[0] ?? '']?.[0]?.[0] ?? '93.184.216.34'
    const isDialled = form.gives === 'reached' || form.gives === 'other'
    assert.deepEqual(dialled, isDialled ? [`${to} ${at}`] : [], label)
    const leads = form.asked.replace(/:\d+$/, '') in addresses
    const name = form.gives === 'reached' && form.server ? form.server : form.asked.split(':')[0]
    assert.deepEqual(lookedUp, isDialled || leads ? [name] : [], label)
  }
})
