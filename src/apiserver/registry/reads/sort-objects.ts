/**
 * Sorts objects by the values of fields, which are read without parsing the whole JSON. With a limit, only the objects
 * on the page stay in memory. Without a limit, the number of objects is bounded, and sorting continues while the
 * response is being sent.
 */
import { entityTooLarge } from '../../../api/model/api-error.ts'
import { Heap } from '../../../base/collections/heap.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { Resource } from '../catalogue/resource.ts'
import { jsonOf, prepareJson, prepareObjects } from './conversion.ts'
import type { ListOrder, SortPosition } from './list-order.ts'

export type { SortPosition }

interface Sorting {
  readonly resource: Resource
  readonly order: ListOrder
  /** Maximum number of objects in the result. 0 means no limit. */
  readonly limit: number
  /** Position after which the result starts. Undefined for the first page. */
  readonly after: SortPosition | undefined
  /** Whether the objects come from the cache. Otherwise, sorting them takes additional memory, which is limited. */
  readonly isCached: boolean
}

interface SortedObjects {
  readonly objects: readonly CachedObject[]
  readonly rest?: AsyncIterable<readonly CachedObject[]>
  /** The position of the last object on the page. Undefined if no more objects follow. */
  readonly last: SortPosition | undefined
  readonly remaining: number
}

interface Entry extends SortPosition {
  readonly object: CachedObject
}

/** Maximum number of objects in a sorted response. */
const maxSorted = 100_000

/** Maximum total size in bytes of sorted objects that are not in the cache. */
const maxHeldBytes = 64 * 1024 * 1024

/** Number of objects that are sorted in one step. */
const sliceLength = 500

/** Sorts the objects of all slices. Throws 413 if there are too many objects for a sorted response. */
export async function sortObjects(
  slices: AsyncIterable<readonly CachedObject[]>,
  { resource, order, limit, after, isCached }: Sorting,
): Promise<SortedObjects> {
  const { compare, valuesOf } = order
  const timeSlice = new TimeSlice()
  const size = limit === 0 ? maxSorted : Math.min(limit, maxSorted)
  // With a limit, the last object of the page is on top, so that an object that sorts before it can replace it.
  const heap = new Heap<Entry>(limit === 0 ? (a, b) => compare(a, b) < 0 : (a, b) => compare(a, b) > 0)
  let count = 0
  let bytes = 0
  for await (const slice of slices) {
    await prepareObjects(resource, slice)
    for (const object of slice) {
      await prepareJson(resource, object, timeSlice)
      const entry = { object, key: object.key, values: valuesOf(jsonOf(resource, object)) }
      if (after === undefined || compare(entry, after) > 0) {
        count++
        bytes += object.json.length
        heap.push(entry)
        if (heap.size > size) {
          if (limit === 0) throw tooMany(`more than ${maxSorted} objects`)
          bytes -= heap.pop()!.object.json.length
        }
        if (!isCached && bytes > maxHeldBytes) throw tooMany('this much data of an earlier state')
      }
      const pause = timeSlice.yieldIfDue()
      if (pause !== undefined) await pause
    }
  }
  return limit === 0 ? inOrder(heap) : await page(heap, count)
}

function tooMany(what: string): Error {
  return entityTooLarge(`a list cannot sort ${what} in one response; request pages with a smaller limit`)
}

/** Yields all objects of a heap in sort order. The top of the heap is the first object. */
function inOrder(heap: Heap<Entry>): SortedObjects {
  const objects = nextObjects(heap)
  return { objects, ...(heap.size > 0 && { rest: remainingSlices(heap) }), last: undefined, remaining: 0 }
}

async function* remainingSlices(heap: Heap<Entry>): AsyncGenerator<readonly CachedObject[]> {
  const timeSlice = new TimeSlice()
  while (heap.size > 0) {
    yield nextObjects(heap)
    await timeSlice.yieldIfDue()
  }
}

function nextObjects(heap: Heap<Entry>): CachedObject[] {
  const objects: CachedObject[] = []
  while (objects.length < sliceLength && heap.size > 0) objects.push(heap.pop()!.object)
  return objects
}

/** Takes a page from the heap, in sort order. The top of the heap is the last object of the page. */
async function page(heap: Heap<Entry>, count: number): Promise<SortedObjects> {
  const timeSlice = new TimeSlice()
  const last = heap.peek()
  const remaining = count - heap.size
  const objects: CachedObject[] = []
  while (heap.size > 0) {
    objects.push(heap.pop()!.object)
    await timeSlice.yieldIfDue()
  }
  return { objects: objects.reverse(), last: remaining > 0 ? last : undefined, remaining }
}
