/**
 * `holon work check`: what the operator wants to see of an item when it is completed. Set while it
 * is open, run by the runtime when it is completed, run again and answered from here.
 */
import type { OperatorCommand } from '../../protocol/acts/operator.ts'
import { specOf, type CheckGiven, type WorkItem } from '../../protocol/records/records.ts'
import { checkLines } from '../../present/lines/check-lines.ts'
import { act } from '../command/act.ts'
import { idOf, printLines, reading, zoneOf, type Context } from '../command/context.ts'
import { exits, usage, type Exit } from '../command/failure.ts'
import { spanOf } from '../command/moment.ts'
import { printRecord } from '../command/records.ts'

export type CheckFlags = {
  cmd?: string
  in?: string
  timeout?: string
  file?: string
  absent?: boolean
  sha256?: string
  contains?: string
  url?: string
  status?: string
  ask?: string
}

/** `--check tests="npm test"` of a new item: commands, the usual ones. */
export function checksOfFlags(given: readonly string[]): CheckGiven[] {
  return given.map((text) => {
    const cut = text.indexOf('=')
    const [name, cmd] = [text.slice(0, cut), text.slice(cut + 1)]
    if (cut > 0 && cmd !== '') return { kind: 'command', name, cmd }
    const hint = 'write a name and a command, like --check tests="npm test"'
    throw usage('bad_check', `--check ${text} is no check`, hint)
  })
}

export async function listChecks(context: Context, target: string): Promise<Exit> {
  const item = await itemNamed(context, target)
  if (context.flags.json === true) {
    return printRecord(context, `/agents/${item.agent_id}/work-items/${item.id}`)
  }
  const lines = checkLines(item, { ids: context.ids, zone: zoneOf(context), ink: context.ink })
  printLines(context, lines.length === 0 ? ['no checks were asked for'] : lines)
  return exits.done
}

export async function addCheck(
  context: Context,
  target: string,
  name: string,
  flags: CheckFlags,
): Promise<Exit> {
  const check = checkOf(name, flags)
  const item = await itemNamed(context, target)
  return act(context, setting(item, [...item.checks.map(specOf), check]))
}

export async function removeCheck(context: Context, target: string, name: string): Promise<Exit> {
  const item = await itemNamed(context, target)
  const left = item.checks.filter((check) => check.name !== name)
  if (left.length === item.checks.length) {
    const names = item.checks.map((check) => check.name).join(', ') || 'none'
    throw usage('check_not_found', `there is no check "${name}"`, `the item has ${names}`)
  }
  return act(context, setting(item, left.map(specOf)))
}

/** All of them are set at once, on the item as it was read: nobody else's change is lost. */
const setting = (item: WorkItem, checks: readonly CheckGiven[]): OperatorCommand => ({
  do: 'update_item',
  agent_id: item.agent_id,
  work_item_id: item.id,
  expected_revision: item.revision,
  checks: [...checks],
})

export async function runChecks(
  context: Context,
  target: string,
  names: readonly string[],
): Promise<Exit> {
  const { id, agent_id } = await itemNamed(context, target)
  const which = names.length === 0 ? {} : { names: [...names] }
  return act(context, { do: 'run_checks', agent_id, work_item_id: id, ...which })
}

export async function answerCheck(
  context: Context,
  target: string,
  { name, verdict, words }: { name: string; verdict: string; words?: string | undefined },
): Promise<Exit> {
  if (verdict !== 'pass' && verdict !== 'fail') {
    throw usage('bad_verdict', `${verdict} is no answer to a check`, 'say pass or fail')
  }
  const item = await itemNamed(context, target)
  const check = item.checks.find((one) => one.name === name)
  return act(context, {
    do: 'answer_check',
    agent_id: item.agent_id,
    work_item_id: item.id,
    name,
    run: check?.run?.n ?? 0,
    passed: verdict === 'pass',
    ...(words === undefined ? {} : { words }),
  })
}

function itemNamed(context: Context, target: string): Promise<WorkItem> {
  return reading(context, async (reader) => {
    const id = await idOf(context, reader, target, ['work'])
    const item = await reader.row('work_items', id)
    if (item === null) throw new Error(`no row for ${id}`)
    return item
  })
}

/** Exactly one of what can be checked, with the flags that belong to it. */
function checkOf(name: string, flags: CheckFlags): CheckGiven {
  const { cmd, file, url, ask } = flags
  const given = [cmd, file, url, ask].filter((one) => one !== undefined)
  if (given.length !== 1) {
    const hint = 'give one of --cmd, --file, --url and --ask'
    throw usage('which_check', 'a check is one thing', hint)
  }
  fitting(flags)
  if (cmd !== undefined) {
    const { in: workdir, timeout } = flags
    return {
      kind: 'command',
      name,
      cmd,
      ...(workdir === undefined ? {} : { workdir }),
      ...(timeout === undefined ? {} : { timeout_ms: spanOf('--timeout', timeout) }),
    }
  }
  if (file !== undefined) return { kind: 'file', name, path: file, expect: expected(flags) }
  if (url !== undefined) return { kind: 'http', name, url, status: statusOf(flags.status) }
  return { kind: 'person', name, question: ask ?? '' }
}

/** What belongs to one kind of check, by the flag that makes it. */
const belongs = {
  cmd: ['in', 'timeout'],
  file: ['absent', 'sha256', 'contains'],
  url: ['status'],
  ask: [],
} as const satisfies Partial<Record<keyof CheckFlags, readonly (keyof CheckFlags)[]>>

/** A flag that belongs to another kind is refused: it would be lost without a word. */
function fitting(flags: CheckFlags): void {
  for (const [kind, own] of Object.entries(belongs)) {
    if (flags[kind as keyof typeof belongs] !== undefined) continue
    const lost = own.find((flag) => flags[flag] !== undefined)
    if (lost === undefined) continue
    throw usage('which_check', `--${lost} belongs to --${kind}`, `leave it out, or give --${kind}`)
  }
}

function expected({ absent, sha256, contains }: CheckFlags) {
  const given = [absent, sha256, contains].filter((one) => one !== undefined)
  if (given.length > 1) {
    const hint = 'give one of --absent, --sha256 and --contains, or none: it is to exist'
    throw usage('which_check', 'a file is checked for one thing', hint)
  }
  if (sha256 !== undefined) return { sha256 }
  return contains === undefined ? { exists: absent !== true } : { contains }
}

function statusOf(text = '200'): number {
  if (/^[1-5]\d\d$/.test(text)) return Number(text)
  throw usage('bad_status', `--status ${text} is no HTTP status`, 'write one like 200')
}
