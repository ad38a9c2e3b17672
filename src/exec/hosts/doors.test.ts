// Doors of tasks as real sockets, opened, shut and opened anew by the next daemon.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chdir, cwd, platform } from 'node:process'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../clock.ts'
import { Doors, doorFolder, doorName } from './doors.ts'
import { HOST_CONNECTIONS } from './limits.ts'

const skip = platform === 'linux' ? false : 'doors are bound by /proc'

function worldOf(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'holon-doors-'))
  const before = cwd()
  const task = join(root, 'task'.padEnd(200, 'k'))
  mkdirSync(task)
  const asked: string[] = []
  const gate = {
    judge: async (agent_id: string, host: string) => {
      asked.push(`${agent_id} ${host}`)
      return { ok: false, why: 'no' } as const
    },
  }
  const net = { resolve: async () => [], connect: () => assert.fail('nothing is dialled') }
  const made: Doors[] = []
  const doorsOf = () => {
    const doors = new Doors({ gate, net, clock: systemClock() })
    made.push(doors)
    return doors
  }
  t.after(async () => {
    chdir(before)
    for (const doors of made) await doors.close()
    rmSync(root, { recursive: true, force: true })
  })
  /** By its name in its folder: the whole path is too long for a socket. */
  const enter = async (): Promise<Socket> => {
    chdir(doorFolder(task))
    const client = connect(doorName)
    await once(client, 'connect')
    return client
  }
  return { task, asked, doorsOf, enter }
}

async function answer(client: Socket): Promise<string> {
  let text = ''
  client.on('data', (bytes) => (text += bytes.toString()))
  await once(client, 'close')
  return text
}

test('a door knows whose it is, and the next daemon opens it where it was', { skip }, async (t) => {
  const { task, asked, doorsOf, enter } = worldOf(t)
  const doors = doorsOf()
  assert.equal(await doors.open(task), false)
  doors.make(task, 'main')
  assert.equal(await doors.open(task), true)
  assert.equal(await doors.open(task), false)
  const client = await enter()
  client.write('CONNECT a.example:443 HTTP/1.1\r\n\r\n')
  assert.match(await answer(client), /^HTTP\/1\.1 403 .*\r\n\r\nno\n$/s)
  const held = await enter()
  const gone = once(held, 'close')
  // As after a kill its socket still lies there.
  const next = doorsOf()
  assert.equal(await next.open(task), true)
  const again = await enter()
  again.write('CONNECT a.example:443 HTTP/1.1\r\n\r\n')
  await answer(again)
  assert.deepEqual(asked, ['main a.example:443', 'main a.example:443'])
  await next.shut(task)
  assert.deepEqual(readdirSync(doorFolder(task)), ['agent'])
  await doors.shut(task)
  await gone
  assert.equal(existsSync(join(doorFolder(task), doorName)), false)
})

test('more connections than a command may have are refused in words', { skip }, async (t) => {
  const { task, doorsOf, enter } = worldOf(t)
  const doors = doorsOf()
  doors.make(task, 'main')
  await doors.open(task)
  for (let open = 0; open < HOST_CONNECTIONS; open += 1) await enter()
  const over = await enter()
  assert.match(await answer(over), /^HTTP\/1\.1 503 .*\r\n\r\n128 connections are open/s)
})
