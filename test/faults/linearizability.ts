/**
 * Checks whether a history of one key is linearizable: whether each operation can be assigned a moment between its call
 * and its return such that, in the order of these moments, every response is the one that a single copy of the object
 * would give. Implements Wing and Gong's search, which tries every possible next operation and backtracks at dead ends,
 * with Lowe's cache of visited configurations (a set of completed operations and a state). Unlike the other checker
 * (`history.ts`), this checker does not use resourceVersions. Keys are independent, so each key is checked separately.
 */

/** The stored value, which is unique to each write, or undefined if the key is absent. */
export type State = string | undefined

export type Operation = {
  readonly called: number
  /**
   * Time of the return. Infinity means that no response arrived, so the operation may have been executed at any later
   * time, or never.
   */
  readonly returned: number
} & (
  | { readonly does: 'read'; readonly seen: State }
  | { readonly does: 'create'; readonly value: string; readonly answer: 'done' | 'exists' }
  /** `expected` is the precondition. Undefined if the operation has no precondition. */
  | {
      readonly does: 'replace'
      readonly value: string
      readonly expected?: State
      readonly answer: 'done' | 'absent' | 'conflict'
    }
  | { readonly does: 'remove'; readonly answer: 'done' | 'absent' }
)

const impossible = Symbol('impossible')

/**
 * Returns the state after the operation is executed in this state, or `impossible` if its response does not fit the
 * state.
 */
function step(state: State, operation: Operation): State | typeof impossible {
  const { next, fits } = effect(state, operation)
  return fits ? next : impossible
}

function effect(state: State, operation: Operation): { fits: boolean; next: State } {
  const there = state !== undefined
  switch (operation.does) {
    case 'read':
      return { fits: operation.seen === state, next: state }
    case 'create':
      return operation.answer === 'done' ? { fits: !there, next: operation.value } : { fits: there, next: state }
    case 'replace': {
      const meets = operation.expected === undefined || operation.expected === state
      if (operation.answer === 'done') return { fits: there && meets, next: operation.value }
      return { fits: operation.answer === 'absent' ? !there : there && !meets, next: state }
    }
    case 'remove':
      return operation.answer === 'done' ? { fits: there, next: undefined } : { fits: !there, next: state }
  }
}

/**
 * A call or a return in a list that is ordered by time. The search removes operations from the list and inserts them
 * again.
 */
interface Entry {
  readonly operation: Operation
  readonly index: number
  /** For a call, the entry of its return. */
  readonly match: Entry | undefined
  readonly isCall: boolean
  before: Entry | undefined
  after: Entry | undefined
}

export function isLinearizable(operations: readonly Operation[], initial?: State): boolean {
  const search = new Search(operations, initial)
  return search.run()
}

class Search {
  readonly #head: Entry
  readonly #done: Uint32Array
  readonly #been = new Set<string>()
  readonly #taken: { readonly entry: Entry; readonly state: State }[] = []
  #state: State

  constructor(operations: readonly Operation[], initial: State) {
    this.#head = entriesOf(operations)
    this.#done = new Uint32Array(Math.ceil(operations.length / 32))
    this.#state = initial
  }

  run(): boolean {
    let entry = this.#head.after
    // If no returns are left in the list, the remaining operations need not have been executed.
    while (entry !== undefined) {
      if (entry.isCall) entry = this.#take(entry) ? this.#head.after : entry.after
      else {
        // An operation returned before the search executed it, so the search must revise an earlier choice.
        const last = this.#taken.pop()
        if (last === undefined) return false
        this.#putBack(last.entry)
        this.#state = last.state
        entry = last.entry.after
      }
    }
    return true
  }

  /** Executes the operation at this point, unless the operation is impossible or leads to a visited configuration. */
  #take(entry: Entry): boolean {
    const next = step(this.#state, entry.operation)
    if (next === impossible) return false
    this.#flip(entry.index)
    const place = `${this.#done.join()} ${next}`
    if (this.#been.has(place)) {
      this.#flip(entry.index)
      return false
    }
    this.#been.add(place)
    this.#taken.push({ entry, state: this.#state })
    this.#state = next
    unlink(entry)
    if (entry.match) unlink(entry.match)
    return true
  }

  #putBack(entry: Entry): void {
    this.#flip(entry.index)
    if (entry.match) relink(entry.match)
    relink(entry)
  }

  #flip(index: number): void {
    this.#done[index >>> 5]! ^= 1 << (index & 31)
  }
}

function entriesOf(operations: readonly Operation[]): Entry {
  const entries = operations.flatMap((operation, index): { at: number; entry: Entry }[] => {
    const common = { operation, index, before: undefined, after: undefined }
    const match: Entry = { ...common, match: undefined, isCall: false }
    if (operation.returned === Number.POSITIVE_INFINITY)
      return [{ at: operation.called, entry: { ...common, match: undefined, isCall: true } }]
    return [
      { at: operation.called, entry: { ...common, match, isCall: true } },
      { at: operation.returned, entry: match },
    ]
  })
  entries.sort((a, b) => a.at - b.at)
  const head: Entry = {
    operation: operations[0]!,
    index: -1,
    match: undefined,
    isCall: true,
    before: undefined,
    after: undefined,
  }
  let last = head
  for (const { entry } of entries) {
    last.after = entry
    entry.before = last
    last = entry
  }
  return head
}

function unlink({ before, after }: Entry): void {
  before!.after = after
  if (after) after.before = before
}

function relink(entry: Entry): void {
  entry.before!.after = entry
  if (entry.after) entry.after.before = entry
}
