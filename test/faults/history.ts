/**
 * What clients saw of a server, and the proof that it adds up, whatever happened to the server meanwhile.
 *
 * The resourceVersion is the witness: it orders all writes, so the log of changes (read from the server at the end) is
 * the one order that everything else is held against, in n log n steps. Promised are: no acknowledged write is lost,
 * none is done twice, refused ones are not done, ambiguous ones wholly or not at all; an operation that began after
 * another had returned comes after it; a read is an exact state, not older than what was acknowledged before it began
 * nor newer than what began after it returned; and a watch tells every change once, in order.
 *
 * Time is a counter of the recorder's own: only what came before what counts.
 */

/** A change as a watch tells it. `value` is unique to the write that made it; a deletion has that of what it deleted. */
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
  /** What was written; '' for a delete. */
  readonly value: string
  readonly called: number
  /** Infinity when no answer came. */
  readonly returned: number
  /** `ambiguous`: no answer, or one that does not say whether it was done. */
  readonly outcome: 'acknowledged' | 'refused' | 'ambiguous'
  /** As answered; 0 when the answer tells none. */
  readonly revision: number
  /** The uid in the answer; '' without one. */
  readonly uid: string
}

export interface Seen {
  readonly revision: number
  readonly value: string
}

/** A read of the most recent state of one key; undefined: it was not there. */
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
  /** Every change after `start`, as the server tells it at the end. */
  readonly log: readonly Change[]
  readonly start: number
  readonly writes: readonly Write[]
  readonly gets: readonly Get[]
  readonly lists: readonly List[]
  /** What each watcher was told, all its connections one after the other. */
  readonly watches: readonly (readonly Change[])[]
}

/** Everything that does not add up, in words; empty when all does. */
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

/** The log rises, and each change fits the state before it. */
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
  /** The revision of each write that was done. */
  readonly revisions: ReadonlyMap<Write, number>
}

/** Which change each write made: by its value, or for a delete by the uid of what it deleted. */
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

/** Every change was asked for: by a write of its value, or for a deletion by one that was answered or may have been. */
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
  /** The highest revision that was acknowledged before this moment. */
  acknowledgedBefore(moment: number): number
  /** The lowest revision of what began after this moment. */
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

/** The best revision among the marks (in order of time) before a moment. */
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

/** A stretch of revisions in which a key stood unchanged. */
interface Stretch {
  readonly from: number
  /** The revision that ended it; Infinity: none did. */
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

/** The log is replayed once; each list is compared with the state at its revision. */
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

/** A watch tells what the log holds, no more, no less, in its order. */
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
