/**
 * Estimates the cost of a request. Most requests need one seat. A list needs one seat per hundred objects that it must
 * read, and at most ten seats. As in kube-apiserver 1.23, a list of the latest state counts its objects twice: once for
 * reading and once for writing. A request also reduces the budget of an event-loop tick (`tick-budget.ts`). A write
 * costs as much as three reads.
 *
 * Since 1.24, a write with at least ten watchers needs one seat per ten watchers, and keeps the seats for a short time
 * after it ends.
 */

import type { Demand } from './seat-pool.ts'

const objectsPerSeat = 100
const maxSeats = 10
const workOfWrite = 3
const watchersPerSeat = 10
/**
 * How long a write keeps its seats after it ends, in milliseconds, while the server sends its event to the watchers.
 */
const msOfEvent = 5
const reads: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head'])

/** Returns the work that a request takes from the tick budget. Reading one object costs one unit. */
export function workOf(verb: string, seats: number): number {
  return reads.has(verb) ? seats : workOfWrite
}

/**
 * Returns the number of seats that a list needs. `stored` is the number of objects of the listed type in all
 * namespaces.
 */
export function seatsOfList(stored: number, query: URLSearchParams): number {
  if (2 * stored <= objectsPerSeat) return 1
  return Math.min(Math.max(Math.ceil(lookedAt(stored, query) / objectsPerSeat), 1), maxSeats)
}

function lookedAt(stored: number, query: URLSearchParams): number {
  const asked = Number(query.get('limit') ?? 0)
  const limit = asked > 0 && asked < stored ? asked : stored
  const selects = (query.get('labelSelector') ?? '') !== '' || (query.get('fieldSelector') ?? '') !== ''
  if (selects && asksForOne(query)) return 1
  if (mayBeOld(query)) return stored
  // To sort a page, the server must read all objects of the list.
  return selects || (query.get('sort') ?? '') !== '' ? stored + limit : 2 * limit
}

/** Whether a field selector requires one particular name. If so, a list reads only a single object. */
function asksForOne(query: URLSearchParams): boolean {
  return /(^|,)metadata\.name==?[^,=]+/.test(query.get('fieldSelector') ?? '')
}

/** Whether the client accepts a cached list that is not the latest state. */
function mayBeOld(query: URLSearchParams): boolean {
  const version = query.get('resourceVersion') ?? ''
  if (version === '' || (query.get('continue') ?? '') !== '' || query.get('resourceVersionMatch') === 'Exact')
    return false
  return version === '0' || !(Number(query.get('limit') ?? 0) > 0)
}

/** Returns the number of seats for a watch that first sends the `stored` objects of its type. */
export function seatsOfInitialEvents(stored: number): number {
  return Math.min(Math.max(Math.ceil(stored / objectsPerSeat), 1), maxSeats)
}

/** Returns the seats and the work for a write whose event goes to this many watchers. */
export function demandOfWrite(watchers: number): Demand {
  if (watchers < watchersPerSeat) return { seats: 1, work: workOfWrite }
  return { seats: Math.min(Math.ceil(watchers / watchersPerSeat), maxSeats), work: workOfWrite, extraMs: msOfEvent }
}
