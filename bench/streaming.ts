/**
 * How late words are: a model says twenty a second, and a terminal's bytes are read. On the screen
 * beside a daemon, in a `holon run` that goes by that daemon, and in one alone. A word is seen when
 * the bytes came after which an emulator shows it; what is only shown with its record counts too.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { clientOf, startDaemon } from './fixtures/daemon-process.ts'
import { holon, load, nowUs, quantile, spread, type Bench } from './fixtures/machine.ts'
import { Terminal, until, within } from './fixtures/terminal.ts'
import type { Line } from './report.ts'
import { textOfFrame } from '../src/testing/model-server/chat.ts'
import { startModelServer } from '../src/testing/model-server/server.ts'

/** Milliseconds from word to word. */
const pace = 50
const wordsOf = (answer: number): string[] =>
  Array.from({ length: 24 }, (_, n) => `a${answer}word${String(n).padStart(2, '0')}`)

/** A part of an answer is sent in halves: two words, each in a frame of its own. */
const pairs = (words: readonly string[]): string[] =>
  words.flatMap((word, n) => (n % 2 === 0 ? [`${word} ${words[n + 1] ?? word} `] : []))

const model = 'openai-compatible/speaker'
const size = [120, 40] as const

/** A model that says words which nobody said before, with the moment at which each was sent. */
async function startSpeaker() {
  const sent = new Map<string, number>()
  let answer = 0
  const before_frame = async (frame: string) => {
    const text = textOfFrame(frame)
    if (text === '') return
    await pause(pace)
    sent.set(text.trim(), nowUs())
  }
  const script = () => {
    answer += 1
    return { parts: pairs(wordsOf(answer)).map((text) => ({ text })) }
  }
  const server = await startModelServer(script, { before_frame })
  return { server, sent, answered: (n: number) => server.answered(n), answers: () => answer }
}

type Speaker = Awaited<ReturnType<typeof startSpeaker>>

/** Notes on a terminal when each word of the speaker was first on it. */
function watched(terminal: Terminal, seen: Map<string, number>, { sent }: Speaker): Terminal {
  terminal.watch = (at_us) => {
    const text = terminal.text()
    for (const word of sent.keys()) {
      if (!seen.has(word) && text.includes(word)) seen.set(word, at_us)
    }
  }
  return terminal
}

export async function streaming(given: Bench, times: number): Promise<Line[]> {
  const speaker = await startSpeaker()
  const bench = { ...given, base_url: speaker.server.base_url }
  try {
    return [
      ...(await onTheScreen(bench, speaker, times)),
      ...(await inRuns(bench, speaker, { times, beside: true })),
      ...(await inRuns(bench, speaker, { times, beside: false })),
    ]
  } finally {
    await speaker.server.close()
  }
}

async function onTheScreen(bench: Bench, speaker: Speaker, times: number): Promise<Line[]> {
  const home = bench.folder('said-home')
  await asked(bench, home, 'Begin.')
  const daemon = await startDaemon(bench, home)
  const client = clientOf(daemon)
  const seen = new Map<string, number>()
  const terminal = watched(new Terminal(bench, holon(bench, home, ['tui', 'main']), size), seen, {
    ...speaker,
  })
  await terminal.shows(/live \d\d:\d\d/)
  const [before, first] = [load(), speaker.answers() + 1]
  for (let n = 0; n < times; n += 1) {
    const body = JSON.stringify({ text: `Say ${n}.` })
    const { status, body: told } = await client.ask(
      'POST',
      `${daemon.url}/agents/main/messages`,
      body,
    )
    if (status !== 202) throw new Error(`a message was answered ${status}: ${told}`)
    const words = wordsOf(first + n)
    const missing = () => words.filter((word) => !seen.has(word)).join(' ')
    const stands = () => `${missing()} of ${speaker.answers()} answers:\n${terminal.text()}`
    await within(
      speaker.answered(first + n),
      () => `the request of answer ${first + n}, ${stands()}`,
    )
    await until(() => seen.has(words.at(-1) ?? ''), stands)
    await pause(300)
  }
  await terminal.left()
  client.close()
  await daemon.end('SIGTERM')
  return linesOf('the screen', { speaker, seen, first, times, load: before })
}

/** A run of its own for each answer. */
async function inRuns(
  bench: Bench,
  speaker: Speaker,
  { times, beside }: { times: number; beside: boolean },
): Promise<Line[]> {
  const home = bench.folder('said-home')
  await asked(bench, home, 'Begin.')
  const daemon = beside ? await startDaemon(bench, home) : null
  const seen = new Map<string, number>()
  const [before, first] = [load(), speaker.answers() + 1]
  for (let n = 0; n < times; n += 1) await asked(bench, home, `Say ${n}.`, { speaker, seen })
  await daemon?.end('SIGTERM')
  const what = beside ? '`holon run` by the daemon' : '`holon run` alone'
  return linesOf(what, { speaker, seen, first, times, load: before })
}

async function asked(
  bench: Bench,
  home: string,
  text: string,
  watch: { speaker: Speaker; seen: Map<string, number> } | null = null,
): Promise<void> {
  const words = ['run', '--model', model, '--workspace', bench.folder('said-work'), text]
  const terminal = new Terminal(bench, holon(bench, home, words), size)
  if (watch !== null) watched(terminal, watch.seen, watch.speaker)
  await terminal.ended
}

type Found = {
  speaker: Speaker
  seen: ReadonlyMap<string, number>
  /** The answers that count: from this one on. */
  first: number
  times: number
  load: string
}

const farEnd = (ms: readonly number[]): string =>
  `p95 ${quantile(ms, 0.95).toFixed(1)}, longest ${Math.max(...ms).toFixed(1)}`

function linesOf(what: string, { speaker, seen, first, times, load }: Found): Line[] {
  const lateness = (word: string): number => {
    const [from, to] = [speaker.sent.get(word), seen.get(word)]
    if (from === undefined || to === undefined) throw new Error(`${word} was never seen: ${what}`)
    return (to - from) / 1_000
  }
  const answers = Array.from({ length: times }, (_, n) => wordsOf(first + n).map(lateness))
  const line = (which: string, ms: readonly number[], target: string): Line => ({
    what: `${which}, ${what}`,
    ours: `${spread(ms)} ms, ${farEnd(ms)}`,
    floor: '',
    ratio: null,
    target,
    load,
  })
  return [
    line(
      'sent to seen, first words',
      answers.map(([ms = Number.NaN]) => ms),
      'p95 ≤ 50 ms',
    ),
    line('sent to seen, all words', answers.flat(), 'p95 ≤ 150 ms'),
  ]
}
