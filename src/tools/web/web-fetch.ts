/** WebFetch: one page of the public internet as text, within a bound; the whole is kept beside. */
import { z } from 'zod'
import type { ToolResult, Warning } from '../../domain/state/call.ts'
import { firstBytes } from '../../domain/inbox/deliveries.ts'
import { limits } from '../../domain/limits.ts'
import type { WebFault, WebPage } from '../../exec/ports.ts'
import { bytesOfTokens } from '../commands/command-output.ts'
import { sha256 } from '../tool/sha256.ts'
import {
  failed,
  nothingNew,
  pureTool,
  succeeded,
  type EffectOutcome,
  type LaterContext,
} from '../tool/tool.ts'

const NAME = 'WebFetch'
const input = () => z.strictObject({ url: z.url() })
type Input = z.infer<ReturnType<typeof input>>

export const webFetch = pureTool<Input>({
  name: NAME,
  input,
  title: ({ url }) => url,
  run: fetched,
  later: {
    shown: ({ url }) => url,
    run: (given, _, ctx) => fetched(given, ctx),
    recover: (given, _, ctx) => fetched(given, ctx),
  },
})

async function fetched({ url }: Input, ctx: LaterContext): Promise<EffectOutcome> {
  const sandbox = await ctx.processes.confinement()
  if (sandbox.state === 'unavailable' || (sandbox.state === 'on' && sandbox.network === 'none')) {
    const message = 'Nothing here may use the network.'
    const result = failed(NAME, 'rejected', 'no_network', message, 'The operator decides that.')
    return { result, ...nothingNew }
  }
  const signal = AbortSignal.any([ctx.signal, ctx.closing])
  const page = await ctx.web.read(url, signal, ctx.agent_id)
  const result = page.ok ? await shown(page, ctx) : notRead(page)
  return { result, result_hash: page.ok ? sha256(page.text) : null, changed_something: false }
}

async function shown({ url, status, title, text, cut }: WebPage, ctx: LaterContext) {
  if (status >= 400) {
    const message = `${url} answered with HTTP ${status}.`
    return failed(NAME, 'fault', `http_${status}`, message, 'Look for its address anew.')
  }
  // All that the page says is one text, which stands in a block.
  const words = [title ?? '', text].join('\n').trim()
  const most = bytesOfTokens(limits.result_tokens.value)
  const start = firstBytes(words, most)
  const path = start === words ? null : await ctx.keepOutput(words)
  const more =
    path === null ? '' : `\n[… ${words.length - start.length} characters more in ${path} …]`
  const warnings: Warning[] = cut
    ? [{ kind: 'incomplete', message: 'The page is longer than is read; its end is missing.' }]
    : []
  const result = { url, page: `${start}${more}` }
  return succeeded(NAME, `${url}, ${text.length} characters`, result, warnings)
}

/** What to do about each; what passes by itself is a fault, what does not is refused. */
function notRead({ code, message }: WebFault): ToolResult {
  switch (code) {
    case 'bad_url':
      return failed(NAME, 'rejected', code, message, 'Give another address.')
    case 'not_listed':
      return failed(NAME, 'rejected', code, message, 'The operator decides which hosts are listed.')
    case 'private_address': {
      const hint =
        'What is on this machine or its network ExecCommand with curl asks, if it is meant.'
      return failed(NAME, 'rejected', code, message, hint)
    }
    case 'not_text':
      return failed(NAME, 'rejected', code, message, 'Take it with ExecCommand and curl.')
    case 'aborted':
      return failed(NAME, 'aborted', code, message)
    case 'unknown_name':
    case 'no_connection':
    case 'redirects':
    case 'too_slow':
    case 'no_reader':
      return failed(NAME, 'fault', code, message, 'Try again later, or another address.')
  }
}
