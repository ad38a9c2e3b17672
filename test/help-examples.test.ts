/**
 * The first example of each help that needs nobody else, typed into the real program: on a home
 * that has lived a little, with the ids of that home in the place of those that the help makes up.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { main } from '../src/cli/program.ts'
import { ports } from '../src/main/commands/ports.ts'
import { wordsOf } from '../src/testing/example-words.ts'
import { ServedHome } from './support/served-home.ts'

/** Read by the home or changing it; none needs a network, a key, or somebody who answers. */
const feasible = [
  ...['work list', 'work show', 'work diff', 'work create', 'work check add', 'why', 'replay'],
  ...['export', 'inbox', 'tasks output', 'search', 'doctor', 'context show'],
  ...['schedule add', 'backup', 'retention', 'config set', 'status'],
] as const

/** What an example says where it says another thing than success. */
const says: Readonly<Record<string, number>> = {
  // Nothing serves the home of this test.
  status: 3,
}

async function examplesOf(path: string): Promise<string[]> {
  let help = ''
  await main([...path.split(' '), '--help'], { ...ports, out: (text) => void (help += text) })
  return help.split('\nExamples:\n')[1]?.split('\n') ?? []
}

const patience = { timeout: 300_000 }

test('the examples of the help do what they say, on a home of one item', patience, async (t) => {
  const at = new ServedHome(t)
  const step = '# Check it\n\n## Look\n\n```sh\necho here\n```\n\n## Ask\n\nask: Shall I go on?\n'
  assert.equal((await at.holon('run', '--agent', 'main', at.write('check.md', step))).exit, 3)
  await at.json('agents', 'create', 'docs')
  const { work_items } = await at.json<{ work_items: { id: string }[] }>('work', 'list')
  const { turns } = await turnsOf(at)
  const { tasks } = await at.json<{ tasks: { id: string }[] }>('tasks', '--all')
  const real: Readonly<Record<string, string | undefined>> = {
    work: work_items[0]?.id,
    turn: turns[0],
    task: tasks[0]?.id,
  }
  const named = (word: string) =>
    word
      .replace(/^(work|turn|task)_[0-9a-f]{4}/, (made, noun: string) => real[noun] ?? made)
      .replace(/^~\//, `${at.folder}/`)
  const wrong: string[] = []
  let tried = 0
  for (const path of feasible) {
    const examples = await examplesOf(path)
    // The first that is of the command itself: of a group some are of the commands below it.
    for (const example of examples.map((line) => line.trim())) {
      const words = wordsOf(example)
      if (!words.join(' ').startsWith(path)) continue
      const { exit, err, out } = await at.holon(...words.map(named))
      tried += 1
      const wanted = says[path] ?? 0
      if (exit !== wanted) wrong.push(`${example}: exit ${exit}, not ${wanted}: ${err}${out}`)
      break
    }
  }
  assert.deepEqual(wrong, [])
  assert.equal(tried, feasible.length)
})

async function turnsOf(at: ServedHome): Promise<{ turns: string[] }> {
  const { out } = await at.holon('events', '--json', '--limit', '500', '--after', '0')
  const turns = out
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { event: { type: string; id: string } }).event)
    .flatMap(({ type, id }) => (type === 'turn_ended' ? [id] : []))
  return { turns }
}
