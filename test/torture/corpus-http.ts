/**
 * Answers that are wrong before their first frame: status, headers, types, and the socket itself.
 */
import { gzipSync } from 'node:zlib'
import type { Endpoint } from '../../src/testing/model-server/server.ts'
import type { Case } from './cases.ts'
import { framesOf } from './corpus-frames.ts'
import { wireOf } from './served.ts'

const html = '<!doctype html><title>Bad gateway</title><h1>502</h1>'
const json = { 'content-type': 'application/json' }
const sse = { 'content-type': 'text/event-stream' }

const bodies: readonly [string, string | Uint8Array][] = [
  ['nothing', ''],
  ['a page', html],
  ['no JSON', '{"error":'],
  ['JSON of another shape', '{"error":[7]}'],
  ['null', 'null'],
  ['bytes that are no text', new Uint8Array([0xff, 0xfe, 0x00, 0xc3, 0x28])],
]

const retryAfters = [
  '-1',
  '0',
  'NaN',
  '1e9',
  '99999999999999999999',
  'Thu, 01 Jan 1970 00:00:00 GMT',
  'x',
]

/** Statuses of which the same request may succeed later: the agent is held, and goes on. */
const passing = [408, 409, 425, 429, 500, 502, 503, 504, 520, 529, 599]
/** Nothing changes until somebody changes something: held until the operator says so. */
const lasting = [401, 402, 403, 404, 301, 302, 307, 308]
const refusing = [400, 405, 406, 411, 413, 414, 415, 418, 422, 431, 451]

export function httpCases(endpoint: Endpoint): Case[] {
  const frames = framesOf(endpoint)
  const text = frames.join('')
  const runs = ['ran']
  const wrong = (says: string, status: number, fate: Case['fate']): Case[] =>
    bodies.map(([what, body]) => ({
      says: `${says} ${status} with ${what}`,
      fate,
      served: { status, headers: json, body: [body] },
    }))
  const raw = (says: string, bytes: string): Case => ({
    says,
    fate: 'any',
    runs,
    served: { body: [], raw: bytes },
  })
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n'
  const latin = Buffer.from(text).toString('latin1')
  return [
    ...passing.flatMap((status) => wrong('passing', status, 'broken')),
    ...lasting.flatMap((status) => wrong('lasting', status, 'broken')),
    ...refusing.flatMap((status) => wrong('refusing', status, 'refused')),
    ...retryAfters.map((value): Case => ({
      says: `retry-after: ${value}`,
      fate: 'broken',
      served: {
        status: 429,
        headers: { ...json, 'retry-after': value },
        body: [JSON.stringify(wireOf(endpoint).error_body(429, 'slow down', undefined))],
      },
    })),
    ...['text/html', 'text/plain', 'application/octet-stream', 'nonsense', ''].flatMap(
      (type): Case[] => [
        {
          says: `frames as "${type}"`,
          fate: 'any',
          runs,
          served: { headers: { 'content-type': type }, body: frames },
        },
        {
          says: `a page as "${type}"`,
          fate: 'broken',
          served: { headers: { 'content-type': type }, body: [html] },
        },
      ],
    ),
    { says: 'a page as a stream', fate: 'broken', served: { headers: sse, body: [html] } },
    {
      says: 'JSON instead of a stream',
      fate: 'broken',
      served: { headers: json, body: ['{"id":"x"}'] },
    },
    { says: '204', fate: 'broken', served: { status: 204, body: [] } },
    {
      says: 'frames said to be packed',
      fate: 'any',
      runs,
      served: { headers: { ...sse, 'content-encoding': 'gzip' }, body: frames },
    },
    {
      says: 'packed frames',
      fate: 'any',
      runs,
      served: { headers: { ...sse, 'content-encoding': 'gzip' }, body: [gzipSync(text)] },
    },
    raw('no HTTP at all', 'SSH-2.0-OpenSSH_9.9\r\n'),
    raw('a close without a word', ''),
    raw('half a head', 'HTTP/1.1 200 OK\r\ncontent-ty'),
    raw('a status that is no number', 'HTTP/1.1 abc OK\r\n\r\n'),
    raw('a head without an end', `${head}x: ${'y'.repeat(100_000)}`),
    raw('a body shorter than said', `${head}content-length: ${latin.length + 9}\r\n\r\n${latin}`),
    raw('a body longer than said', `${head}content-length: 40\r\n\r\n${latin}`),
    raw('a chunk of no size', `${head}transfer-encoding: chunked\r\n\r\nzz\r\n${latin}`),
    raw(
      'a chunk that is cut',
      `${head}transfer-encoding: chunked\r\n\r\nfff\r\n${latin.slice(0, 60)}`,
    ),
    raw('two lengths', `${head}content-length: 5\r\ncontent-length: 6\r\n\r\n${latin}`),
  ]
}
