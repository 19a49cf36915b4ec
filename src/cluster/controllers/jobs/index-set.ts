/**
 * A set of completion indexes, stored as ascending ranges. The time and memory of all operations depend on the number
 * of ranges rather than the number of indexes, because a Job may have two billion completions.
 */

interface Range {
  readonly first: number
  readonly last: number
}

export class IndexSet {
  readonly #ranges: readonly Range[]

  private constructor(ranges: readonly Range[]) {
    this.#ranges = ranges
  }

  /** Creates a set. The ranges must be in ascending order and have gaps between them. */
  static ofRanges(ranges: readonly Range[]): IndexSet {
    return new IndexSet(ranges)
  }

  static of(indexes: Iterable<number>): IndexSet {
    return merged(Array.from(indexes, (index) => ({ first: index, last: index })))
  }

  /** Parses indexes such as `0,2-4,7`. Ignores malformed parts, and indexes at or above the limit. */
  static parse(text: string | undefined, limit: number): IndexSet {
    const ranges: Range[] = []
    for (const part of text ? text.split(',') : []) {
      const [, from, to = from] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(part) ?? []
      const [first, last] = [Number(from), Math.min(Number(to), limit - 1)]
      if (first <= last) ranges.push({ first, last })
    }
    return merged(ranges)
  }

  /** Number of indexes in the set. */
  get size(): number {
    return this.#ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0)
  }

  has(index: number): boolean {
    let low = 0
    let high = this.#ranges.length - 1
    while (low <= high) {
      const middle = (low + high) >> 1
      const { first, last } = this.#ranges[middle]!
      if (index < first) high = middle - 1
      else if (index > last) low = middle + 1
      else return true
    }
    return false
  }

  union(...others: readonly IndexSet[]): IndexSet {
    return merged([this, ...others].flatMap((set) => set.#ranges))
  }

  /** Returns the number of indexes that are in both sets. */
  countCommon(other: IndexSet): number {
    let common = 0
    let place = 0
    for (const { first, last } of this.#ranges) {
      while (place < other.#ranges.length && other.#ranges[place]!.last < first) place++
      for (let i = place; i < other.#ranges.length && other.#ranges[i]!.first <= last; i++)
        common += Math.min(last, other.#ranges[i]!.last) - Math.max(first, other.#ranges[i]!.first) + 1
    }
    return common
  }

  /** Returns the lowest indexes below the limit that are not in the set, at most `count` of them. */
  missing(limit: number, count: number): number[] {
    const missing: number[] = []
    let next = 0
    for (const { first, last } of [...this.#ranges, { first: limit, last: limit }]) {
      for (; next < Math.min(first, limit) && missing.length < count; next++) missing.push(next)
      if (missing.length >= count) break
      next = last + 1
    }
    return missing
  }

  /**
   * Formats the set, for example as `0,2-4,7`. Two consecutive indexes are listed separately, and three or more as a
   * range.
   */
  toString(): string {
    return this.#ranges
      .map(({ first, last }) => (first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`))
      .join()
  }
}

function merged(ranges: Range[]): IndexSet {
  const sorted = ranges.sort((a, b) => a.first - b.first)
  const result: { first: number; last: number }[] = []
  for (const { first, last } of sorted) {
    const previous = result.at(-1)
    if (previous !== undefined && first <= previous.last + 1) previous.last = Math.max(previous.last, last)
    else result.push({ first, last })
  }
  return IndexSet.ofRanges(result)
}
