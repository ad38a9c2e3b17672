/** The depth of a JSON text, for who reads one at the door: counted as the rules count it. */
export { isShallow } from '../domain/json-depth.ts'
