/** Hooks as `config.json` has them: programs that are asked before a call, and for which calls. */
import { z } from 'zod'
import { judgedTools } from '../domain/policy/judged-tools.ts'
import { effectClasses } from './policy-file.ts'

/** Programs in all; each may take five seconds of a call, at the same time as the others. */
const HOOKS = 8

const someOf = <T extends z.ZodType>(one: T) => z.array(one).min(1)

export const hookCalls = z.strictObject({
  tool: someOf(z.enum(judgedTools)).optional().describe('Calls of these tools.'),
  class: someOf(z.enum(effectClasses)).optional().describe('Calls of these effect classes.'),
})

export const hookFields = z.strictObject({
  run: z
    .tuple(
      [z.string().regex(/^(\/|~\/)/, 'write an absolute path, or one that begins with ~/')],
      z.string(),
    )
    .describe('The program and its arguments; no shell reads them.'),
  for: hookCalls
    .optional()
    .describe(
      'Which calls it is asked about, all that is given; default: every one that is judged.',
    ),
})

export const hooksConfig = z.array(hookFields).max(HOOKS)

export type HookConfig = z.infer<typeof hookFields>

/** Those that are asked about a call, in the order of the file. */
export const hooksFor = (
  hooks: readonly HookConfig[],
  call: { tool: string; class: string },
): readonly HookConfig[] =>
  hooks.filter(
    ({ for: only }) =>
      (only?.tool === undefined || only.tool.some((one) => one === call.tool)) &&
      (only?.class === undefined || only.class.some((one) => one === call.class)),
  )
