/** Measures the heap of this process after garbage collection. */
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Returns the number of bytes in use, including buffers outside the heap. */
export async function heapInUse(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // Wait for a few event-loop iterations first, because objects referenced by a running callback are freed only after
  // the callback has returned.
  for (let i = 0; i < 4; i++) {
    await setImmediate()
    collect()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
