/**
 * Divides each turn of the event loop among the clients whose connections are read. When a client has used up its time,
 * its connections wait in a queue. Each later turn reads connections from the queue in order for as long as there is
 * time.
 */

/** Maximum time in milliseconds per turn that is spent on the data of one client. */
const maxMsPerTurn = 4

/** A connection that waits for a later turn of the event loop. */
export interface WaitingConnection {
  /** The client that owns the connection. Undefined if the connection counts as a separate client. */
  readonly client: string | undefined
  /** Expected duration in milliseconds of the next read from the connection. */
  readonly expectedMs: number
  readonly resume: () => void
}

export class ReadingTurns {
  /** The number of the current turn of the event loop. */
  current = 0
  #isScheduled = false
  /** The time in milliseconds that was spent on each client in the current turn. */
  readonly #spentMs = new Map<string, number>()
  /** Waiting connections that count as separate clients. */
  #single: WaitingConnection[] = []
  readonly #queues = new Map<string, WaitingConnection[]>()

  /** Adds time that was spent on a client in the current turn. */
  charge(client: string | undefined, ms: number): void {
    this.#schedule()
    if (client !== undefined) this.#spentMs.set(client, (this.#spentMs.get(client) ?? 0) + ms)
  }

  /** Runs a function and adds its duration to the time of a client. Returns the duration in milliseconds. */
  time(client: string | undefined, work: () => void): number {
    const begin = performance.now()
    work()
    const ms = performance.now() - begin
    this.charge(client, ms)
    return ms
  }

  /** Whether a client has used up its time in the current turn or already has waiting connections. */
  isOver(client: string | undefined): boolean {
    return client !== undefined && (this.#hasUsedTime(client) || this.#queues.has(client))
  }

  /** Adds a connection to the queue. The `resume` function of the connection is called in a later turn. */
  wait(connection: WaitingConnection): void {
    this.#schedule()
    const { client } = connection
    if (client === undefined) {
      this.#single.push(connection)
      return
    }
    const queue = this.#queues.get(client)
    if (queue === undefined) this.#queues.set(client, [connection])
    else queue.push(connection)
  }

  #hasUsedTime(client: string): boolean {
    return (this.#spentMs.get(client) ?? 0) >= maxMsPerTurn
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#begin())
  }

  #begin(): void {
    this.current++
    this.#isScheduled = false
    this.#spentMs.clear()
    const single = this.#single
    this.#single = []
    for (const { resume } of single) resume()
    for (const [client, queue] of this.#queues) this.#continue(client, queue)
    if (this.#queues.size > 0) this.#schedule()
  }

  /** Resumes as many connections of a client as the time of this turn permits, but at least one connection. */
  #continue(client: string, queue: readonly WaitingConnection[]): void {
    let count = 0
    while (count < queue.length && !this.#hasUsedTime(client)) {
      const { expectedMs, resume } = queue[count++]!
      this.charge(client, expectedMs)
      resume()
    }
    if (count === queue.length) this.#queues.delete(client)
    else this.#queues.set(client, queue.slice(count))
  }
}
