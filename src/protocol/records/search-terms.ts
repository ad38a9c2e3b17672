/** How a search reads its words, for those who say why nothing was found. Loads no schema. */
export { memoryKinds } from '../../domain/memory/memory.ts'
export { shortestPrefix, shortestStem, termsOf } from '../../domain/memory/words.ts'
