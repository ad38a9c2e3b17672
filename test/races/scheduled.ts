/**
 * The same stories under fast-check's scheduler: every effect of the host, reads too, and
 * everything from outside settles in an order it chooses; a failing order is made small by it.
 */
import fc from 'fast-check'
import type { Scheduler } from 'fast-check'
import { settled } from '../sim/agenda.ts'
import { becalm } from '../sim/calm.ts'
import { afterStep } from '../sim/checks.ts'
import { planOf } from '../sim/plan.ts'
import { World } from '../sim/world.ts'
import { unread } from './explore.ts'
import { words, type Scene } from './scenes.ts'

/** Effects one order may take before it must have come to rest. */
const patience = 5_000

async function order(scene: Scene, scheduler: Scheduler): Promise<string[]> {
  const world = new World(planOf(1, 0), { answers: scene.answers })
  const { agenda } = world
  const known = new Set<object>()
  try {
    world.boot()
    world.makeMain()
    for (const one of [words(1), ...scene.outside]) {
      const comes = () => Promise.resolve(one.happens(world))
      void scheduler.schedule(Promise.resolve(), one.name).then(comes)
    }
    for (let n = 0; n < patience; n += 1) {
      await settled(agenda)
      for (const effect of agenda.ready) {
        if (known.has(effect)) continue
        known.add(effect)
        const label = `${effect.kind} ${effect.label}`
        void scheduler.schedule(Promise.resolve(), label).then(() => {
          // Who was cancelled meanwhile is not there any more.
          const at = agenda.ready.indexOf(effect)
          return at < 0 ? undefined : agenda.take(at).run(false)
        })
      }
      if (scheduler.count() === 0) break
      await scheduler.waitOne()
      const found = afterStep(world)
      if (found.length > 0) return found
    }
    const calm = await becalm(world, () => 0, false)
    return [...calm.violations, ...unread(world)]
  } finally {
    await world.store.close()
  }
}

/** Throws with the smallest order that breaks an invariant. */
export async function scheduled(scene: Scene, runs: number, seed: number): Promise<void> {
  const holds = fc.asyncProperty(fc.scheduler(), async (scheduler) => {
    const found = await order(scene, scheduler)
    if (found.length > 0) throw new Error(`${scene.name}: ${found.join('; ')}`)
  })
  await fc.assert(holds, { numRuns: runs, seed })
}
