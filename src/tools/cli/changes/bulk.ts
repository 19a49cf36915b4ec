/**
 * One thing done to many objects. What stands together and is of one type is sent at the same time, some at once; an
 * object of another type waits for all before it, since it may need them (a namespace comes before what is in it), and so
 * does one that was named before: what is said of it last counts.
 * Output keeps the order of the input. One that fails does not hold up the others; all failures are told at the end.
 */
import type { ObjectName } from '../../../client/requests/resource-type.ts'
import type { Context } from '../program/command.ts'
import { SeveralErrors } from '../program/explain-error.ts'

export interface BulkWork<T> {
  /** Items of one sort may be worked on at the same time. */
  readonly sortOf: (item: T) => unknown
  /** What an item is told apart by among those of its sort; left out, or undefined: each is another. */
  readonly nameOf?: (item: T) => string | undefined
  /** Does it; the text is printed. */
  readonly act: (item: T, index: number) => Promise<string>
  /** What is done, for those who wait: `applied`. */
  readonly done: string
}

/** How objects are worked on whose type and name are known. */
export const bySubject = {
  sortOf: ({ type }: { readonly type: unknown }) => type,
  nameOf: ({ name: { namespace = '', name } }: { readonly name: ObjectName }) =>
    name === '' ? undefined : `${namespace}/${name}`,
}

const atOnce = 16
/** Below this nobody needs to be told how far it is. */
const longWork = 20

/** Throws SeveralErrors when any of them failed. */
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

/** Where those end that may be worked on at the same time. */
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

/** Results are handed over in order, each as soon as it and all before it are there. */
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

/** A line that changes in place, for a person who sees nothing else move. */
function progressOf({ err, terminal }: Context, total: number, done: string): { step: () => void; clear: () => void } {
  if (!terminal.err || terminal.out || total < longWork) return { step: () => {}, clear: () => {} }
  let count = 0
  return {
    step: () => err(`\r${++count} of ${total} ${done}`),
    clear: () => err('\r\u001b[K'),
  }
}
