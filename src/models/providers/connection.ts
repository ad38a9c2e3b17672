/**
 * Where a model is and how to get in: what `catalogue/open-model.ts` worked out and each adapter
 * needs.
 */
import type { FetchFunction } from '../transport/fetch.ts'

export type AdapterConnection = {
  /** The provider's id, as in `provider/model`. */
  provider: string
  /** The model's name at the provider. */
  model: string
  /** Null only for a server on this machine that wants none. */
  api_key: string | null
  /** Whether a call's arguments may be asked for as they are written, before they are whole. */
  tool_streaming: boolean
  /** Ends in the API version, as the libraries expect; no trailing slash. */
  base_url: string
  fetch: FetchFunction
}
