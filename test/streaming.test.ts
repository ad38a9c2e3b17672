/**
 * An answer that is in the middle when something breaks: who looks at it (the screen, a run, a
 * reader of the event stream) sees no word twice and none left out, and the whole text in the end.
 * Real processes, a real model server that says its words one by one.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { ServerAnswer } from '../src/testing/model-server/server.ts'
import { ServedHome } from './support/served-home.ts'
import {
  framesBefore,
  Listener,
  Onlooker,
  saidText,
  standBetween,
  startSpeaker,
  wholeText,
} from './support/streaming/speaker.ts'

const patience = { timeout: 120_000 }
const half = 6
const whole = 12

/** A daemon whose agent is asked for its words by nobody yet. */
async function speaking(t: TestContext, answers: readonly ServerAnswer[] = []) {
  const speaker = await startSpeaker(t, answers)
  const at = new ServedHome(t)
  const env = { OPENAI_COMPATIBLE_BASE_URL: speaker.server.base_url }
  const daemon = await at.serve(['--port', '0'], env)
  const made = { id: 'main', model: 'openai-compatible/speaker' }
  const workspace = { mode: 'explicit_root', root: at.folder }
  const body = JSON.stringify({ ...made, workspace })
  const headers = { 'content-type': 'application/json' }
  const created = await at.fetch(daemon.url, '/agents', { method: 'POST', body, headers })
  assert.equal(created.status, 201, JSON.stringify(created.body))
  const screen = () => new Onlooker(t, at, ['tui', 'main'], env)
  const run = (...args: string[]) => new Onlooker(t, at, ['run', ...args], env)
  const listener = (after = 0) => new Listener(t, at, { url: daemon.url, after })
  return { ...speaker, at, env, daemon, screen, run, listener }
}

const hears = (listener: Listener, count: number): Promise<void> =>
  listener.until(() => listener.heard.trim() === saidText(count))
const told = (listener: Listener): Promise<void> =>
  listener.until(() => listener.recorded.length > 0)

test('readers that are killed in the middle and come again', patience, async (t) => {
  const at = await speaking(t)
  const readers = { screen: at.screen(), listener: at.listener() }
  await readers.screen.shows(/live \d\d:\d\d/)
  const run = at.run('--agent', 'main', 'Speak.')
  at.lets(half)
  await Promise.all([readers.screen.sees(half), run.sees(half), hears(readers.listener, half)])
  await Promise.all([readers.screen.kill(), run.kill()])
  readers.listener.hangUp()

  const again = { screen: at.screen(), run: at.run('--resume') }
  const listener = at.listener(readers.listener.last_seq)
  await Promise.all([again.screen.sees(half), again.run.sees(half), hears(listener, half)])
  at.lets(whole)
  await Promise.all([again.screen.sees(whole), again.run.ended, told(listener)])
  await again.run.sees(whole)
  assert.deepEqual(listener.recorded, [wholeText])
  assert.equal(at.server.requests.length, 1)
})

test('connections that break in the middle', patience, async (t) => {
  const at = await speaking(t)
  const between = await standBetween(t, at.at)
  const screen = at.screen()
  await screen.shows(/live \d\d:\d\d/)
  const run = at.run('--agent', 'main', 'Speak.')
  at.lets(half)
  await Promise.all([screen.sees(half), run.sees(half)])
  assert.ok(between.cut() >= 4, 'both had a stream')
  at.lets(half + 3)
  await Promise.all([screen.sees(half + 3), run.sees(half + 3)])
  between.cut()
  at.lets(whole)
  await Promise.all([screen.sees(whole), run.ended])
  await run.sees(whole)
  assert.equal(at.server.requests.length, 1)
})

test('a daemon that is killed in the middle and comes again', patience, async (t) => {
  const at = await speaking(t)
  const [screen, first] = [at.screen(), at.listener()]
  await screen.shows(/live \d\d:\d\d/)
  const run = at.run('--agent', 'main', 'Speak.')
  at.lets(half)
  await Promise.all([screen.sees(half), run.sees(half), hears(first, half)])
  at.daemon.child.kill('SIGKILL')
  await Promise.all([at.daemon.ended, first.over])
  const { port } = new URL(at.daemon.url)
  await at.at.serve(['--port', port], at.env)
  const listener = at.listener(first.last_seq)
  await Promise.all([screen.sees(half), run.sees(half), hears(listener, half)])
  at.lets(whole)
  await Promise.all([screen.sees(whole), run.ended, told(listener)])
  await run.sees(whole)
  assert.deepEqual(listener.recorded, [wholeText])
  assert.equal(at.server.requests.length, 2)
})

test('a model whose answer breaks off in the middle and is asked again', patience, async (t) => {
  const cut: ServerAnswer = { fault: { kind: 'cut', events: framesBefore + half } }
  const at = await speaking(t, [cut])
  const [screen, listener] = [at.screen(), at.listener()]
  await screen.shows(/live \d\d:\d\d/)
  const run = at.run('--agent', 'main', 'Speak.')
  at.lets(half - 1)
  await Promise.all([screen.sees(half - 1), run.sees(half - 1), hears(listener, half - 1)])
  at.lets(half)
  await at.server.answered(1)
  at.lets(whole)
  await Promise.all([screen.sees(whole), run.ended, told(listener)])
  await run.sees(whole)
  assert.deepEqual(listener.recorded, [wholeText])
  assert.equal(at.server.requests.length, 2)
})
