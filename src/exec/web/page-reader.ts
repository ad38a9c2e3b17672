/** The program that reads one page of the public internet (`read-page.ts`). */
import { systemNet } from '../hosts/net.ts'
import { main } from './read-page.ts'

await main(systemNet)
