/**
 * Splits long work so that it never holds the event loop for long: a scan over many objects, or the steps of a write of
 * some megabytes. There are three ways to use it, from the finest to the coarsest.
 *
 *   if (pace.spent(512)) await pace.rest()       // in a loop of small steps: 512 units of about a microsecond
 *   await pace.rest()                            // between two larger steps
 *   await pace.run(work)                         // for a generator that yields where it can be interrupted
 *
 * Short work never rests, and always runs in the same order.
 */

/**
 * How long one may work without a rest. Many requests work at the same time, so it is far less than a client would
 * notice.
 */
const stretchMs = 5
/** How much work is done before the clock is read again. */
const unitsBetweenLooks = 2000

/** The pace of one piece of work, such as a request. */
export class TimeSlice {
  #since = performance.now()
  #units = 0

  /** A stretch begins here: what came before was waiting, not work. */
  begin(): void {
    this.#since = performance.now()
  }

  /** Whether it is time to rest, now that so much has been done. */
  charge(units: number): boolean {
    this.#units += units
    if (this.#units < unitsBetweenLooks) return false
    this.#units = 0
    return this.#isOver()
  }

  /** Lets everybody else have a turn if this stretch has lasted long enough; else undefined: go on. */
  yieldIfDue(): Promise<void> | undefined {
    return this.#isOver() ? this.#pause() : undefined
  }

  /** Does work that yields where it can be interrupted, or has to wait. */
  async run<T>(work: Steps<T>): Promise<T> {
    for (let step = work.next(); ; ) {
      if (step.done) return step.value
      if (step.value instanceof Promise) {
        step = await resume(work, step.value)
        this.begin()
        continue
      }
      const pause = this.yieldIfDue()
      if (pause !== undefined) await pause
      step = work.next()
    }
  }

  #isOver(): boolean {
    return performance.now() - this.#since >= stretchMs
  }

  async #pause(): Promise<void> {
    await new Promise(setImmediate)
    this.begin()
  }
}

/**
 * Work that yields where it can be interrupted. What it yields is nothing, or a promise that it waits for: such work
 * cannot be done in one stretch.
 */
export type Steps<T> = Generator<unknown, T>

/** Work that is done already. */
// biome-ignore lint/correctness/useYield: there is nothing to wait for
export function* done<T>(value: T): Steps<T> {
  return value
}

/** A step that waits for somebody else. */
export function* waitFor<T>(promise: Promise<T>): Steps<T> {
  const found: { value?: T } = {}
  yield promise.then((value) => {
    found.value = value
  })
  return found.value as T
}

/** The same work in one stretch. Throws where it would have to wait. */
export function runToCompletion<T>(work: Steps<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    if (step.value instanceof Promise) throw new TypeError('this work has to wait, and cannot be done in one stretch')
  }
}

async function resume<T>(work: Steps<T>, awaited: Promise<unknown>): Promise<IteratorResult<unknown, T>> {
  try {
    await awaited
  } catch (error) {
    return work.throw(error)
  }
  return work.next()
}
