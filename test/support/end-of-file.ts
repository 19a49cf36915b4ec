/**
 * An owner for resources that all tests in a file share, such as a server. The resources are released after the last
 * test of the file or of the calling suite. A test that starts something only for itself passes its own context (`t`)
 * instead.
 */
import { after } from 'node:test'

/** Owner of resources: the context of a test, or the result of `endOfFile`. */
interface Owner {
  after(run: End): void
}

/** Stops or removes something that a test has started. */
export type End = () => Promise<void> | void

/** Returns an owner whose cleanup functions run after all tests, in reverse order. */
export function endOfFile(): Owner {
  const endings: End[] = []
  after(() => runEndings(endings))
  return { after: (run) => void endings.push(run) }
}

/**
 * Runs the cleanup functions in reverse order. All functions run even if one of them fails. Then throws the first
 * error.
 */
export async function runEndings(endings: readonly End[]): Promise<void> {
  const errors: unknown[] = []
  for (const end of endings.toReversed())
    try {
      await end()
    } catch (error) {
      errors.push(error)
    }
  if (errors.length > 0) throw errors[0]
}
