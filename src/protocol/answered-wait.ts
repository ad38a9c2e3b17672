/**
 * Which wait a message ended that it does not name: as its taking back asks
 * (docs/spec/message.md#binding).
 */
export { answeredWaitIn, pageOfAnswer } from '../domain/take-back.ts'
