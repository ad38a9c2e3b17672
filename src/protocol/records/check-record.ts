/**
 * Checks as readers and writers get them: what the operator asks for, what became of it, and what
 * all of it comes to, which is derived at the read and stands nowhere
 * (docs/spec/check.md#claimed-and-verified).
 */
import { z } from 'zod'
import { checkOutcomes } from '../../domain/state/check.ts'
import { verificationStates } from '../../domain/facts/verification.ts'
import { count, listOf, orNull, taskId, timestamp } from '../scalar.ts'

const name = z
  .string()
  .describe('Unique in the item: small letters, digits, dot, dash, underscore.')

const expect = z
  .union([
    z.strictObject({ exists: z.boolean() }),
    z.strictObject({ sha256: z.string() }),
    z.strictObject({ contains: z.string() }),
  ])
  .meta({ id: 'FileExpectation' })

const file = { kind: z.literal('file'), name, path: z.string(), expect }
const http = {
  kind: z.literal('http'),
  name,
  url: z.string().describe('http or https. A redirect is not followed: its status is what came.'),
  status: z.number().int(),
}
const person = { kind: z.literal('person'), name, question: z.string() }
const command = { kind: z.literal('command'), name, cmd: z.string() }

/** What an operator gives. */
export const checkGiven = z
  .discriminatedUnion('kind', [
    z.strictObject({
      ...command,
      workdir: z.string().nullable().optional().describe('Inside the workspace; null: its root.'),
      timeout_ms: z.number().int().optional().describe('10 minutes when it is left out.'),
    }),
    z.strictObject(file),
    z.strictObject(http),
    z.strictObject(person),
  ])
  .meta({ id: 'CheckGiven' })

const tree = z
  .discriminatedUnion('problem', [
    z.strictObject({ hash: z.string(), problem: z.null() }),
    z.strictObject({ hash: z.null(), problem: z.string() }),
  ])
  .meta({ id: 'Tree', description: 'Of everything git does not ignore, or why there is none.' })

const runOf = { n: count, owed_at: timestamp, told: z.boolean() }
const run = z
  .discriminatedUnion('state', [
    z.strictObject({ state: z.literal('owed'), ...runOf }),
    z.strictObject({
      state: z.literal('running'),
      ...runOf,
      task_id: taskId,
      tree,
      started_at: timestamp,
    }),
    z.strictObject({
      state: z.literal('finished'),
      ...runOf,
      outcome: z.enum(checkOutcomes),
      exit_status: z.number().nullable().describe('Of an http check the status that came.'),
      reason: z.string().nullable(),
      tail: z.string().describe('The last of what was printed; the task has everything.'),
      task_id: taskId.nullable(),
      tree: z.strictObject({ before: tree, after: tree }).nullable(),
      started_at: timestamp,
      finished_at: timestamp,
    }),
  ])
  .meta({ id: 'CheckRun' })

const withRun = { run: orNull(run).describe('Null until the item is completed.') }

export const checkRecord = z
  .discriminatedUnion('kind', [
    z.strictObject({
      ...command,
      workdir: z.string().nullable(),
      timeout_ms: z.number(),
      ...withRun,
    }),
    z.strictObject({ ...file, ...withRun }),
    z.strictObject({ ...http, ...withRun }),
    z.strictObject({ ...person, ...withRun }),
  ])
  .meta({ id: 'Check' })

export const verificationRecord = z
  .strictObject({
    state: z.enum(verificationStates),
    says: z.string().describe('One sentence for a person.'),
    tree: z.string().nullable().describe('The one git tree that all of them ran on.'),
    passed: listOf(z.string()),
    failed: listOf(z.string()),
    unknown: listOf(z.string()),
    pending: listOf(z.string()),
  })
  .meta({
    id: 'Verification',
    description: 'What the checks come to. A completion alone is a claim: its state is `none`.',
  })

export const runChecksBody = z
  .strictObject({ names: z.array(z.string()).optional().describe('All of them when left out.') })
  .meta({ id: 'RunChecks' })

export const answerCheckBody = z
  .strictObject({
    run: count.describe('The number of the run as it was shown: 409 when it is not open any more.'),
    passed: z.boolean(),
    words: z.string().optional(),
  })
  .meta({ id: 'AnswerCheck' })

export const checkEvents = {
  by: z.enum(['runtime', 'operator']),
  outcome: z.enum(checkOutcomes),
  tree,
  trees: z.strictObject({ before: tree, after: tree }).nullable(),
}
