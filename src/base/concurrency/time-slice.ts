/**
 * Splits long work, such as a scan of many objects or a write of several megabytes, so that it does not block the event
 * loop. There are four functions for this purpose, from the finest to the coarsest:
 *
 *   if (timeSlice.charge(512)) await timeSlice.yieldIfDue()  // in a loop of small steps, each about 512 microseconds
 *   await timeSlice.yieldIfDue()                             // between two larger steps
 *   await timeSlice.run(work)                                // for a generator that yields where it can be interrupted
 *   await roomInTurn()                                       // before each of many short tasks, such as requests
 *
 * Short work never yields, so short tasks keep their order. All long work in one turn of the event loop shares a time
 * budget of a few milliseconds. Suspended tasks that have worked for at most a few milliseconds resume first, so that
 * an ordinary request does not wait behind every expensive request. Other suspended tasks follow, and tasks that wait
 * for `roomInTurn` come last. Tasks of one kind resume in the order in which they were suspended. Every turn resumes at
 * least one task of each kind, so that no task starves on a busy server.
 */
import { performance } from 'node:perf_hooks'

/** A local constant, because reading the global `performance` calls a slow getter. */
const clock = performance
const { nodeTiming } = clock

/**
 * Time budget of one event-loop turn in milliseconds. The usual budget is too short for clients to notice. The budget
 * is longer while a server starts.
 */
const stretches = { usual: 2, starting: 25 }
let stretchMs = stretches.usual
/**
 * Duration in milliseconds below which work never yields, regardless of other work in the same turn. Longer work checks
 * the budget at this interval.
 */
const briefMs = 0.25
/** Suspended tasks that have worked for at most this time, in milliseconds, resume before other tasks. */
const shortTaskMs = 4
/** Number of work units to count before reading the clock. */
const unitsBetweenLooks = 2000

/** Splits the work of one task, such as a request, into time slices. */
export class TimeSlice {
  #since = clock.now()
  /** Time in milliseconds that the task had already worked when the current measurement began. */
  #workedMs = 0
  #units = 0

  /** Restarts the measurement. Must be called after the task has waited, because waiting time is not work. */
  begin(): void {
    this.#since = clock.now()
  }

  /** Adds work units and returns whether the task must yield. */
  charge(units: number): boolean {
    this.#units += units
    if (this.#units < unitsBetweenLooks) return false
    this.#units = 0
    return this.#isDue()
  }

  /** Yields to other tasks if the time budget is used up. Otherwise returns undefined. */
  yieldIfDue(): Promise<void> | undefined {
    return this.#isDue() ? this.#rest() : undefined
  }

  /** Runs a generator that yields wherever its work can be interrupted or has to wait. */
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
    // Do not start a new measurement until the task has yielded, so that `yieldIfDue` agrees with this result.
    if (!isDue) this.#count(now)
    return isDue
  }

  #count(now: number): void {
    this.#workedMs += now - this.#since
    this.#since = now
  }

  #rest(): Promise<void> {
    this.#count(clock.now())
    const work = this.#workedMs <= shortTaskMs ? shortWork : longWork
    return new Promise((resolve) =>
      work.rest(() => {
        this.begin()
        resolve()
      }),
    )
  }
}

let starts = 0

/**
 * Uses a longer time budget while a server starts, until the returned object is disposed of. Few clients are waiting at
 * that time, and all objects that the server creates in one turn share a store transaction, so longer turns need fewer
 * transactions.
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

/** The event-loop turn in which the current measurement began, and the time at which the measurement began. */
const stretch = { turn: -1, began: 0 }

/** Returns the time at which long work was first detected in this turn of the event loop. */
function stretchBegan(now: number): number {
  const turn = nodeTiming.uvMetricsInfo.loopCount
  if (turn !== stretch.turn) beginStretch(turn, now)
  return stretch.began
}

function beginStretch(turn: number, now: number): void {
  stretch.turn = turn
  stretch.began = now
}

/** The event-loop turn in which suspended work is about to resume. */
interface Turn {
  readonly turn: number
  /** Whether time remains in the budget of this event-loop turn. */
  readonly hasTime: boolean
}

function presentTurn(): Turn {
  const now = clock.now()
  const hasTime = now - stretchBegan(now) < stretchMs
  return { turn: stretch.turn, hasTime }
}

/** Suspended work of one kind, in order of suspension. */
class RestingWork {
  readonly #waiting: (() => void)[] = []
  /** Number of the event-loop turn in which work of this kind was last resumed. */
  #resumedIn = -1

  get length(): number {
    return this.#waiting.length
  }

  /** Calls the function in a later event-loop turn, once a turn has time left in its budget. */
  rest(resume: () => void): void {
    if (!isResuming) {
      isResuming = true
      setImmediate(resumeNext)
    }
    this.#waiting.push(resume)
  }

  /**
   * Resumes one piece of work if the turn has time left, or if the turn has not resumed any work of this kind yet.
   * Returns whether a piece was resumed.
   */
  resume({ turn, hasTime }: Turn): boolean {
    if (this.length === 0 || (!hasTime && this.#resumedIn === turn)) return false
    this.#resumedIn = turn
    this.#waiting.shift()!()
    return true
  }
}

const shortWork = new RestingWork()
const longWork = new RestingWork()
const loopPieces = new RestingWork()

/** Whether `resumeNext` is already scheduled. */
let isResuming = false

/** Resumes pieces one by one while the turn has time left, and then continues in the next turn. */
function resumeNext(): void {
  const turn = presentTurn()
  const hasResumed = shortWork.resume(turn) || longWork.resume(turn) || loopPieces.resume(turn)
  isResuming = shortWork.length + longWork.length + loopPieces.length > 0
  if (!isResuming) return
  if (!hasResumed) setImmediate(resumeNext)
  // The next task resumes after all work of the current task, because nextTick callbacks run only when the microtask
  // queue is empty.
  else queueMicrotask(() => process.nextTick(resumeNext))
}

/**
 * Waits before a short task, for loops that may start hundreds of tasks in one turn. Resolves in a later turn if the
 * time budget of this turn is used up or other tasks are waiting. Otherwise returns undefined. A call is worthwhile for
 * tasks that take at least a tenth of a millisecond.
 */
export function roomInTurn(): Promise<void> | undefined {
  if (loopPieces.length === 0 && presentTurn().hasTime) return undefined
  return new Promise((resolve) => loopPieces.rest(resolve))
}

/**
 * Work that yields wherever it can be interrupted. Each yield returns either nothing or a promise to wait for. Work
 * that yields promises cannot run synchronously.
 */
export type Sliced<T> = Generator<unknown, T>

/** Returns sliced work that completes immediately. */
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

/** Runs sliced work synchronously. Throws an error if the work yields a promise. */
export function runToCompletion<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    if (step.value instanceof Promise) throw new TypeError('cannot run a task synchronously because it has to wait')
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
