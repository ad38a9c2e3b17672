/**
 * Who produced a message, how it came in, why it was let in, what authority it carries: four facts
 * that stay apart, assigned by the runtime at admission and never changed
 * (docs/spec/message.md#provenance). Only the combinations of this table are admitted.
 */

export type Provenance = {
  kind: MessageKind
  origin: Origin
  delivery_surface: DeliverySurface
  admission_context: AdmissionContext
  authority_class: AuthorityClass
}

export type MessageKind =
  | 'operator_prompt'
  | 'callback_event'
  | 'webhook_event'
  | 'timer_tick'
  | 'task_result'
  | 'task_status'
  | 'internal_followup'
  | 'delegation'
export type Origin = 'operator' | 'callback' | 'webhook' | 'timer' | 'task' | 'system' | 'agent'
export type DeliverySurface =
  | 'cli_prompt'
  | 'run_once'
  | 'tui'
  | 'http_control'
  | 'http_callback'
  | 'http_webhook'
  | 'timer_scheduler'
  | 'task_rejoin'
  | 'runtime_system'
export type AdmissionContext =
  | 'local_process'
  | 'control_authenticated'
  | 'trigger_capability'
  | 'own_trigger_capability'
  | 'signature_verified'
  | 'runtime_owned'
export type AuthorityClass =
  | 'operator_instruction'
  | 'integration_signal'
  | 'runtime_instruction'
  | 'external_evidence'

type Row = {
  origin: Origin
  kinds: readonly MessageKind[]
  authority: readonly AuthorityClass[]
  surfaces: readonly DeliverySurface[]
  context: AdmissionContext
}

/** One row a producer. A delegation carries the lowest authority of what its turn had claimed. */
export const provenanceTable: readonly Row[] = [
  row(
    'operator',
    ['operator_prompt'],
    ['operator_instruction'],
    ['cli_prompt', 'run_once', 'tui'],
    'local_process',
  ),
  row(
    'operator',
    ['operator_prompt'],
    ['operator_instruction'],
    ['http_control'],
    'control_authenticated',
  ),
  row(
    'callback',
    ['callback_event'],
    ['integration_signal'],
    ['http_callback'],
    'trigger_capability',
  ),
  row(
    'callback',
    ['callback_event'],
    ['integration_signal'],
    ['http_callback'],
    'own_trigger_capability',
  ),
  row('webhook', ['webhook_event'], ['integration_signal'], ['http_webhook'], 'signature_verified'),
  row('timer', ['timer_tick'], ['runtime_instruction'], ['timer_scheduler'], 'runtime_owned'),
  row(
    'task',
    ['task_result', 'task_status'],
    ['external_evidence'],
    ['task_rejoin'],
    'runtime_owned',
  ),
  row(
    'system',
    ['internal_followup'],
    ['runtime_instruction'],
    ['runtime_system'],
    'runtime_owned',
  ),
  row(
    'agent',
    ['delegation'],
    ['operator_instruction', 'integration_signal', 'runtime_instruction'],
    ['runtime_system'],
    'runtime_owned',
  ),
]

function row(
  origin: Origin,
  kinds: readonly MessageKind[],
  authority: readonly AuthorityClass[],
  surfaces: readonly DeliverySurface[],
  context: AdmissionContext,
): Row {
  return { origin, kinds, authority, surfaces, context }
}

/** Whether this combination may enter the inbox at all. */
export const isAdmitted = (p: Provenance): boolean =>
  provenanceTable.some(
    (r) =>
      r.origin === p.origin &&
      r.kinds.includes(p.kind) &&
      r.authority.includes(p.authority_class) &&
      r.surfaces.includes(p.delivery_surface) &&
      r.context === p.admission_context,
  )

/** A prompt typed on this machine. */
export const localPrompt = (surface: 'cli_prompt' | 'run_once' | 'tui'): Provenance => ({
  kind: 'operator_prompt',
  origin: 'operator',
  delivery_surface: surface,
  admission_context: 'local_process',
  authority_class: 'operator_instruction',
})

/** A prompt that came through the control API. */
export const controlPrompt: Provenance = {
  kind: 'operator_prompt',
  origin: 'operator',
  delivery_surface: 'http_control',
  admission_context: 'control_authenticated',
  authority_class: 'operator_instruction',
}

export const callbackEvent: Provenance = {
  kind: 'callback_event',
  origin: 'callback',
  delivery_surface: 'http_callback',
  admission_context: 'trigger_capability',
  authority_class: 'integration_signal',
}

/** The same by the agent's own trigger, whose URL its commands have: it may be its own word. */
export const ownTriggerEvent: Provenance = {
  ...callbackEvent,
  admission_context: 'own_trigger_capability',
}

export const webhookEvent: Provenance = {
  kind: 'webhook_event',
  origin: 'webhook',
  delivery_surface: 'http_webhook',
  admission_context: 'signature_verified',
  authority_class: 'integration_signal',
}

/** A slot of a schedule that fell due. */
export const timerTick: Provenance = {
  kind: 'timer_tick',
  origin: 'timer',
  delivery_surface: 'timer_scheduler',
  admission_context: 'runtime_owned',
  authority_class: 'runtime_instruction',
}

/** What a command wrote, or a child: the runtime brings it, and speaks for none of it. */
export const taskResult: Provenance = {
  kind: 'task_result',
  origin: 'task',
  delivery_surface: 'task_rejoin',
  admission_context: 'runtime_owned',
  authority_class: 'external_evidence',
}

/** What a supervised child asks, or how it goes on: its end is a result. */
export const taskStatus: Provenance = { ...taskResult, kind: 'task_status' }

/**
 * Lowest first: a delegation carries the lowest of what its turn had claimed
 * (docs/spec/message.md#provenance).
 */
const authorities: readonly AuthorityClass[] = [
  'external_evidence',
  'integration_signal',
  'runtime_instruction',
  'operator_instruction',
]

/** Whose words give weight; what a command wrote or a clock says gives none and takes none. */
const weighing: ReadonlySet<Origin> = new Set<Origin>(['operator', 'agent', 'callback', 'webhook'])

/** What a parent hands to a child. A turn that claimed nothing started by itself. */
export function delegated(
  claimed: readonly Pick<Provenance, 'origin' | 'authority_class'>[],
): Provenance {
  const said = claimed.filter(({ origin }) => weighing.has(origin))
  const classes = new Set(said.map((message) => message.authority_class))
  const lowest = authorities.find((one) => classes.has(one)) ?? 'runtime_instruction'
  return {
    kind: 'delegation',
    origin: 'agent',
    delivery_surface: 'runtime_system',
    admission_context: 'runtime_owned',
    // External evidence has no route of its own; what it asks for weighs no more than a signal.
    authority_class: lowest === 'external_evidence' ? 'integration_signal' : lowest,
  }
}

/** A word of the runtime itself, for the model's next request. */
export const runtimeFollowup: Provenance = {
  kind: 'internal_followup',
  origin: 'system',
  delivery_surface: 'runtime_system',
  admission_context: 'runtime_owned',
  authority_class: 'runtime_instruction',
}
