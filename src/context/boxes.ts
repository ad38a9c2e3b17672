/** Todos as a checklist is written. */
export const boxes = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const
