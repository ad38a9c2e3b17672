/**
 * The scenario of the crash tests: an operator asks for two jobs; the model makes two items, works
 * on the first with an edited plan, commands and a background task it waits for, reports, and then
 * takes the second. The policy is a function of the request's text alone, so a request that is
 * sent again after a kill gets the same answer.
 */

export type PolicyAnswer = {
  text: string
  calls: readonly { name: string; input: { [field: string]: string | number } }[]
}

/** What the operator says. */
export const twoJobs = 'Do both jobs: alpha, then beta.'

export const alphaReport = 'Alpha is done. The log has its lines, and the slow part ended well.'
export const betaReport = 'Beta is done. It added its line to the log.'

/**
 * Goes on only when the file `go` is there: the test decides when the slow part ends. It also ends
 * when its folder is gone, so that a failed test leaves nothing running.
 */
export const slowPart =
  'until [ -e go ] || [ ! -d "$PWD" ]; do sleep 0.1; done; echo slow >> log.txt'

/** Whether the slow part may end with this answer: the other job is about to be over. */
export const letsGo = (answer: PolicyAnswer): boolean => answer.text === betaReport

/** What each job leaves in `log.txt`: every line exactly once, whatever was killed in between. */
export const logLines = ['alpha', 'slow', 'beta']

/** The next answer to a conversation, given as one text with the newest last. */
export function twoJobsPolicy(text: string): PolicyAnswer {
  const tail = text.slice(text.lastIndexOf('# Why this turn runs'))
  const step = 1 + Math.max(0, ...[...tail.matchAll(/step (\d+) of/g)].map((m) => Number(m[1])))
  if (tail.includes(twoJobs)) return opening(step, tail)
  if (/Nothing is in focus, and (?:queued work|the queued item above) is ready/.test(tail))
    return fromQueue(step, text, tail)
  return finishing(step, itemOf(text, 'Alpha job'), text)
}

const itemIn = (text: string, nth: number): string =>
  [...text.matchAll(/Created (work_[0-9a-f-]{4,36})/g)][nth]?.[1] ?? 'work_not_seen'

function opening(step: number, tail: string): PolicyAnswer {
  const say = (what: string, ...calls: PolicyAnswer['calls']) => ({
    text: `step ${step} of the first turn: ${what}`,
    calls,
  })
  const alpha = itemIn(tail, 0)
  switch (step) {
    case 1:
      return say('two items', create('Alpha job', 'Write alpha.\n'), create('Beta job', ''))
    case 2:
      return say('take alpha', { name: 'PickWorkItem', input: { work_item_id: alpha } })
    case 3: {
      const path = /plan: (\S*plan\.md)/.exec(tail)?.[1] ?? 'no path seen'
      const edit = { path, old_text: 'Write alpha.', new_text: 'Write alpha, then wait.' }
      return say('edit the plan', { name: 'EditFile', input: edit })
    }
    case 4:
      return say('the quick part', command('echo alpha >> log.txt'))
    case 5:
      return say('the slow part', command(slowPart, { yield_ms: 1 }))
    case 6: {
      const resource = lastTask(tail)
      const input = { wake: 'task_result', resource, reason: 'the slow part must end' }
      return say('wait for it', { name: 'WaitFor', input })
    }
    default:
      // The task had ended already, so the wait was answered in the call.
      return finishing(step - 6, alpha, tail)
  }
}

/** From step 1: read how the slow part ended, then report. */
function finishing(step: number, alpha: string, text: string): PolicyAnswer {
  if (step === 1) {
    const input = { task_id: lastTask(text) }
    const already = /step (\d+) of the first turn/.test(text) ? 7 : 1
    return { text: `step ${already} of the end`, calls: [{ name: 'TaskOutput', input }] }
  }
  return {
    text: alphaReport,
    calls: [{ name: 'CompleteWorkItem', input: { work_item_id: alpha } }],
  }
}

/** Takes what is ready: alpha when its wait has ended, else beta. */
function fromQueue(step: number, text: string, tail: string): PolicyAnswer {
  const ready = readyIn(text)
  const job = ready.includes('Alpha job') ? 'Alpha job' : 'Beta job'
  const id = itemOf(ready, job)
  if (step === 1) {
    return {
      text: 'step 1 of the queue',
      calls: [{ name: 'PickWorkItem', input: { work_item_id: id } }],
    }
  }
  if (job === 'Alpha job') {
    if (step === 2) {
      const input = { task_id: lastTask(tail.includes('task_') ? tail : text) }
      return { text: 'step 2 of the queue', calls: [{ name: 'TaskOutput', input }] }
    }
    return finishing(2, id, text)
  }
  if (step === 2) return { text: 'step 2 of beta', calls: [command('echo beta >> log.txt')] }
  return { text: betaReport, calls: [{ name: 'CompleteWorkItem', input: { work_item_id: id } }] }
}

/** The list of what is ready, or the one item that is. */
function readyIn(text: string): string {
  const one = text.lastIndexOf('# Queued work item')
  if (one >= 0) return text.slice(one, text.indexOf('\n# ', one))
  return text.slice(text.lastIndexOf('Queued and runnable:')).split('\n\n')[0] ?? ''
}

const create = (objective: string, plan: string) => ({
  name: 'CreateWorkItem',
  input: { objective, plan, plan_status: 'ready' },
})

const command = (cmd: string, more: { yield_ms?: number } = {}) => ({
  name: 'ExecCommand',
  input: { cmd, ...more },
})

const lastTask = (text: string): string =>
  [...text.matchAll(/task_[0-9a-f-]{4,36}/g)].at(-1)?.[0] ?? 'task_not_seen'

/** The id that stands nearest before an objective. */
function itemOf(text: string, objective: string): string {
  const at = text.indexOf(objective)
  return [...text.slice(0, at).matchAll(/work_[0-9a-f-]{4,36}/g)].at(-1)?.[0] ?? 'work_not_seen'
}
