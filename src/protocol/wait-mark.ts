/** The mark of a question as it was shown, which an answer sends back (contracts 13). */
export { boundHash } from '../domain/answers.ts'
