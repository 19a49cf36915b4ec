/**
 * Divides each turn of the event loop among the clients whose connections are read. If a client has used up its time,
 * its connections wait in a queue. Later turns read them in this order, as many as fit.
 */

/** Time that one client may take in a turn for delivering what it sent, in milliseconds. */
const maxMsPerTurn = 4

/** A connection that waits for a later turn. */
export interface WaitingConnection {
  /** The client that owns the connection, or undefined if the connection shares its time with no other. */
  readonly client: string | undefined
  /** Time that the next read of the connection is expected to take, in milliseconds. */
  readonly expectedMs: number
  readonly resume: () => void
}

export class ReadingTurns {
  /** The number of the turn. */
  current = 0
  #isScheduled = false
  /** Time that each client has taken in this turn. */
  readonly #spentMs = new Map<string, number>()
  /** Connections that share their time with no other connection. */
  #single: WaitingConnection[] = []
  readonly #queues = new Map<string, WaitingConnection[]>()

  /** Adds time that a client has used in this turn. */
  charge(client: string | undefined, ms: number): void {
    this.#schedule()
    if (client !== undefined) this.#spentMs.set(client, (this.#spentMs.get(client) ?? 0) + ms)
  }

  /** Runs the work and counts its time. Returns that time in milliseconds. */
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

  /** Calls `resume` in a later turn. */
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

  /** Resumes as many connections as fit into the turn, but at least one. */
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
