/** Which wait a message ended that it does not name: as its taking back asks (contracts 4). */
export { answeredWaitIn, pageOfAnswer } from '../domain/take-back.ts'
