/**
 * What `why` tells of an item that nothing holds: a turn is about it, it runs next, or what goes
 * first and until when, the first rule of the scheduler first.
 */
import { agentPacing, itemPacing } from '../facts/facts.ts'
import { itemReady } from '../waits/pacing.ts'
import { nextBack, stockOf } from '../waits/stock.ts'
import { messageSentence, type Next } from '../scheduler/next.ts'
import type { Timestamp } from '../time.ts'
import { haltOf, haltWords, nowUnlessHalted, onceIt, startsAbout } from './told.ts'
import type { Explanation, ItemSnapshot } from './told.ts'
import type { Turn } from '../state/turn.ts'

/** The open turn is about it: working, held, or to be taken up again. */
export function inTurn(view: ItemSnapshot, turn: Turn): Explanation {
  const { survey } = view
  const halt = haltOf(view)
  const goesOn = `the turn goes on${onceIt(view)}`
  const base = { detail: null, since: turn.started_at, next: goesOn, when: null }
  switch (halt?.by) {
    case 'stopped':
      return {
        ...base,
        why: `is in ${turn.id}, which ends because its agent is stopped`,
        next: `it is taken up again${onceIt(view)}`,
      }
    case 'hold':
    case 'budget': {
      const { reason: detail, until: when } = halt
      return { ...base, why: `is in ${turn.id}, but ${haltWords(halt)}`, detail, when }
    }
    case 'nobody':
    case undefined:
      break
  }
  if (survey.running) {
    return {
      ...base,
      why: `is being worked on in ${turn.id} since ${turn.started_at}`,
      next: 'the turn goes on until it ends or waits',
      when: survey.now,
    }
  }
  return {
    ...base,
    why: `is in ${turn.id}, which was interrupted and goes on${onceIt(view, ' next')}`,
    when: nowUnlessHalted(view),
  }
}

/** Nothing holds the item: what else keeps it. */
export function runnable(view: ItemSnapshot): Explanation {
  const { survey, next, p, facts } = view
  const halt = haltOf(view)
  if (halt !== null && halt.by !== 'nobody') {
    return {
      ...at(`can run, but ${haltWords(halt)}`, `it goes on${onceIt(view)}`),
      ...(halt.by === 'hold' ? { detail: halt.reason, when: halt.until } : {}),
    }
  }
  if (survey.running && survey.turn) {
    const about = survey.turn.work_item_id ?? 'the inbox or the queue'
    const why = `can run; ${survey.turn.id} about ${about} runs first`
    return at(why, 'it is considered when that turn ends')
  }
  const ready = itemReady(facts, p.item, survey.now)
  const passed = next.do === 'start_turn' && next.start.rule === 'queued_available' && !ready.ready
  if (next.do === 'start_turn' && !passed) return startsNext(view, next)
  if (!ready.ready) return restsUntil(view, ready.until)
  if (survey.bucketEmpty) return outOfTurns(view)
  return queueWaits(view)
}

const at = (why: string, next: string, when: Timestamp | null = null): Explanation => ({
  why,
  detail: null,
  since: null,
  next,
  when,
})

function restsUntil(view: ItemSnapshot, until: Timestamp | null): Explanation {
  const { facts, survey, p } = view
  const { no_progress, last_turn_ended_at } = itemPacing(facts, p.item.id)
  const turns = no_progress === 1 ? 'its last turn' : `its last ${no_progress} turns`
  const why = `can run, and rests until ${until ?? survey.now}: ${turns} made no progress`
  const again = p.focus === 'current' ? 'it is taken up again' : 'it is offered to the agent again'
  return { ...at(why, `${again}${onceIt(view)}`, until), since: last_turn_ended_at }
}

function outOfTurns({ facts }: ItemSnapshot): Explanation {
  const back = nextBack(stockOf(agentPacing(facts), 'bucket'))
  const why = `can run, but its agent used up its turns; one comes back at ${back}`
  return at(why, 'it goes on then; any word from you gives all turns back', back)
}

/** Ready, but the queue as a whole is backed off or the operator was asked about it. */
function queueWaits(view: ItemSnapshot): Explanation {
  const { queue } = view.survey
  if (queue.ready) return at('can run', `it is considered next${onceIt(view)}`)
  if (queue.until === null) {
    const why = 'can run; the agent took nothing from its queue three times and asked you'
    return at(why, 'any word from you sets the queue going again')
  }
  const why = `can run; the queue is offered again at ${queue.until}`
  return at(why, `the agent picks from its queue${onceIt(view)}`, queue.until)
}

/** A turn starts next: about this item, offering it, or about something that goes first. */
function startsNext(view: ItemSnapshot, next: Next & { do: 'start_turn' }): Explanation {
  const { start } = next
  const first = startsAbout(view) ? null : ahead(next)
  const offered = start.rule === 'queued_available'
  if (haltOf(view) !== null) {
    const then = offered ? 'offers it to the agent' : 'takes it up'
    const after = first === null ? '' : `, after ${first}`
    return at('can run, but nothing runs now', `a run ${then}${after}`)
  }
  if (first !== null) {
    return at(`can run; ${first} goes first`, 'it is considered when that turn ends')
  }
  const { now } = view.survey
  return offered
    ? at('is in the queue, which is offered to the agent next', 'the agent picks one item', now)
    : at(`runs next: ${next.because}`, 'a turn about it', now)
}

/** What goes first, when it is not this item. */
function ahead({ start }: Next & { do: 'start_turn' }): string {
  switch (start.rule) {
    case 'recover':
      return `the interrupted ${start.turn.id}`
    case 'message':
      return `a message (${messageSentence(start.message)})`
    case 'continue_current':
      return `${start.work_item_id} in focus`
    case 'review_triggered':
      return 'a wait with something new'
    case 'queued_available':
      return 'another item of the queue'
  }
}
