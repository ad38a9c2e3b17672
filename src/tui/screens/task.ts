/** The output of a task as it comes, with its line numbers; foreign text is visible. Pure. */
import type { TaskRecord } from '../../protocol/records/task-record.ts'
import { ago, taskWords } from '../../present/item-words.ts'
import { heading, type BodyRow } from '../drawing/body.ts'
import { readOf } from './item-tabs.ts'
import { apart, blank, cutTo, line, rule, span, type Line } from '../drawing/line.ts'
import { viewOf, type TuiModel, type ScreenLocation } from '../model/model.ts'
import { pointer, short, timesOf } from '../drawing/paint.ts'

type Output = { offset: number; text: string; next_offset: number; size: number; ended: boolean }
type TaskPlace = ScreenLocation & { at: 'task' }

export const taskOf = (model: TuiModel, id: string): TaskRecord | null =>
  model.p?.state.tasks.find((task) => task.id === id) ?? readOf<TaskRecord>(model, `task ${id}`)

export function taskHeader(model: TuiModel, place: TaskPlace, columns: number, live: Line): Line[] {
  const task = taskOf(model, place.task_id)
  const times = timesOf(model)
  const name = short(model, place.task_id)
  if (task === null) return [apart(line(name), live, columns), blank, blank]
  const state = taskWords(task, model.p?.outputs.get(task.id)?.at, times).split(', ')[0] ?? ''
  const last = model.p?.outputs.get(task.id)?.at ?? task.last_sign_of_life_at
  const said = last === null ? '' : ` Last output ${ago(last, times)}.`
  const item = task.work_item_id === null ? '' : `${short(model, task.work_item_id)} of `
  const outlives = task.ended_at === null ? ' Outlives the daemon.' : ''
  const read = readOf<Output>(model, `output ${task.id} ${place.stream}`)
  const bytes = Math.max(task.output.bytes, read?.size ?? 0)
  const size = bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`
  const view = viewOf(model)
  return [
    apart(
      [span(`${name}  `), span(task.label.split('\n')[0] ?? '', 'bold')],
      [span(`${state}   `), ...live],
      columns,
    ),
    apart(
      line(`For ${item}${task.agent_id}.${task.ended_at === null ? said : ''}${outlives}`),
      line(size),
      columns,
    ),
    rule(place.stream === 'stdout' ? 'output' : 'errors', view.follow ? 'following' : '', {
      ascii: model.look.ascii,
      columns,
    }),
  ]
}

export function taskBody(model: TuiModel, place: TaskPlace, columns: number): BodyRow[] {
  const key = `output ${place.task_id} ${place.stream}`
  const read = readOf<Output>(model, key)
  if (read === null) {
    return [heading(line(`  ${model.details.get(key)?.failure ?? 'reading …'}`, 'dim'))]
  }
  const lines = read.text.replace(/\n$/, '').split(/\r\n|\n/)
  const first = read.offset > 0 ? 1 : 0
  const shown = lines.slice(first)
  const head =
    read.offset > 0
      ? [heading(line(`  … ${read.offset} bytes before this are in the record …`, 'dim'))]
      : []
  if (read.text === '') return [heading(line('  nothing was written yet', 'dim'))]
  const wide = String(shown.length).length
  return [
    ...head,
    ...shown.map((text, n): BodyRow => {
      const id = `line ${read.offset} ${n}`
      const isSelected = viewOf(model).selected === id
      const number = read.offset > 0 ? '' : `${String(n + 1).padStart(wide)}  `
      return {
        id,
        lines: [
          cutTo(
            [
              span(`${isSelected ? pointer(model) : ' '}${number}`, 'dim'),
              span(text.replaceAll('\t', '  ')),
            ],
            columns,
          ),
        ],
        text,
      }
    }),
  ]
}
