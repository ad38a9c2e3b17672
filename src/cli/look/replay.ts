/**
 * `holon replay <turn>`: the turn decided again from the ledger, without a model and without an
 * effect. Exit 0 when everything is the same, 1 with the first divergence.
 */
import { counted } from '../../present/lines/call-line.ts'
import { safeLine } from '../../present/text/safe.ts'
import { prefixOf, resolveId } from '../../client/home-reads.ts'
import { candidateLines, printJson, printLines, reading, type Context } from '../command/context.ts'
import { CliFailure, exits, usage, type Exit } from '../command/failure.ts'
import type { HomeReader } from '../command/ports.ts'
import { problemOf } from '../../protocol/problem.ts'

export function replay(context: Context, text: string): Promise<Exit> {
  return reading(context, async (reader) => {
    const id = await turnNamed(context, reader, text)
    const end = await reader.replay(id)
    if (!end.ok) {
      throw new CliFailure(exits.failed, problemOf(end.code, end.message, end.hint))
    }
    const { decisions, requests, divergence } = end
    if (context.flags.json === true) {
      printJson(context, { turn_id: id, decisions, requests, divergence })
    } else {
      const done = `${counted(decisions, 'decision')}, ${counted(requests, 'request')}`
      printLines(
        context,
        divergence === null
          ? [`same: ${done}`]
          : [
              safeLine(`differs at event ${divergence.seq}: ${divergence.what}`),
              safeLine(`  stored  ${divergence.stored}`),
              safeLine(`  again   ${divergence.again}`),
              `the same before it: ${done}`,
            ],
      )
    }
    return divergence === null ? exits.done : exits.failed
  })
}

async function turnNamed(context: Context, reader: HomeReader, text: string): Promise<string> {
  if (prefixOf(text) !== 'turn' || !/^turn_[0-9a-f-]{4,36}$/.test(text)) {
    throw usage('bad_id', `"${text}" is no turn`, 'turns look like turn_7f3a')
  }
  const found = await resolveId(reader, text)
  if (found.ok) return found.id
  const said = found.code === 'unknown_id' ? 'there is no' : 'more than one is meant by'
  const more = candidateLines(context, found.candidates)
  throw usage(found.code, `${said} ${text}`, 'holon work show <item> --trace names turns', more)
}
