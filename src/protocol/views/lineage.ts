/** An agent and those it was made under: the one it was made by, and so on up to the top. */

type Made = { id: string; lineage_parent_agent_id: string | null }

/** Nothing where there is no such agent. `agentOf`: what of an entry is the agent. */
export function lineage<T>(
  all: readonly T[],
  agentOf: (one: T) => Made,
  id: string | null,
): readonly T[] {
  const found = all.find((one) => agentOf(one).id === id)
  if (found === undefined) return []
  return [found, ...lineage(all, agentOf, agentOf(found).lineage_parent_agent_id)]
}
