/** Who takes words, and who carries out runbooks, when nobody is named. */
export const usualAgents = { text: 'main', runbook: 'runbooks' } as const
