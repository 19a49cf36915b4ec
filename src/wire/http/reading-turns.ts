/**
 * Divides each turn of the event loop among the clients whose connections are read. When a client has used up its time,
 * or all clients together have used up the time of the turn, the remaining connections wait. Each later turn reads from
 * waiting connections as long as there is time. Clients whose waiting connections need little time come first, so that
 * many expensive clients do not delay an ordinary client.
 */

/** Maximum time in milliseconds that each turn spends on the data of one client. */
const maxMsPerClient = 4
/** Maximum time in milliseconds that each turn spends on the data of all clients. */
const maxMsPerTurn = 8

/** A connection whose received data must wait for a later turn of the event loop. */
export interface WaitingConnection {
  /** The client that the connection belongs to. If undefined, the connection counts as a separate client. */
  readonly client: string | undefined
  /** Estimated time in milliseconds that the next read of the connection takes. */
  readonly expectedMs: number
  readonly resume: () => void
}

/** Connections of one client that wait for a later turn, in order. */
interface Queue {
  readonly connections: WaitingConnection[]
  /** Estimated time in milliseconds to read all of these connections. */
  expectedMs: number
}

export class ReadingTurns {
  /** A counter that identifies the current turn of the event loop. */
  current = 0
  #isScheduled = false
  /** Time in milliseconds spent on each client in this turn. */
  readonly #spentMs = new Map<string, number>()
  /** The time in milliseconds that was spent on all clients in the current turn. */
  #totalMs = 0
  /** Waiting connections, each of which counts as a separate client. */
  #single: WaitingConnection[] = []
  /**
   * The queue of each client with waiting connections. The client whose connections were resumed least recently comes
   * first.
   */
  readonly #queues = new Map<string, Queue>()

  /** Adds to the time spent on a client in this turn. */
  charge(client: string | undefined, ms: number): void {
    this.#schedule()
    if (client === undefined) return
    this.#spentMs.set(client, this.#spentOn(client) + ms)
    this.#totalMs += ms
  }

  /** Runs a function and adds its duration to the time of a client. Returns the duration in milliseconds. */
  time(client: string | undefined, work: () => void): number {
    const begin = performance.now()
    work()
    const ms = performance.now() - begin
    this.charge(client, ms)
    return ms
  }

  /**
   * Whether a connection of this client must wait: the client has used up its time, or its other connections are
   * already waiting.
   */
  isOver(client: string | undefined): boolean {
    return client !== undefined && (!this.#hasTime(client) || this.#queues.has(client))
  }

  /** Queues a connection. Its `resume` function is called in a later turn. */
  wait(connection: WaitingConnection): void {
    this.#schedule()
    const { client, expectedMs } = connection
    if (client === undefined) {
      this.#single.push(connection)
      return
    }
    const queue = this.#queues.get(client) ?? { connections: [], expectedMs: 0 }
    queue.connections.push(connection)
    queue.expectedMs += expectedMs
    this.#queues.set(client, queue)
  }

  #spentOn(client: string): number {
    return this.#spentMs.get(client) ?? 0
  }

  #hasTime(client: string): boolean {
    return this.#totalMs < maxMsPerTurn && this.#spentOn(client) < maxMsPerClient
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
    this.#totalMs = 0
    const single = this.#single
    this.#single = []
    for (const { resume } of single) resume()
    const [oldest] = this.#queues
    const lightestFirst = [...this.#queues].sort(([, a], [, b]) => a.expectedMs - b.expectedMs)
    for (const [client, queue] of lightestFirst) this.#continue(client, queue, 0)
    // Resume at least one connection of the client that has waited longest, even if it is expensive, so that no client
    // starves.
    if (oldest !== undefined && this.#queues.get(oldest[0]) === oldest[1]) this.#continue(...oldest, 1)
    if (this.#queues.size > 0) this.#schedule()
  }

  /** Resumes at least `minCount` connections of a client, and more if there is time in this turn. */
  #continue(client: string, { connections, expectedMs }: Queue, minCount: number): void {
    let count = 0
    let resumedMs = 0
    while (count < connections.length && (count < minCount || this.#hasTime(client)))
      resumedMs += this.#resume(client, connections[count++]!)
    if (count === 0) return
    // If some of its connections are still waiting, the client moves to the end of the queue.
    this.#queues.delete(client)
    if (count === connections.length) return
    this.#queues.set(client, { connections: connections.slice(count), expectedMs: expectedMs - resumedMs })
  }

  /**
   * Resumes a connection. Charges the estimated time immediately, because the data may not arrive until later in the
   * turn.
   */
  #resume(client: string, { expectedMs, resume }: WaitingConnection): number {
    const before = this.#spentOn(client)
    resume()
    const spentMs = this.#spentOn(client) - before
    if (spentMs < expectedMs) this.charge(client, expectedMs - spentMs)
    return expectedMs
  }
}
