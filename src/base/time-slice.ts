/**
 * Splits long work so that it never holds the event loop for long: a scan over many objects, or the steps of a write of
 * some megabytes. There are three ways to use it, from the finest to the coarsest.
 *
 *   if (pace.charge(512)) await pace.yieldIfDue()   // in a loop of small steps: 512 units of about a microsecond
 *   await pace.yieldIfDue()                         // between two larger steps
 *   await pace.run(work)                            // for a generator that yields where it can be interrupted
 *
 * Short work never rests, and always runs in the same order. All long work of a turn of the event loop shares one
 * stretch of time: however many pieces there are, others wait for a few milliseconds only.
 */
import { performance } from 'node:perf_hooks'

/** The global of this name is a getter, which is not free. */
const clock = performance
const { nodeTiming } = clock

/** How long work may take in a turn of the event loop, far less than a client would notice. */
const stretchMs = 2
/** Work below this does not rest, whatever others did in the same turn; longer work looks as often whether it must. */
const briefMs = 0.25
/** How much work is done before the clock is read again. */
const unitsBetweenLooks = 2000

/** The pace of one piece of work, such as a request. */
export class TimeSlice {
  #since = clock.now()
  #units = 0

  /** What came before was waiting, not work: to look whether others have worked in this turn is not free. */
  begin(): void {
    this.#since = clock.now()
  }

  /** Whether it is time to rest, now that so much has been done. */
  charge(units: number): boolean {
    this.#units += units
    if (this.#units < unitsBetweenLooks) return false
    this.#units = 0
    return this.#isDue()
  }

  /** Lets everybody else have a turn if this stretch has lasted long enough; else undefined: go on. */
  yieldIfDue(): Promise<void> | undefined {
    return this.#isDue() ? nextTurn() : undefined
  }

  /** Does work that yields where it can be interrupted, or has to wait. */
  async run<T>(work: Steps<T>): Promise<T> {
    for (let step = work.next(); ; ) {
      if (step.done) return step.value
      if (step.value instanceof Promise) {
        step = await resume(work, step.value)
        continue
      }
      const rest = this.yieldIfDue()
      if (rest !== undefined) await rest
      step = work.next()
    }
  }

  #isDue(): boolean {
    const now = clock.now()
    if (now - this.#since < briefMs) return false
    const isDue = now - stretchBegan(now) >= stretchMs
    // What is due stays due until it has rested: `yieldIfDue` must say what `charge` has just said.
    if (!isDue) this.#since = now
    return isDue
  }
}

/** The turn of the event loop in which the present stretch began, and when. */
const stretch = { turn: -1, began: 0 }

/** Since when this turn of the event loop has done long work, as far as anybody has noticed. */
function stretchBegan(now: number): number {
  const turn = nodeTiming.uvMetricsInfo.loopCount
  if (turn !== stretch.turn) beginStretch(turn, now)
  return stretch.began
}

function beginStretch(turn: number, now: number): void {
  stretch.turn = turn
  stretch.began = now
}

/** Work that rests, the longest first. */
const resting: (() => void)[] = []

/** Resolves in a later turn of the event loop, and there within the time that all long work of a turn shares. */
function nextTurn(): Promise<void> {
  setImmediate(resumeInTime)
  return new Promise((resolve) => resting.push(resolve))
}

/** Called once for each piece that rests. What was resumed before it in the same turn has done its part by now. */
function resumeInTime(): void {
  const now = clock.now()
  if (now - stretchBegan(now) < stretchMs) resting.shift()!()
  else setImmediate(resumeInTime)
}

/**
 * Work that yields where it can be interrupted. What it yields is nothing, or a promise that it waits for: such work
 * cannot be done in one stretch.
 */
export type Steps<T> = Generator<unknown, T>

/** Work that is done already. */
export function* done<T>(value: T): Steps<T> {
  yield* []
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
