/**
 * Scripts for the scripted model: answers in order, and the rounds that most scenes begin with.
 * An answer too many is a broken test: the script throws, and the host says so.
 */
import type { Json } from '../../src/ports/json.ts'
import type { ModelRequest } from '../../src/models/model.ts'
import {
  calls,
  type Script,
  type Scripted,
  type ScriptedCall,
} from '../../src/testing/scripted-model.ts'

export type Answer = Scripted | ((request: ModelRequest) => Scripted | Promise<Scripted>)

export function inOrder(...answers: readonly Answer[]): Script {
  return (request, n) => {
    const answer = answers[n - 1]
    if (answer === undefined) throw new Error(`request ${n} was not expected`)
    return typeof answer === 'function' ? answer(request) : answer
  }
}

export const call = (name: string, input: Json = {}): ScriptedCall => ({ name, input })

export const creates = (...objectives: readonly string[]): Scripted =>
  calls(...objectives.map((objective) => call('CreateWorkItem', { objective })))

export const picks = (work_item_id: string): Scripted =>
  calls(call('PickWorkItem', { work_item_id }))

export const completes = (work_item_id: string, report: string): Scripted =>
  calls(report, call('CompleteWorkItem', { work_item_id }))

export const waitsFor = (wake: string, more: Readonly<Record<string, Json>> = {}): ScriptedCall =>
  call('WaitFor', { wake, reason: `for ${wake}`, ...more })

export const runs = (cmd: string, more: Readonly<Record<string, Json>> = {}): ScriptedCall =>
  call('ExecCommand', { cmd, ...more })

/** A command that goes on until there is a file `name`, or nobody is there to make one. */
export const until = (name: string): string =>
  `while [ -d "$PWD" ] && [ ! -e ${name} ]; do sleep 0.05; done`
