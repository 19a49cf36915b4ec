/**
 * Splits long work so that it never holds the event loop for long: a scan over many objects, or the steps of a write of
 * some megabytes. There are four ways to use it, from the finest to the coarsest.
 *
 *   if (pace.charge(512)) await pace.yieldIfDue()   // in a loop of small steps: 512 units of about a microsecond
 *   await pace.yieldIfDue()                         // between two larger steps
 *   await pace.run(work)                            // for a generator that yields where it can be interrupted
 *   await roomInTurn()                              // before each of many short pieces, such as the requests of a loop
 *
 * Short work never rests, and always runs in the same order. All long work of a turn of the event loop shares one
 * stretch of time: however many pieces there are, others wait for a few milliseconds only. What rests is resumed in the
 * order in which it began to rest, and the pieces of loops after all else; but one of either sort in every turn, so that
 * nothing waits for ever, however busy the server is.
 */
import { performance } from 'node:perf_hooks'

/** The global of this name is a getter, which is not free. */
const clock = performance
const { nodeTiming } = clock

/** How long work may take in a turn of the event loop, far less than a client would notice; longer while a server starts. */
const stretches = { usual: 2, starting: 25 }
let stretchMs = stretches.usual
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
    return this.#isDue() ? longWork.rest() : undefined
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

let starts = 0

/**
 * A server starts, until this is disposed of. Clients hardly wait for it yet, and the objects that it creates in one turn of
 * the event loop share a transaction of the store: longer stretches make fewer of those.
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

/** What there is to know of a turn of the event loop before something is resumed in it. */
interface Turn {
  readonly turn: number
  /** Whether less time has gone than all long work of a turn shares. */
  readonly hasTime: boolean
}

function presentTurn(): Turn {
  const now = clock.now()
  const hasTime = now - stretchBegan(now) < stretchMs
  return { turn: stretch.turn, hasTime }
}

/** Work of one sort that rests, the longest first. */
class RestingWork {
  readonly #waiting: (() => void)[] = []
  /** The turn of the event loop in which a piece was resumed last. */
  #resumedIn = -1

  get length(): number {
    return this.#waiting.length
  }

  /** Resolves in a later turn of the event loop, and there within the time that all long work of a turn shares. */
  rest(): Promise<void> {
    if (!isResuming) {
      isResuming = true
      setImmediate(resumeNext)
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Resumes one piece, if this turn has time left or has resumed none of this sort yet. Returns whether it did. */
  resume({ turn, hasTime }: Turn): boolean {
    if (this.length === 0 || (!hasTime && this.#resumedIn === turn)) return false
    this.#resumedIn = turn
    this.#waiting.shift()!()
    return true
  }
}

const longWork = new RestingWork()
const loopPieces = new RestingWork()

/** Whether `resumeNext` is about to be called. */
let isResuming = false

/** Resumes one piece after the other while this turn has time for them, and goes on in the next one. */
function resumeNext(): void {
  const turn = presentTurn()
  const hasResumed = longWork.resume(turn) || loopPieces.resume(turn)
  isResuming = longWork.length + loopPieces.length > 0
  if (!isResuming) return
  if (!hasResumed) setImmediate(resumeNext)
  // After all that the resumed piece does in this turn: ticks come when no microtask is left.
  else queueMicrotask(() => process.nextTick(resumeNext))
}

/**
 * For pieces of work that are short and of which loops may have hundreds in a turn. Resolves in a later turn where this one
 * has had its share, or other pieces wait already; undefined: go on. It is not free: for pieces of a tenth of a millisecond
 * and more.
 */
export function roomInTurn(): Promise<void> | undefined {
  return loopPieces.length === 0 && presentTurn().hasTime ? undefined : loopPieces.rest()
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
