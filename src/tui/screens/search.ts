/** Search over everything that was done and written, in all agents. Pure. */
import type { SearchAnswer } from '../../protocol/records/search-record.ts'
import { clock } from '../../present/text/span.ts'
import { padEnd, wrap } from '../../present/text/width.ts'
import { unfoundLines } from '../../present/lines/search-lines.ts'
import { heading, type BodyRow } from '../drawing/body.ts'
import { readOf } from './item-tabs.ts'
import { apart, line, span, type Line } from '../drawing/line.ts'
import { viewOf, type TuiModel, type ScreenLocation } from '../model/model.ts'
import { caret, pointer, short, timesOf } from '../drawing/paint.ts'
import { searchText } from '../writing/pastes.ts'

export function searchHeader(model: TuiModel, columns: number): Line[] {
  const read = readOf<SearchAnswer>(model, 'search')
  const text = searchText(model)
  const isWriting = model.writing?.prompt.for === 'find'
  const found = read === null || read.query !== text ? '' : `${read.results.length} found`
  const some = read?.match === 'any' && found !== '' ? ', with some of the words' : ''
  return [
    apart(line('search all agents'), line(found + some), columns),
    [span(`/ ${text}`), span(isWriting ? caret(model) : '')],
  ]
}

const nothing = (query: string, columns: number): BodyRow[] =>
  ['nothing has these words', ...unfoundLines(query, null)]
    .flatMap((one) => wrap(`  ${one}`, columns))
    .map((one) => heading(line(one, 'dim')))

export function searchBody(model: TuiModel, columns: number): BodyRow[] {
  const read = readOf<SearchAnswer>(model, 'search')
  const failure = model.details.get('search')?.failure
  if (failure) return [heading(line(`  ${failure}`, 'red'))]
  if (read === null) return [heading(line('  words, "phrases" in quotes, prefix*', 'dim'))]
  const rows = read.results.map((hit, n): BodyRow => {
    const id = `hit ${n}`
    const isSelected = viewOf(model).selected === id
    const left: Line = [
      span(`${isSelected ? pointer(model) : ' '} ${padEnd(hit.kind, 10)}`),
      span(hit.snippet.replace(/\s+/g, ' '), isSelected ? 'inverse' : 'plain'),
    ]
    const where = hit.work_item_id ?? hit.agent_id
    const right = `${short(model, where)}  ${clock(hit.at, timesOf(model))}`
    const opens: ScreenLocation = {
      at: 'item',
      agent_id: hit.agent_id,
      work_item_id: hit.work_item_id,
      tab: 'thread',
    }
    return {
      id,
      opens,
      agent_id: hit.agent_id,
      work_item_id: hit.work_item_id,
      lines: [apart(left, line(right, 'dim'), columns)],
      text: hit.source_ref,
    }
  })
  const note = read.incomplete_because
  return [
    ...rows,
    ...(rows.length === 0 ? nothing(read.query, columns) : []),
    ...(note === null
      ? []
      : [heading(line(`  not everything was looked through: ${note}`, 'yellow'))]),
  ]
}
