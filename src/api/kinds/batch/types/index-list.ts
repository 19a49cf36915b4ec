/** Index lists of an Indexed Job: numbers and ranges in ascending order, such as `1,3-5,7`. */
import { shorten } from '../../../../base/text/shorten.ts'

/** A range of indexes. Both ends are included. */
type IndexRange = readonly [first: number, last: number]

/** Returns the number of indexes in a list, or an error message. `limit` is the number of completions. */
export function countIndexes(text: string, limit: number): number | string {
  if (text === '') return 0
  let total = 0
  let previous = -1
  for (const part of text.split(',')) {
    const range = readRange(part, limit)
    if (typeof range === 'string') return range
    const [first, last] = range
    if (first <= previous) return outOfOrder(previous, first)
    total += last - first + 1
    previous = last
  }
  return total
}

/** Returns an index that is in both lists, if any. Malformed parts are reported by `countIndexes` and ignored here. */
export function commonIndex(a: string, b: string, limit: number): number | undefined {
  const left = readableRanges(a, limit)
  const right = readableRanges(b, limit)
  let l = 0
  let r = 0
  while (l < left.length && r < right.length) {
    const [leftFirst, leftLast] = left[l]!
    const [rightFirst, rightLast] = right[r]!
    if (leftFirst <= rightLast && rightFirst <= leftLast) return Math.max(leftFirst, rightFirst)
    if (leftFirst <= rightFirst) l++
    else r++
  }
  return undefined
}

function readableRanges(text: string, limit: number): IndexRange[] {
  if (text === '') return []
  return text.split(',').flatMap((part) => {
    const range = readRange(part, limit)
    return typeof range === 'string' ? [] : [range]
  })
}

function readRange(part: string, limit: number): IndexRange | string {
  const [from = '', to, ...more] = part.split('-')
  if (more.length > 0) return `range ${shown(part)} has more than two parts`
  const first = readIndex(from, limit)
  if (typeof first === 'string' || to === undefined) return typeof first === 'string' ? first : [first, first]
  const last = readIndex(to, limit)
  if (typeof last === 'string') return last
  return first < last ? [first, last] : outOfOrder(first, last)
}

function readIndex(text: string, limit: number): number | string {
  if (!/^\+?\d+$/.test(text)) return `index ${shown(text)} is not a number`
  const index = Number(text)
  return index < limit ? index : `index ${shown(text)} is not below the number of completions`
}

function outOfOrder(previous: number, next: number): string {
  return `indexes must ascend, but ${next} follows ${previous}`
}

function shown(text: string): string {
  return JSON.stringify(shorten(text, 50))
}
