/**
 * The screen for those who do not see one: no cursor moves, nothing that stands is changed. What
 * settles is said once, in a line of its own, the most important word first and its time last; a
 * line that is typed asks, answers or writes. What needs a person has a number, which it keeps.
 */
import { home, type HomeRow } from '../present/home.ts'
import type { Entry } from '../present/entries/entry.ts'
import { thread } from '../present/presentation.ts'
import { named } from '../present/text/called.ts'
import { safeLine } from '../present/text/safe.ts'
import { clock } from '../present/text/span.ts'
import { choiceWithWords } from '../protocol/records/records.ts'
import type { Attention } from '../protocol/views/attention.ts'
import { answerAct, cliOf, offeredBy, approvalAct } from './input/requests.ts'
import { whyBody, readOf, type WhyValue } from './screens/item-tabs.ts'
import { textOf } from './drawing/line.ts'
import { viewOf, type ScreenLocation } from './model/model.ts'
import { short, timesOf } from './drawing/paint.ts'
import type { TuiOptions, TuiPorts } from './ports.ts'
import { Session, type SessionEnd } from './session.ts'

/** Cells of a line: a reader has no width, and a line is not wrapped. */
const columns = 200

const help = [
  'status: what needs you, what works and what waits, with numbers',
  'next: what needs you first, in full',
  'open 2: what happens there is said from now on',
  'why 2: why it is so, and what comes next',
  'answer 2 yes: answers; write 2 some words: writes to it',
  'quit: leaves; agents go on',
]

type Said = { readonly needs: Set<string>; readonly entries: Set<string> }

export class PlainScreen {
  readonly #session: Session
  readonly #out: (text: string) => void
  readonly #numbers = new Map<string, number>()
  readonly #rows = new Map<number, HomeRow>()
  readonly #said: Said = { needs: new Set(), entries: new Set() }
  #link = ''
  #notice: unknown = null
  #isKnown = false
  /** The item whose why was asked for and is not there yet. */
  #asked: string | null = null
  #rest = ''

  constructor(session: Session, out: (text: string) => void) {
    this.#session = session
    this.#out = out
  }

  #say(text: string): void {
    const { model } = this.#session
    this.#out(`${named(safeLine(short(model, text)), model.look.called)}\n`)
  }

  /** Says what is new since it was called last. */
  changed(): void {
    const { model } = this.#session
    const { p, notice } = model
    if (p === null) return this.#unreached()
    const link = p.link.kind === 'stale' ? `not connected: ${model.trouble?.message ?? ''}` : ''
    if (link !== this.#link) this.#say(link === '' ? 'connected again' : link)
    this.#link = link
    if (!this.#isKnown) {
      this.#isKnown = true
      this.#status()
      this.#say('help lists what can be typed')
    }
    for (const entry of p.state.attention) this.#needs(entry)
    this.#happens()
    this.#tellWhy()
    if (notice !== null && notice !== this.#notice) this.#say(notice.text)
    this.#notice = notice
  }

  /** Whether there is anything more to hear for somebody who types nothing. */
  get hasSpoken(): boolean {
    return this.#isKnown || this.#link !== ''
  }

  /** Nothing is known yet: why, once it is not for lack of time. */
  #unreached(): void {
    const { trouble } = this.#session.model
    const link = trouble === null ? '' : `not connected: ${trouble.message}`
    if (link !== this.#link) this.#say(link)
    this.#link = link
  }

  #needs({ id, agent_id, text, kind }: Attention): void {
    if (this.#said.needs.has(id)) return
    this.#said.needs.add(id)
    const [first = ''] = text.split('\n')
    this.#say(`${kind.replaceAll('_', ' ')} ${this.#number(id)}: ${agent_id}: ${first}`)
  }

  #number(id: string): number {
    const number = this.#numbers.get(id) ?? this.#numbers.size + 1
    this.#numbers.set(id, number)
    return number
  }

  /** What has come to its end in the item that is open. What runs is said when it has. */
  #happens(): void {
    const { model } = this.#session
    const { place } = viewOf(model)
    if (model.p === null || place.at !== 'item') return
    for (const entry of thread(model.p, place.agent_id, place.work_item_id, 1)) {
      const isOver = entry.since === null && entry.mark !== 'working'
      if (!isOver || this.#said.entries.has(entry.id)) continue
      this.#said.entries.add(entry.id)
      this.#entry(entry)
    }
  }

  #entry({ who, title, facts, body, at, kind }: Entry): void {
    const name = who.length > 1 ? who : kind
    const when = at === '' ? '' : `, ${clock(at, timesOf(this.#session.model))}`
    this.#say(`${name}: ${[title, ...facts].filter((part) => part !== '').join(', ')}${when}`)
    for (const text of body.slice(0, 20)) this.#say(`  ${text}`)
  }

  #status(): void {
    const { model } = this.#session
    if (model.p === null) return this.#say('nothing is known yet')
    const { counts, sections } = home(model.p, timesOf(model))
    this.#say(counts)
    for (const { name, title, rows } of sections) {
      if (name === 'agents' || name === 'done') continue
      for (const row of rows) {
        const number = this.#number(row.id)
        this.#rows.set(number, row)
        if (name === 'needs') this.#said.needs.add(row.id)
        const right = row.right === '' ? '' : `, ${row.right}`
        this.#say(`${title.toLowerCase()} ${number}: ${row.who}: ${row.title}${right}`)
      }
    }
  }

  #next(): void {
    const [entry] = this.#session.model.p?.state.attention ?? []
    if (entry === undefined) return this.#say('nothing needs you')
    const number = this.#number(entry.id)
    for (const text of entry.text.split('\n')) this.#say(text)
    for (const { key, label } of entry.choices) this.#say(`${key}: ${label}`)
    if (entry.bound_hash === null)
      return this.#say(`from a shell: ${cliOf(entry) ?? 'holon inbox'}`)
    const words = offeredBy(entry).map(({ key, label }) => `answer ${number} ${key ?? label}`)
    this.#say(`${words.join(', ')}, or other words`)
  }

  #tellWhy(): void {
    const { model } = this.#session
    const id = this.#asked
    if (id === null || readOf<WhyValue>(model, `why ${id} history`) === null) return
    this.#asked = null
    for (const { lines } of whyBody(model, id, columns)) {
      for (const one of lines) {
        const text = textOf(one)
          .replaceAll(/[─-]{3,}/g, '')
          .trim()
        if (text !== '') this.#say(text)
      }
    }
  }

  /** What was typed, as it comes: every whole line of it is done. False: the person leaves. */
  typed(text: string): boolean {
    const lines = (this.#rest + text).split(/\r\n|\r|\n/)
    this.#rest = lines.pop() ?? ''
    return lines.every((one) => this.#do(one.trim()))
  }

  #do(line: string): boolean {
    const [, verb = '', number = '', words = ''] = /^(\w*)\s*(\d*)\s*(.*)$/.exec(line) ?? []
    switch (verb) {
      case '':
        return true
      case 'q':
      case 'quit':
        return false
      case 'status':
        this.#status()
        return true
      case 'next':
        this.#next()
        return true
      case 'help':
        for (const text of help) this.#say(text)
        return true
      case 'open':
      case 'why':
      case 'answer':
      case 'write':
        this.#about(verb, Number(number), words)
        return true
    }
    this.#say(`${verb} is nothing that can be done; help lists what is`)
    return true
  }

  #about(verb: 'open' | 'why' | 'answer' | 'write', number: number, words: string): void {
    const row = this.#row(number)
    if (row === undefined) return this.#say(`there is no ${number}; status lists what is there`)
    const { agent_id, work_item_id, id } = row
    const at = (tab: 'thread' | 'why'): ScreenLocation => ({
      at: 'item',
      agent_id,
      work_item_id,
      tab,
    })
    switch (verb) {
      case 'open':
        this.#session.send({ kind: 'place', place: at('thread') })
        return this.changed()
      case 'why':
        if (work_item_id === null) return this.#say(`${row.title}; there is no item to ask about`)
        this.#asked = work_item_id
        return this.#session.send({ kind: 'place', place: at('why') })
      case 'answer':
        return this.#answer(id, words)
      case 'write': {
        if (words === '') return this.#say(`what? write ${number} and the words`)
        const about = work_item_id === null ? {} : { work_item_id }
        const given = { agent: agent_id, body: { text: words, ...about } }
        const says = `sent to ${work_item_id ?? agent_id}`
        return void this.#session.act({ route: 'POST /agents/{agent}/messages', given, says })
      }
    }
  }

  #row(number: number): HomeRow | undefined {
    const { model } = this.#session
    const known = this.#rows.get(number)
    if (known !== undefined || model.p === null) return known
    const rows = home(model.p, timesOf(model)).sections.flatMap((one) => one.rows)
    return rows.find(({ id }) => this.#numbers.get(id) === number)
  }

  #answer(id: string, words: string): void {
    const entry = this.#session.model.p?.state.attention.find((one) => one.id === id)
    if (entry === undefined) return this.#say('it needs no answer any more')
    const { bound_hash } = entry
    if (bound_hash === null) return this.#say('it takes no answer; next says what helps')
    if (words === '') return this.#say('an empty text answers nothing')
    if (entry.kind === 'approval') return this.#decide({ ...entry, bound_hash }, words)
    void this.#session.act(answerAct({ ...entry, bound_hash }, words))
  }

  /** `yes`, or `no` and what is said with it: words alone decide nothing. */
  #decide(entry: Parameters<typeof approvalAct>[0], said: string): void {
    const { choice, words: text } = choiceWithWords(said)
    void this.#session.act(approvalAct(entry, { choice, ...(text === '' ? {} : { text }) }))
  }
}

/** Resolves when the person has left, or there is nothing more to read. */
export async function runPlain(ports: TuiPorts, options: TuiOptions): Promise<SessionEnd> {
  const { stdin, stdout } = ports
  const session = new Session(ports, { ...options, motion: false }, { columns, rows: 50 })
  const screen = new PlainScreen(session, (text) => void stdout.write(text))
  stdout.write('holon: connecting\n')
  let isOver = false
  const leave = () => isOver && screen.hasSpoken && session.close()
  const stop = session.subscribe(() => {
    screen.changed()
    leave()
  })
  const ran = session.run()
  stdin.setEncoding('utf8')
  const onData = (text: string) => screen.typed(text) || session.close()
  // Who types nothing hears how things are, and that is all.
  const onEnd = () => {
    isOver = true
    leave()
  }
  stdin.on('data', onData)
  stdin.on('end', onEnd)
  try {
    return await ran
  } finally {
    stop()
    session.close()
    stdin.off('data', onData)
    stdin.off('end', onEnd)
    stdin.pause()
  }
}
