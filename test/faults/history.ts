/**
 * Records the operations of clients and their results, and checks that the results are consistent, even if the server
 * failed in the meantime.
 *
 * The resourceVersion orders all writes, so the log of changes, read from the server at the end, defines a single
 * order. Everything else is compared with this order, in O(n log n) time. The guarantees are: no acknowledged write is
 * lost or executed twice, rejected writes are not executed, and ambiguous writes are executed completely or not at all.
 * An operation that started after another operation had returned follows that operation. A read returns an exact state.
 * The state includes all writes that were acknowledged before the read started, and none that started after the read
 * returned. A watch reports every change once, in order.
 *
 * Times are values of the recorder's own counter, because only the order matters.
 */

/**
 * A change as a watch reports it. `value` is different for each write. The value of a deletion is the value of the
 * deleted object.
 */
export interface Change {
  readonly revision: number
  readonly type: string
  readonly key: string
  readonly uid: string
  readonly value: string
}

export interface Write {
  readonly does: 'create' | 'update' | 'delete'
  readonly key: string
  /** The written value, or '' for a delete. */
  readonly value: string
  readonly called: number
  /** Time of the response, or Infinity if no response arrived. */
  readonly returned: number
  /**
   * The outcome. `ambiguous` means that no response arrived, or that the response does not show whether the write was
   * executed.
   */
  readonly outcome: 'acknowledged' | 'refused' | 'ambiguous'
  /** The revision in the response, or 0 if it contains none. */
  readonly revision: number
  /** The UID in the response, or '' if it contains none. */
  readonly uid: string
}

export interface Seen {
  readonly revision: number
  readonly value: string
}

/** A most-recent read of a single key. The value is undefined if the key was absent. */
export interface Get {
  readonly key: string
  readonly called: number
  readonly returned: number
  readonly seen: Seen | undefined
}

/** A read of all keys at one revision. */
export interface List {
  readonly called: number
  readonly returned: number
  readonly revision: number
  readonly seen: ReadonlyMap<string, Seen>
}

export interface History {
  /** All changes after `start`, as reported by the server at the end of the test. */
  readonly log: readonly Change[]
  readonly start: number
  readonly writes: readonly Write[]
  readonly gets: readonly Get[]
  readonly lists: readonly List[]
  /** The events of each watcher, over all its connections in sequence. */
  readonly watches: readonly (readonly Change[])[]
}

/** Returns a description of every inconsistency, or an empty list if the history is consistent. */
export function checkHistory(history: History): string[] {
  const effects = matchEffects(history)
  const bounds = revisionBounds(history.writes, effects.revisions)
  return [
    ...checkLog(history),
    ...effects.faults,
    ...checkOrder(history.writes, effects.revisions, bounds),
    ...checkGets(history, bounds),
    ...checkLists(history, bounds),
    ...history.watches.flatMap((watch, i) => checkWatch(watch, history.log, `watch ${i}`)),
  ]
}

/** Checks that revisions increase and that each change fits the previous state. */
function checkLog({ log, start }: History): string[] {
  const faults: string[] = []
  const live = new Map<string, string>()
  let last = start
  for (const change of log) {
    if (change.revision <= last) faults.push(`the log goes from ${last} to ${change.revision}`)
    last = change.revision
    const before = live.get(change.key)
    const fits = change.type === 'ADDED' ? before === undefined : before === change.uid
    if (!fits) faults.push(`${show(change)} does not follow from ${before ?? 'nothing'}`)
    if (change.type === 'DELETED') live.delete(change.key)
    else live.set(change.key, change.uid)
  }
  return faults
}

interface Effects {
  readonly faults: readonly string[]
  /** The revision of each executed write. */
  readonly revisions: ReadonlyMap<Write, number>
}

/** Finds the change that each write caused, by the written value or, for a delete, by the UID of the deleted object. */
function matchEffects({ log, writes }: History): Effects {
  const faults: string[] = []
  const revisions = new Map<Write, number>()
  const changes = Map.groupBy(log, (change) => (change.type === 'DELETED' ? `uid ${change.uid}` : change.value))
  const known = new Set<string>()
  for (const write of writes) {
    const mark = write.does === 'delete' ? `uid ${write.uid}` : write.value
    if (write.does !== 'delete' || write.uid !== '') known.add(mark)
    const made = write.does === 'delete' && write.uid === '' ? [] : (changes.get(mark) ?? [])
    const [change] = made
    if (made.length > 1) faults.push(`${show(write)} was done ${made.length} times`)
    if (write.outcome === 'acknowledged' && change === undefined) faults.push(`${show(write)} is lost`)
    if (write.outcome === 'refused' && change !== undefined) faults.push(`${show(write)} was done all the same`)
    if (change === undefined) continue
    revisions.set(write, change.revision)
    if (change.key !== write.key) faults.push(`${show(write)} changed ${change.key}`)
    if (write.revision !== 0 && write.revision !== change.revision)
      faults.push(`${show(write)} is in the log at ${change.revision}`)
  }
  return { faults: [...faults, ...unexplained(log, writes, known)], revisions }
}

/**
 * Checks that every change was requested: by a write of its value or, for a deletion, by a delete that succeeded or may
 * have succeeded.
 */
function unexplained(log: readonly Change[], writes: readonly Write[], known: ReadonlySet<string>): string[] {
  const faults: string[] = []
  const spare = new Map<string, number>()
  for (const { does, outcome, uid, key } of writes)
    if (does === 'delete' && outcome === 'ambiguous' && uid === '') spare.set(key, (spare.get(key) ?? 0) + 1)
  for (const change of log) {
    if (known.has(change.type === 'DELETED' ? `uid ${change.uid}` : change.value)) continue
    const left = change.type === 'DELETED' ? (spare.get(change.key) ?? 0) : 0
    if (left === 0) faults.push(`nobody asked for ${show(change)}`)
    else spare.set(change.key, left - 1)
  }
  return faults
}

interface Bounds {
  /** The highest revision that was acknowledged before the given time. */
  acknowledgedBefore(moment: number): number
  /** The lowest revision of the writes that started after the given time. */
  begunAfter(moment: number): number
}

function revisionBounds(writes: readonly Write[], revisions: ReadonlyMap<Write, number>): Bounds {
  const acknowledged = writes
    .filter((write) => write.outcome === 'acknowledged' && revisions.has(write))
    .map((write) => ({ at: write.returned, revision: revisions.get(write)! }))
    .sort((a, b) => a.at - b.at)
  const begun = [...revisions].map(([write, revision]) => ({ at: -write.called, revision })).sort((a, b) => a.at - b.at)
  const highest = runningBest(acknowledged, Math.max, 0)
  const lowest = runningBest(begun, Math.min, Number.POSITIVE_INFINITY)
  return { acknowledgedBefore: (moment) => highest(moment), begunAfter: (moment) => lowest(-moment) }
}

/**
 * Returns a function that finds the best revision among the marks before a given time. The marks are ordered by time.
 */
function runningBest(
  marks: readonly { readonly at: number; readonly revision: number }[],
  better: (a: number, b: number) => number,
  none: number,
): (moment: number) => number {
  const best: number[] = []
  for (const { revision } of marks) best.push(better(best.at(-1) ?? none, revision))
  return (moment) => {
    let low = 0
    let high = marks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (marks[middle]!.at < moment) low = middle + 1
      else high = middle
    }
    return low === 0 ? none : best[low - 1]!
  }
}

function checkOrder(
  writes: readonly Write[],
  revisions: ReadonlyMap<Write, number>,
  { acknowledgedBefore }: Bounds,
): string[] {
  return writes.flatMap((write) => {
    const revision = revisions.get(write)
    const before = acknowledgedBefore(write.called)
    if (revision === undefined || revision > before) return []
    return [`${show(write)} has revision ${revision}, but ${before} had been acknowledged before it began`]
  })
}

/** A range of revisions in which a key was unchanged. */
interface Stretch {
  readonly from: number
  /** The revision that ended the range, or Infinity for the last range. */
  readonly to: number
  readonly seen: Seen | undefined
}

function checkGets({ log, start, gets }: History, bounds: Bounds): string[] {
  const stretches = stretchesByKey(log, start)
  return gets.flatMap((get) => {
    const notBefore = bounds.acknowledgedBefore(get.called)
    const notAfter = bounds.begunAfter(get.returned)
    const possible = (stretches.get(get.key) ?? [{ from: start, to: Number.POSITIVE_INFINITY, seen: undefined }]).some(
      ({ from, to, seen }) => same(seen, get.seen) && to > notBefore && from < notAfter,
    )
    if (possible) return []
    return [`a get of ${get.key} saw ${show(get.seen)}, which it was not between ${notBefore} and ${notAfter}`]
  })
}

function stretchesByKey(log: readonly Change[], start: number): Map<string, Stretch[]> {
  const byKey = new Map<string, Stretch[]>()
  for (const [key, changes] of Map.groupBy(log, ({ key }) => key)) {
    const stretches: Stretch[] = [{ from: start, to: changes[0]!.revision, seen: undefined }]
    for (const [i, { revision, type, value }] of changes.entries()) {
      const to = changes[i + 1]?.revision ?? Number.POSITIVE_INFINITY
      stretches.push({ from: revision, to, seen: type === 'DELETED' ? undefined : { revision, value } })
    }
    byKey.set(key, stretches)
  }
  return byKey
}

/** Replays the log once and compares each list with the state at its revision. */
function checkLists({ log, lists }: History, bounds: Bounds): string[] {
  const faults: string[] = []
  const state = new Map<string, Seen>()
  let next = 0
  for (const list of lists.toSorted((a, b) => a.revision - b.revision)) {
    for (; next < log.length && log[next]!.revision <= list.revision; next++) apply(state, log[next]!)
    const notBefore = bounds.acknowledgedBefore(list.called)
    const notAfter = bounds.begunAfter(list.returned)
    if (list.revision < notBefore) faults.push(`a list at ${list.revision} is older than ${notBefore}`)
    if (list.revision >= notAfter) faults.push(`a list at ${list.revision} is newer than ${notAfter}`)
    const wrong = [...new Set([...state.keys(), ...list.seen.keys()])].find(
      (key) => !same(state.get(key), list.seen.get(key)),
    )
    if (wrong !== undefined)
      faults.push(
        `a list at ${list.revision} has ${show(list.seen.get(wrong))} for ${wrong}, not ${show(state.get(wrong))}`,
      )
  }
  return faults
}

function apply(state: Map<string, Seen>, { type, key, revision, value }: Change): void {
  if (type === 'DELETED') state.delete(key)
  else state.set(key, { revision, value })
}

/** Checks that a watch reported exactly the changes in the log, in order. */
function checkWatch(watch: readonly Change[], log: readonly Change[], name: string): string[] {
  const told = watch.map(show)
  const wanted = log.map(show)
  const at = wanted.findIndex((line, i) => told[i] !== line)
  if (at >= 0) return [`${name} tells ${told[at] ?? 'nothing'} where the log has ${wanted[at]}`]
  return told.length > wanted.length ? [`${name} tells ${told[wanted.length]}, which is not in the log`] : []
}

function same(a: Seen | undefined, b: Seen | undefined): boolean {
  return a?.revision === b?.revision && a?.value === b?.value
}

function show(what: Change | Write | Seen | undefined): string {
  return JSON.stringify(what) ?? 'nothing'
}
