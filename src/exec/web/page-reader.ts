/** The program that reads one page of the public internet (`read-page.ts`). */
import { systemNet } from './fetch-page.ts'
import { main } from './read-page.ts'

await main(systemNet)
