/** `holon work create` and `holon work update`: an item as the operator wants it to be. */
import { act, named, notEmpty } from '../command/act.ts'
import { budgetOf, type BudgetFlags } from '../command/budget-flags.ts'
import type { Context } from '../command/context.ts'
import { usage, type Exit } from '../command/failure.ts'
import { ensureAgent } from '../command/first-agent.ts'

export async function createItem(
  context: Context,
  objective: string,
  { agent = 'main', check = [], ...flags }: { agent?: string; check?: string[] } & BudgetFlags,
): Promise<Exit> {
  const budget = budgetOf(flags)
  const { checksOfFlags } = await import('./checks.ts')
  const checks = checksOfFlags(check)
  notEmpty(objective, 'the objective is empty', 'holon work create "<what is to be achieved>"')
  await ensureAgent(context, agent)
  const set = {
    ...(budget === null ? {} : { budget }),
    ...(checks.length === 0 ? {} : { checks }),
  }
  return act(context, { do: 'create_item', agent_id: agent, objective, ...set })
}

const planStatuses = ['draft', 'ready', 'needs_input'] as const
type PlanStatus = (typeof planStatuses)[number]
type Todo = { text: string; state: 'pending' | 'in_progress' | 'completed' }

export type ItemFlags = BudgetFlags & {
  objective?: string
  planStatus?: string
  question?: string
  todo?: string[]
}

/** `holon work update`: what is not given stays as it is. */
export async function updateItem(
  context: Context,
  target: string,
  flags: ItemFlags,
): Promise<Exit> {
  const budget = budgetOf(flags)
  const set = { ...fieldsOf(flags), ...(budget === null ? {} : { budget }) }
  if (Object.keys(set).length === 0) {
    throw usage('nothing_to_update', 'no field is given', 'holon work update --help shows them')
  }
  const { id, agent_id } = await named(context, target, ['work'])
  return act(context, { do: 'update_item', agent_id, work_item_id: id, ...set })
}

const fieldsOf = ({ objective, planStatus, question, todo }: ItemFlags) => ({
  ...(objective === undefined ? {} : { objective }),
  ...(planStatus === undefined ? {} : { plan_status: planStatusOf(planStatus) }),
  ...(question === undefined ? {} : { question }),
  ...(todo === undefined ? {} : { todo_list: todosOf(todo) }),
})

function planStatusOf(text: string): PlanStatus {
  const found = planStatuses.find((one) => one === text)
  if (found !== undefined) return found
  throw usage('bad_plan_status', `--plan-status ${text} is none`, `use ${planStatuses.join(', ')}`)
}

const marks: Readonly<Record<string, Todo['state']>> = {
  ' ': 'pending',
  '>': 'in_progress',
  x: 'completed',
}

/** The whole list: `[x] done`, `[>] under way`, else to be done. One `none` empties it. */
function todosOf(texts: readonly string[]): Todo[] {
  if (texts.length === 1 && texts[0] === 'none') return []
  return texts.map((given) => {
    const [, mark = ' ', text = given] = /^\[([ >x])\]\s*(.*)$/s.exec(given) ?? []
    notEmpty(text, 'a todo is empty', '--todo "[x] read the code" "[>] write the fix"')
    return { text: text.trim(), state: marks[mark] ?? 'pending' }
  })
}
