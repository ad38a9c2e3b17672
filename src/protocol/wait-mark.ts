/** The mark of a question as it was shown, which an answer sends back (docs/spec/http.md). */
export { boundHash } from '../domain/answers.ts'
