/**
 * A disk that fails one commit of a life, or one write of a file, and is well again: full, held by
 * another program, or broken, which ends the process. Who is refused asks again.
 */
import { FileFault } from '../../src/exec/files/file-fault.ts'
import { systemClock } from '../../src/exec/clock.ts'
import { systemFiles } from '../../src/exec/files/files.ts'
import type { Clock, Files } from '../../src/exec/ports.ts'
import { LedgerFault, type Ledger } from '../../src/ledger/port.ts'
import type { OperatorAct } from '../../src/domain/operator/act.ts'
import { isShortage } from '../../src/runtime/shortage.ts'
import type { Host } from '../../src/runtime/ports.ts'
import type { HostFixture, BoxOptions } from '../../src/testing/host/host-fixture.ts'
import { Killer } from './killer.ts'

/** What a commit, or a write of a file, may meet: one row for each treatment that the host has. */
export const stumbles = {
  'a full disk': () => new LedgerFault('disk_full', 'Committing: the disk is full', 'later'),
  'a ledger held by another': () => new LedgerFault('io', 'Committing: it is locked', 'later'),
  'a broken disk': () => new LedgerFault('io', 'Committing: input/output error', 'never'),
  'a full disk under a file': () => new FileFault('disk_full', 'a file', 'the disk is full'),
} as const
export type Stumble = keyof typeof stumbles

/** The first look for room, which a person would wait for: here it comes at once. */
const firstLook = 5_000

export class Stumbler extends Killer {
  readonly #at: { n: number; what: Stumble }
  /** Commits and writes of files that were asked for. */
  readonly asked = { commits: 0, files: 0 }
  /** Whether it came to that point. */
  struck = false

  constructor(at: { n: number; what: Stumble }) {
    super(null)
    this.#at = at
  }

  override get seams(): Partial<BoxOptions> {
    const { over, files } = this
    return { ...super.seams, over, files, clock: this.#hasty(), waits_for_room: true }
  }

  override about(box: HostFixture): HostFixture {
    return { ...box, host: patient(box) }
  }

  readonly over = (ledger: Ledger): Ledger => ({
    ...ledger,
    commit: async (...changes) => {
      this.asked.commits += 1
      this.#meet(this.asked.commits, this.#at.what !== 'a full disk under a file')
      return ledger.commit(...changes)
    },
  })

  readonly files: Files = {
    ...systemFiles(),
    write_atomic: async (path, ...how) => {
      if (!path.endsWith('/room-check')) {
        this.asked.files += 1
        this.#meet(this.asked.files, this.#at.what === 'a full disk under a file')
      }
      await systemFiles().write_atomic(path, ...how)
    },
  }

  #meet(n: number, isOfItsKind: boolean): void {
    const fault = stumbles[this.#at.what]()
    if (this.dead) throw fault
    if (!isOfItsKind || n !== this.#at.n) return
    this.struck = true
    this.dead = fault.retry === 'never'
    throw fault
  }

  #hasty(): Clock {
    const clock = this.clock ?? systemClock()
    return {
      ...clock,
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      after: (ms, fn) => (ms === firstLook ? systemClock().after(1, fn) : clock.after(ms, fn)),
    }
  }
}

/** What a sender does: what was refused for want of room is asked again when there is some. */
function patient(box: HostFixture): Host {
  const { host } = box
  const room = () => box.until(() => host.degraded() === null, 'room')
  const act = async (command: OperatorAct): ReturnType<Host['act']> => {
    for (;;) {
      const reply = await host.act(command)
      if (reply.ok || reply.code !== 'degraded') return reply
      await room()
    }
  }
  const ensureAgent: Host['ensureAgent'] = async (settings) => {
    try {
      return await host.ensureAgent(settings)
    } catch (error) {
      if (!isShortage(error)) throw error
      return ensureAgent(settings)
    }
  }
  const own = { act, ensureAgent }
  return new Proxy(host, {
    get(target, name) {
      if (name in own) return own[name as keyof typeof own]
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
