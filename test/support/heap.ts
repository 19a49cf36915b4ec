/** The heap of this process after garbage collection. */
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Returns bytes in use, including buffers outside of the heap. */
export async function heapInUse(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // Waits for another turn first, because objects held by a running callback are free only after it.
  for (let i = 0; i < 4; i++) {
    await setImmediate()
    collect()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
