/**
 * `holon work revert <item> [files...]`: what an item changed in files goes back to what it was;
 * `--undo` takes that back. A file that is not as the agent left it is named with what was changed
 * since, and left.
 */
import { hunkLines, inkedDiff, type DiffLine } from '../../present/lines/diff-lines.ts'
import { safeLine, type Safe } from '../../present/text/safe.ts'
import { named, perform, replyLines, type Accepted } from '../command/act.ts'
import { printJson, printLines, type Context } from '../command/context.ts'
import { exits, type Exit } from '../command/failure.ts'

export async function workRevert(
  context: Context,
  text: string,
  names: readonly string[],
  { undo }: { undo?: boolean },
): Promise<Exit> {
  const { id: work_item_id, agent_id } = await named(context, text, ['work'])
  const reply = await perform(context, {
    do: 'revert_files',
    agent_id,
    work_item_id,
    ...(names.length === 0 ? {} : { files: names.map((name) => asNamed(context, name)) }),
    ...(undo === undefined ? {} : { undo }),
  })
  const { files = [] } = reply
  if (context.flags.json === true) printJson(context, reply)
  else {
    const told = context.flags.quiet === true ? [] : files.flatMap(linesOf)
    const lines = told.map((line) => inkedDiff(line, context.ink))
    printLines(context, [...lines, ...replyLines(context, reply)])
  }
  return files.some(({ outcome }) => outcome === 'left') ? exits.failed : exits.done
}

type FileOutcome = NonNullable<Accepted['files']>[number]

/** By the name that `holon work diff` has; one that is told to be a path is one from here. */
const asNamed = ({ ports }: Context, name: string): string =>
  /^\.{0,2}\//.test(name) ? ports.absolute(name) : name

function linesOf(file: FileOutcome): DiffLine[] {
  const head = (said: string): DiffLine => ({
    kind: 'file',
    text: safeLine(file.name).concat('  ', safeLine(said)) as Safe,
  })
  switch (file.outcome) {
    case 'put_back':
      return [head('put back')]
    case 'same':
      return [head('as it was already')]
    case 'left':
      return [head(`left: ${file.why}`), ...(file.diff === null ? [] : hunkLines(file.diff))]
  }
}
