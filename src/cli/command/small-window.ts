/**
 * A model whose window is small: an agent works with it, and keeps little of a long turn. Told when
 * a home is set up, looked at, and run.
 */
import { workableWindow, type Config } from '../../protocol/config.ts'

const grouped = (n: number): string => String(n).replace(/\B(?=(?:\d{3})+$)/g, ',')

/** A sentence of what is small and what that costs; null: it is not, or nobody said so. */
export function smallWindow(config: Config, model: string | null): string | null {
  const window = model === null ? undefined : config.models?.[model]?.context_window
  if (window === undefined || window >= workableWindow) return null
  return (
    `${model} has a window of ${grouped(window)} tokens: below ${grouped(workableWindow)} a long ` +
    'turn keeps little of what it read'
  )
}
