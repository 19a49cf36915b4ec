/**
 * Splits long work so that it never blocks the event loop for long: a scan of many objects, or a write of some
 * megabytes. There are four ways to use it, from the finest to the coarsest.
 *
 *   if (timeSlice.charge(512)) await timeSlice.yieldIfDue()   // in a loop of small steps: 512 units of about a microsecond
 *   await timeSlice.yieldIfDue()                         // between two larger steps
 *   await timeSlice.run(work)                            // for a generator that yields where it can be interrupted
 *   await roomInTurn()                              // before each of many short pieces, such as the requests of a loop
 *
 * Short work never yields and always runs in the same order. All long work in a turn of the event loop shares one time
 * budget, so that other work waits for only a few milliseconds. Suspended work resumes in the order of suspension, and
 * the pieces of loops come last. At least one piece of each sort resumes in every turn, so that no work starves on a
 * busy server.
 */
import { performance } from 'node:perf_hooks'

/** The global `performance` is a getter, which is slower. */
const clock = performance
const { nodeTiming } = clock

/**
 * The time budget of a turn in milliseconds, much less than a client would notice. It is longer while a server starts.
 */
const stretches = { usual: 2, starting: 25 }
let stretchMs = stretches.usual
/**
 * Duration in milliseconds below which work never yields, regardless of other work in the same turn. Longer work checks
 * the budget at this interval.
 */
const briefMs = 0.25
/** Number of work units between two reads of the clock. */
const unitsBetweenLooks = 2000

/** Time slicing of one task, such as a request. */
export class TimeSlice {
  #since = clock.now()
  #units = 0

  /**
   * Starts the measurement. Must be called after waiting, because waiting is not work. Checking the budget of the turn
   * has a cost.
   */
  begin(): void {
    this.#since = clock.now()
  }

  /** Adds work units. Returns whether the task must yield. */
  charge(units: number): boolean {
    this.#units += units
    if (this.#units < unitsBetweenLooks) return false
    this.#units = 0
    return this.#isDue()
  }

  /** Yields to other tasks if the budget is used up. Otherwise returns undefined. */
  yieldIfDue(): Promise<void> | undefined {
    return this.#isDue() ? longWork.rest() : undefined
  }

  /** Runs a generator that yields where it can be interrupted or has to wait. */
  async run<T>(work: Sliced<T>): Promise<T> {
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
    // The slice remains due until it has yielded, so that `yieldIfDue` agrees with the preceding `charge`.
    if (!isDue) this.#since = now
    return isDue
  }
}

let starts = 0

/**
 * Uses a longer budget while a server starts, until the result is disposed of. Few clients wait at that time, and all
 * objects that the server creates in one turn share a store transaction, so longer turns need fewer transactions.
 */
export function beginStart(): Disposable {
  starts++
  stretchMs = stretches.starting
  return {
    [Symbol.dispose]: () => {
      starts--
      if (starts === 0) stretchMs = stretches.usual
    },
  }
}

/** The turn of the event loop in which the current measurement began, and its start time. */
const stretch = { turn: -1, began: 0 }

/** Returns the time at which long work was first noticed in this turn of the event loop. */
function stretchBegan(now: number): number {
  const turn = nodeTiming.uvMetricsInfo.loopCount
  if (turn !== stretch.turn) beginStretch(turn, now)
  return stretch.began
}

function beginStretch(turn: number, now: number): void {
  stretch.turn = turn
  stretch.began = now
}

/** The state of the current turn of the event loop before suspended work resumes in it. */
interface Turn {
  readonly turn: number
  /** Whether the turn has time left in its shared budget. */
  readonly hasTime: boolean
}

function presentTurn(): Turn {
  const now = clock.now()
  const hasTime = now - stretchBegan(now) < stretchMs
  return { turn: stretch.turn, hasTime }
}

/** Suspended work of one kind, in the order in which it was suspended. */
class RestingWork {
  readonly #waiting: (() => void)[] = []
  /** The last turn in which work of this kind resumed. */
  #resumedIn = -1

  get length(): number {
    return this.#waiting.length
  }

  /** Resolves in a later turn of the event loop that has time left. */
  rest(): Promise<void> {
    if (!isResuming) {
      isResuming = true
      setImmediate(resumeNext)
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /**
   * Resumes one piece of work if the turn has time left or has not resumed any of this kind yet. Returns whether it
   * resumed one.
   */
  resume({ turn, hasTime }: Turn): boolean {
    if (this.length === 0 || (!hasTime && this.#resumedIn === turn)) return false
    this.#resumedIn = turn
    this.#waiting.shift()!()
    return true
  }
}

const longWork = new RestingWork()
const loopPieces = new RestingWork()

/** Whether a call of `resumeNext` is scheduled. */
let isResuming = false

/** Resumes pieces one by one while the turn has time left, and then continues in the next turn. */
function resumeNext(): void {
  const turn = presentTurn()
  const hasResumed = longWork.resume(turn) || loopPieces.resume(turn)
  isResuming = longWork.length + loopPieces.length > 0
  if (!isResuming) return
  if (!hasResumed) setImmediate(resumeNext)
  // The next piece resumes after all work of this piece, because nextTick callbacks run when the microtask queue is
  // empty.
  else queueMicrotask(() => process.nextTick(resumeNext))
}

/**
 * Waits before a short piece of work, of which loops may run hundreds in a turn. Resolves in a later turn if the budget
 * of this turn is used up or other pieces are waiting. Otherwise returns undefined. The check has a cost, so use it for
 * pieces that take at least a tenth of a millisecond.
 */
export function roomInTurn(): Promise<void> | undefined {
  return loopPieces.length === 0 && presentTurn().hasTime ? undefined : loopPieces.rest()
}

/**
 * Work that yields where it can be interrupted. It yields either nothing or a promise to wait for. Work that yields
 * promises cannot run synchronously.
 */
export type Sliced<T> = Generator<unknown, T>

/** Sliced work that is already complete. */
export function* slicedValue<T>(value: T): Sliced<T> {
  yield* []
  return value
}

/** Waits for a promise within sliced work. */
export function* waitFor<T>(promise: Promise<T>): Sliced<T> {
  const settledResult: { value?: T } = {}
  yield promise.then((value) => {
    settledResult.value = value
  })
  return settledResult.value as T
}

/** Runs the work synchronously. Throws if it would have to wait. */
export function runToCompletion<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    if (step.value instanceof Promise) throw new TypeError('this task must wait and cannot run synchronously')
  }
}

async function resume<T>(work: Sliced<T>, awaited: Promise<unknown>): Promise<IteratorResult<unknown, T>> {
  try {
    await awaited
  } catch (error) {
    return work.throw(error)
  }
  return work.next()
}
