/**
 * What a forked child inherited, as every one of its turns shows it: in front of all that changes,
 * and in the user's part of the request, since it quotes words of others. It was derived and
 * bounded once (fork/fork.ts) and is shown unchanged, so that provider caches hold from turn to
 * turn.
 */
import { stableHash } from '../../domain/stable-hash.ts'
import type { TokenEstimator } from '../estimate.ts'
import { cutBlock } from '../fence.ts'

const title = '# Inherited, shortened to the window of this model'

/**
 * The text as it is stored; in a window too small for it both of its ends, as one quoted block,
 * since a cut may fall inside a block of its own. '' where nothing was inherited.
 */
export function inheritedSection(
  inherited: string | null | undefined,
  tokens: TokenEstimator,
  max_tokens: number,
): string {
  if (inherited === null || inherited === undefined) return ''
  if (tokens(inherited) <= max_tokens) return inherited
  const cut = { max_tokens: max_tokens - tokens(title) - 2, tokens, full_path: null }
  return `${title}\n\n${cutBlock(stableHash(inherited), 'inherited', inherited, cut)}`
}
