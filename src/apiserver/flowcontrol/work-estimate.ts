/**
 * What a request needs. Seats: one, but for a list, which needs more the more objects it has to look at, one for every
 * hundred and at most ten. That estimate is of kube-apiserver 1.23, which counts the objects of a list that is to be the
 * newest state twice: once for reading them and once for writing them. And work when it begins, of which a turn of the event
 * loop does so much (`turns.ts`): a write is about that of three reads.
 */

const objectsPerSeat = 100
const maxSeats = 10
const workOfWrite = 3
const reads: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head'])

/** In reads of one object. */
export function workOf(verb: string, seats: number): number {
  return reads.has(verb) ? seats : workOfWrite
}

/** `stored` is how many objects of the listed type there are, in all namespaces. */
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
  return selects ? stored + limit : 2 * limit
}

/** A selector of one name is looked up, not searched for. */
function asksForOne(query: URLSearchParams): boolean {
  return /(^|,)metadata\.name==?[^,=]+/.test(query.get('fieldSelector') ?? '')
}

/** Whether any state will do that is not older than a version. */
function mayBeOld(query: URLSearchParams): boolean {
  const version = query.get('resourceVersion') ?? ''
  if (version === '' || (query.get('continue') ?? '') !== '' || query.get('resourceVersionMatch') === 'Exact')
    return false
  return version === '0' || !(Number(query.get('limit') ?? 0) > 0)
}
