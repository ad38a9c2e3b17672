/**
 * What the agent is made with that takes the first words. `model` null: none is set. `root` is an
 * absolute folder: where one stands, or what is configured.
 */
export type FirstAgent = {
  readonly model: string | null
  readonly fallback_model: string | null
  readonly root: string
}
