/** The tools whose calls are judged before they have an effect. */
export const judgedTools = ['ExecCommand', 'EditFile', 'ApplyPatch', 'WebFetch'] as const
