/** What can be wrong in a runbook file, and where. */

export type ParseError = {
  code:
    | 'no_objective'
    | 'no_steps'
    | 'no_title'
    | 'two_actions'
    | 'empty_action'
    | 'bad_duration'
    | 'bad_name'
    | 'outside_step'
    | 'not_closed'
    | 'bad_check'
    | 'checks_by_run'
    | 'over_limit'
    | 'nul'
  /** From 1 to the number of lines. */
  line: number
  /** One sentence: what is wrong and what to do. */
  message: string
}
