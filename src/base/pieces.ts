/**
 * Long work in pieces, so that everybody else is served in between. Work on an object of some megabytes takes a second
 * or so: whoever does it calls `rest` between its parts, or is a generator that yields there. Short work goes on at
 * once and pays for a look at the clock.
 */

/** How long a piece may last before others have a turn. */
const longestMs = 10

export class Pieces {
  #began = performance.now()

  /** A piece begins here: what came before was waiting, not work. */
  begin(): void {
    this.#began = performance.now()
  }

  /** Lets others have a turn if this piece has lasted long enough. */
  rest(): Promise<void> | undefined {
    return performance.now() - this.#began < longestMs ? undefined : this.#pause()
  }

  /** Does work that yields where it can be interrupted. */
  async run<T>(work: Generator<void, T>): Promise<T> {
    for (;;) {
      const step = work.next()
      if (step.done) return step.value
      const pause = this.rest()
      if (pause !== undefined) await pause
    }
  }

  async #pause(): Promise<void> {
    await new Promise(setImmediate)
    this.begin()
  }
}

/** The same work in one piece. */
export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}
