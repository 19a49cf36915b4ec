/** Functions for waiting with abort signals and deadlines. They leave no timers or listeners behind. */

/** Waits for `ms` milliseconds. Resolves early if the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
}

/**
 * Runs a function with a signal that aborts when the outer signal aborts, or after `ms` milliseconds with the reason
 * `late()`.
 */
export async function withDeadline<T>(
  { ms, outer, late }: { ms: number; outer: AbortSignal | undefined; late: () => Error },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const inner = new AbortController()
  const follow = () => inner.abort(outer?.reason)
  const timer = setTimeout(() => inner.abort(late()), ms)
  outer?.addEventListener('abort', follow)
  if (outer?.aborted) follow()
  try {
    return await run(inner.signal)
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', follow)
  }
}

/** Returns the result of the promise. Throws the signal's reason if the signal aborts first. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop!: () => void
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
  })
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
