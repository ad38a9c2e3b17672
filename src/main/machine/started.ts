/**
 * Told once the first request is out, the daemon serves, or the screen is drawn. `bin/bundle.mjs`
 * waits for it: what was compiled by then is kept, and the heap is held small from then on.
 */
export const atWork = (): boolean => process.emit('holon_at_work' as 'exit', 0)
