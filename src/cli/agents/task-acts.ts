/** What is done to tasks: stopped, and told something. */
import { act, named, notEmpty } from '../command/act.ts'
import type { Context } from '../command/context.ts'
import { usage, type Exit } from '../command/failure.ts'

export async function stopTask(context: Context, target: string): Promise<Exit> {
  const { id, agent_id } = await named(context, target, ['task'])
  return act(context, { do: 'stop_task', agent_id, task_id: id })
}

/** `line: false` gives the text as it is; a shell's argument seldom ends with a line break. */
export type InputOptions = { end?: boolean; line?: boolean }

/** To a command one line on its input, as a terminal gives it; to a child a message. */
export async function taskInput(
  context: Context,
  target: string,
  text: string | undefined,
  { end = false, line = true }: InputOptions,
): Promise<Exit> {
  const example = `holon tasks input ${target} "<text>"`
  if (text === undefined && !end) {
    throw usage('message_empty', 'there is nothing to give', example)
  }
  if (text !== undefined && !end && line) notEmpty(text, 'the text is empty', example)
  const { id, agent_id, kind } = await named(context, target, ['task'])
  const whole = text === undefined ? '' : text + (line && kind === 'command' ? '\n' : '')
  return act(context, {
    do: 'task_input',
    agent_id,
    task_id: id,
    text: whole,
    ...(end ? { end } : {}),
  })
}
