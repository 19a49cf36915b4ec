/**
 * Divides each turn of the event loop among the clients whose connections are read. If a client has used up its time,
 * its connections wait in a queue. Later turns read the connections in this order, as many as there is time for.
 */

/** Maximum time in milliseconds per turn for delivering the data of one client. */
const maxMsPerTurn = 4

/** A connection that waits for a later turn. */
export interface WaitingConnection {
  /** The client that owns the connection. Undefined if no other connection counts towards the same limit. */
  readonly client: string | undefined
  /** The expected duration of the next read of the connection, in milliseconds. */
  readonly expectedMs: number
  readonly resume: () => void
}

export class ReadingTurns {
  /** The number of the current turn. */
  current = 0
  #isScheduled = false
  /** The time in milliseconds that each client has used in this turn. */
  readonly #spentMs = new Map<string, number>()
  /** Waiting connections that do not belong to a client with other connections. */
  #single: WaitingConnection[] = []
  readonly #queues = new Map<string, WaitingConnection[]>()

  /** Adds time that a client has used in this turn. */
  charge(client: string | undefined, ms: number): void {
    this.#schedule()
    if (client !== undefined) this.#spentMs.set(client, (this.#spentMs.get(client) ?? 0) + ms)
  }

  /** Runs a function and counts its duration as time of the client. Returns the duration in milliseconds. */
  time(client: string | undefined, work: () => void): number {
    const begin = performance.now()
    work()
    const ms = performance.now() - begin
    this.charge(client, ms)
    return ms
  }

  /** Whether the client has used up its time in this turn, or other connections of the client are already waiting. */
  isOver(client: string | undefined): boolean {
    return client !== undefined && (this.#hasUsedTime(client) || this.#queues.has(client))
  }

  /** Adds a connection to the queue. Calls its `resume` in a later turn. */
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

  /** Resumes as many connections as there is time for in the turn, but at least one. */
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
