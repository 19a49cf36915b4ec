/**
 * Performs one operation on many objects. Adjacent objects of the same type are processed concurrently. An object of
 * another type waits for all objects before it, because it may depend on them, for example on a namespace. A repeated
 * object also waits, so that its last occurrence takes effect. The output is in the order of the input. A failure does
 * not stop the other operations, and all failures are reported at the end.
 */
import type { ObjectName } from '../../../client/requests/resource-type.ts'
import type { Context } from '../program/command.ts'
import { SeveralErrors } from '../program/explain-error.ts'

export interface BulkWork<T> {
  /** Returns the type of an item. Adjacent items of the same type are processed concurrently. */
  readonly sortOf: (item: T) => unknown
  /**
   * Returns the name of an item. Items with the same type and name are processed one after another. Undefined if no two
   * items have the same name.
   */
  readonly nameOf?: (item: T) => string | undefined
  /** Performs the operation. Returns the text to print. */
  readonly act: (item: T, index: number) => Promise<string>
  /** Past participle of the operation, such as `applied`, for the progress display. */
  readonly done: string
}

/** Identifies each item by its resource type and object name, for `inBulk`. */
export const bySubject = {
  sortOf: ({ type }: { readonly type: unknown }) => type,
  nameOf: ({ name: { namespace = '', name } }: { readonly name: ObjectName }) =>
    name === '' ? undefined : `${namespace}/${name}`,
}

const atOnce = 16
/** Minimum number of items for showing progress. */
const longWork = 20

/** Processes all items. Throws SeveralErrors if an item failed. */
export async function inBulk<T>(context: Context, items: readonly T[], work: BulkWork<T>): Promise<void> {
  const errors: unknown[] = []
  const progress = progressOf(context, items.length, work.done)
  for (let start = 0; start < items.length; ) {
    const end = endOfGroup(items, start, work)
    await runTogether(
      items,
      { start, end },
      {
        act: work.act,
        onText: (text) => {
          progress.clear()
          context.out(text)
        },
        onError: (error) => {
          context.signal.throwIfAborted()
          errors.push(error)
        },
        onDone: progress.step,
      },
    )
    start = end
  }
  progress.clear()
  if (errors.length > 0) throw new SeveralErrors(errors)
}

/** Returns the index after the last item of the group that starts at `start`. */
function endOfGroup<T>(items: readonly T[], start: number, { sortOf, nameOf = () => undefined }: BulkWork<T>): number {
  const names = new Set<string>()
  for (let i = start; i < items.length; i++) {
    const name = nameOf(items[i]!)
    if (sortOf(items[i]!) !== sortOf(items[start]!) || (name !== undefined && names.has(name))) return i
    if (name !== undefined) names.add(name)
  }
  return items.length
}

interface Together<T> {
  readonly act: BulkWork<T>['act']
  readonly onText: (text: string) => void
  readonly onError: (error: unknown) => void
  readonly onDone: () => void
}

/**
 * Processes items concurrently. Delivers the results in order: each result waits until the results before it have been
 * delivered.
 */
async function runTogether<T>(
  items: readonly T[],
  { start, end }: { start: number; end: number },
  how: Together<T>,
): Promise<void> {
  const results: (() => void)[] = []
  let next = start
  let handed = start
  const worker = async () => {
    while (next < end) {
      const i = next++
      results[i] = await settle(how.act(items[i]!, i), how)
      how.onDone()
      while (results[handed] !== undefined) results[handed++]!()
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, end - start) }, worker))
}

async function settle<T>(work: Promise<string>, { onText, onError }: Together<T>): Promise<() => void> {
  return await work.then(
    (text) => () => onText(text),
    (error: unknown) => () => onError(error),
  )
}

/** Shows progress on a line that updates in place, if the output is a terminal. */
function progressOf({ err, terminal }: Context, total: number, done: string): { step: () => void; clear: () => void } {
  if (!terminal.err || terminal.out || total < longWork) return { step: () => {}, clear: () => {} }
  let count = 0
  return {
    step: () => err(`\r${++count} of ${total} ${done}`),
    clear: () => err('\r\u001b[K'),
  }
}
