/**
 * One life of a scenario in a process of its own, which SIGKILL ends at a point:
 * `one-life.ts <scenario> <place> <kind> <n> <before|after>`. One that passes no such point ends.
 */
import { Killer, sigkill, type Point } from '../support/killer.ts'
import { scenarioNamed } from './registry.ts'
import { live, type Place } from './scenario.ts'

const [, , name = '', place = '', kind, n, when] = process.argv
const point = { kind, n: Number(n), when } as Point
await live(scenarioNamed(name), JSON.parse(place) as Place, new Killer(point, sigkill))
process.exit(0)
